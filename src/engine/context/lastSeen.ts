import type { Message } from '../../protocol/content/messages.ts';
import type { TextSeenByModel } from '../../tools/core/tool.ts';

/**
 * Returns the lines of a file last shown in the conversation: by the newest `fs.read`, or the whole text after the newest edit. Derived
 * from the messages, so that a reload gives the same result. Undefined: not shown, or no longer stored.
 *
 * @param read returns a stored text by its id (SHA-256)
 */
export async function lastSeenFileLines(
  messages: readonly Message[],
  path: string,
  read: (id: string) => Promise<string>,
): Promise<TextSeenByModel | undefined> {
  const quoted = JSON.stringify(path);
  for (let index = messages.length - 1; index > 0; index--) {
    const message = messages[index]!;
    if (message.role !== 'tool') continue;
    const calls = callsBefore(messages, index);
    for (const { toolCallId, content } of message.toolResults.toReversed()) {
      const name = calls.get(toolCallId);
      if (!name?.startsWith('fs.') || !content.includes(quoted)) continue;
      const data = dataOf(content);
      if (data.path !== path || typeof data.sha256 !== 'string') continue;
      if (name === 'fs.read') return windowOf(data);
      const text = await read(data.sha256).catch(() => undefined);
      return text === undefined ? undefined : { sha256: data.sha256, text, startLine: 1, isWhole: true };
    }
  }
  return undefined;
}

function callsBefore(messages: readonly Message[], index: number): ReadonlyMap<string, string> {
  const asked = messages.slice(0, index).findLast((message) => message.role === 'assistant');
  return new Map((asked?.toolCalls ?? []).map(({ id, name }) => [id, name]));
}

function dataOf(content: string): Record<string, unknown> {
  try {
    return Object(Object(JSON.parse(content)).data);
  } catch {
    return {}; // result truncated by a compaction
  }
}

function windowOf({
  sha256,
  text,
  startLine,
  endLine,
  totalLines,
}: Record<string, unknown>): TextSeenByModel | undefined {
  if (typeof text !== 'string' || typeof startLine !== 'number') return undefined;
  return { sha256: String(sha256), text, startLine, isWhole: startLine === 1 && endLine === totalLines };
}
