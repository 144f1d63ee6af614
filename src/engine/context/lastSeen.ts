import type { Message } from '../../protocol/content/messages.ts';
import type { SeenText } from '../../tools/core/tool.ts';

/**
 * Returns what the conversation last showed of a file: the lines of the newest `fs.read`, or the whole text that the newest edit left.
 * It is read from the messages, so that it is the same after a reload. Undefined: nothing was shown, or it is no longer stored.
 * @param read gives a stored text by its id (sha256)
 */
export async function lastSeen(
  messages: readonly Message[],
  path: string,
  read: (id: string) => Promise<string>,
): Promise<SeenText | undefined> {
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

/** Names of the calls that the results at `index` answer, by id. */
function callsBefore(messages: readonly Message[], index: number): ReadonlyMap<string, string> {
  const asked = messages.slice(0, index).findLast((message) => message.role === 'assistant');
  return new Map((asked?.toolCalls ?? []).map(({ id, name }) => [id, name]));
}

function dataOf(content: string): Record<string, unknown> {
  try {
    return Object(Object(JSON.parse(content)).data);
  } catch {
    return {}; // a result that a compaction shortened
  }
}

function windowOf({ sha256, text, startLine, endLine, totalLines }: Record<string, unknown>): SeenText | undefined {
  if (typeof text !== 'string' || typeof startLine !== 'number') return undefined;
  return { sha256: String(sha256), text, startLine, isWhole: startLine === 1 && endLine === totalLines };
}
