import type { ToolCall } from '../../protocol/content/messages.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { endOfJsonString } from '../../protocol/values/jsonText.ts';
import { createToolCallIdAllocator, maxToolCallsPerReply } from '../core/callIds.ts';
import { LLMError } from '../core/errors.ts';
import { parseToolArguments } from '../messages/parseArguments.ts';
import { type Endpoint, endpointName } from '../transport/providerErrors.ts';

export interface CallFragment {
  index?: number;
  id?: string;
  name?: string;
  argumentsText: string;
  begins?: boolean;
}

interface CallCollector {
  add(fragment: CallFragment): number;
  takeComplete(atEnd: boolean): ToolCall[];
}

interface Draft {
  index: number;
  id: string | undefined;
  name: string;
  pieces: string[];
  given: boolean;
}

/**
 * Creates a collector of call fragments. Before the end, a call is complete if the next call has begun and the text is a non-empty JSON
 * object: servers that announce all calls first send `""` or `{}` for each. Throws `LLMError` for fragments without a consistent order.
 */
export function createCallCollector(
  endpoint: Endpoint,
  toToolName: (wireName: string) => string,
  takenIds: ReadonlySet<string>,
): CallCollector {
  const drafts: Draft[] = [];
  const open = new Map<number, Draft>(); // by wire index; a Map tolerates the index 4,000,000,000
  const idFor = createToolCallIdAllocator(takenIds);

  return {
    add({ index, id, name, argumentsText, begins }) {
      if (index !== undefined && !(Number.isInteger(index) && index >= 0 && index < maxToolCallsPerReply)) {
        throw disorder(message('{0} sent a tool call numbered {1}.', endpointName(endpoint), index));
      }
      let draft =
        index !== undefined ? open.get(index) : (drafts.findLast((one) => id && one.id === id) ?? drafts.at(-1));
      if (!draft || begins || beginsAnother(draft, id, name)) {
        draft = { index: drafts.length, id, name: name ?? '', pieces: [], given: false };
        drafts.push(draft);
      }
      draft.id ??= id;
      draft.name ||= name ?? '';
      if (draft.given && argumentsText.trim() !== '')
        throw disorder(message('{0} sent more of a tool call that was complete.', endpointName(endpoint)));
      if (argumentsText !== '') draft.pieces.push(argumentsText);
      if (index !== undefined) open.set(index, draft);
      return draft.index;
    },
    takeComplete(atEnd) {
      const complete: ToolCall[] = [];
      for (const draft of atEnd ? drafts : drafts.slice(0, -1)) {
        if (draft.given) continue;
        const text = draft.pieces.join('');
        if (!atEnd && /^\s*(\{\s*\})?\s*$/.test(text)) break;
        const parsed = separate(text).map(parseToolArguments);
        if (!atEnd && parsed.some(({ malformed }) => malformed !== undefined)) break;
        draft.given = true;
        if (draft.name === '' && text.trim() === '') continue; // Snowflake adds empty calls
        for (const [at, one] of parsed.entries()) {
          complete.push({
            id: idFor(at === 0 ? draft.id : undefined),
            name: toToolName(draft.name || 'unknown'),
            ...one,
          });
        }
      }
      return complete;
    },
  };
}

const disorder = (message: LocalizedMessage) => new LLMError('LLM_BAD_RESPONSE', message);

/**
 * Returns true if a fragment starts another call. Parallel calls of Gemini and some gateways all have index 0: a new name, or a new id with
 * a name, is another call. An id or name alone may repeat in every fragment.
 */
function beginsAnother(draft: Draft, id: string | undefined, name: string | undefined): boolean {
  if (name === undefined || draft.name === '') return false;
  return name !== draft.name || (id !== undefined && draft.id !== undefined && id !== draft.id);
}

/**
 * Splits concatenated arguments `{…}{…}` (SGLang and gateways, parallel calls without ids). LiteLLM's `{}{…}` is one call, and the empty
 * object is ignored. The same object twice is a repeated chunk and stays malformed.
 */
function separate(text: string): string[] {
  if (parseToolArguments(text).malformed === undefined) return [text];
  const objects = topLevelObjects(text);
  if (objects.length < 2) return [text];
  const filled = objects.filter((object) => !/^\{\s*\}$/.test(object));
  return filled.length > 0 && new Set(filled).size === filled.length ? filled : [text];
}

function topLevelObjects(text: string): string[] {
  const objects: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') at = endOfJsonString(text, at);
    else if (character === '{' && depth++ === 0) {
      if (text.slice(start, at).trim() !== '') return [];
      start = at;
    } else if (character === '}' && --depth === 0) {
      objects.push(text.slice(start, at + 1));
      start = at + 1;
    }
    if (depth < 0) return [];
  }
  return depth === 0 && text.slice(start).trim() === '' ? objects : [];
}
