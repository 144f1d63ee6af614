import { createHash } from 'node:crypto';
import type { ChatRequest, ChatStreamChunk } from '../core/client.ts';
import { toWireToolName } from '../core/wireToolNames.ts';

interface DistinctRequest {
  request: ChatRequest;
  ownNames(chunk: ChatStreamChunk): ChatStreamChunk;
}

/**
 * Renames tools whose wire names would collide (`a.b` and `a_b`), including the history; the names are stable for a set of tools. Returns
 * undefined without a collision, the usual case.
 */
export function withUniqueToolNames(request: ChatRequest): DistinctRequest | undefined {
  const holders = new Map<string, string>();
  const given = new Map<string, string>();
  for (const { name } of request.tools ?? []) {
    const holder = holders.get(toWireToolName(name));
    if (holder === undefined) holders.set(toWireToolName(name), name);
    else if (holder !== name) given.set(name, distinct(name));
  }
  if (given.size === 0) return undefined;
  const own = new Map([...given].map(([name, other]) => [other, name]));
  const rename = <Named extends { name: string }>(one: Named): Named => ({
    ...one,
    name: given.get(one.name) ?? one.name,
  });
  return {
    request: {
      ...request,
      tools: request.tools?.map(rename),
      messages: request.messages.map((message) =>
        message.role === 'assistant' && message.toolCalls
          ? { ...message, toolCalls: message.toolCalls.map(rename) }
          : message,
      ),
    },
    ownNames(chunk) {
      const { toolCall, toolCallDelta } = chunk;
      if (!toolCall && !toolCallDelta?.name) return chunk;
      const nameOf = (name: string) => own.get(name) ?? name;
      return {
        ...chunk,
        ...(toolCall && { toolCall: { ...toolCall, name: nameOf(toolCall.name) } }),
        ...(toolCallDelta?.name && { toolCallDelta: { ...toolCallDelta, name: nameOf(toolCallDelta.name) } }),
      };
    },
  };
}

function distinct(name: string): string {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${toWireToolName(name).slice(0, 55)}_${hash}`;
}
