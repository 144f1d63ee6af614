import type { Message } from '../content/messages.ts';
import type { CallState, Run } from '../run/run.ts';
import { createDictionary, type Dictionary, toDictionary } from '../values/dictionary.ts';

const partSize = 250;

export interface RunSnapshotPart {
  runId: string;
  from: number;
  messages: Message[];
  calls: Dictionary<CallState>;
}

export function splitRunSnapshot(run: Run): { parts: RunSnapshotPart[]; rest: Run } {
  if (run.messages.length <= partSize) return { parts: [], rest: run };
  const rest = { ...run, messages: [] as Message[], calls: toDictionary({ ...run.calls }) };
  const parts: RunSnapshotPart[] = [];
  for (let from = 0; from < run.messages.length; from += partSize) {
    const messages = run.messages.slice(from, from + partSize);
    const calls = createDictionary<CallState>();
    for (const { id } of messages.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []) : [],
    )) {
      const state = rest.calls[id];
      if (state) calls[id] = state;
      delete rest.calls[id];
    }
    parts.push({ runId: run.id, from, messages, calls });
  }
  return { parts, rest };
}

/** Joins the parts into `rest`, which is changed. Returns undefined if a part is missing. */
export function joinRunSnapshotParts(parts: readonly RunSnapshotPart[], rest: Run, before: number): Run | undefined {
  let at = 0;
  for (const { runId, from, messages } of parts) {
    if (runId !== rest.id || from !== at) return undefined;
    at += messages.length;
  }
  if (at !== before) return undefined;
  rest.messages = [...parts.flatMap(({ messages }) => messages), ...rest.messages];
  rest.calls = toDictionary(Object.assign({}, ...parts.map(({ calls }) => calls), rest.calls));
  return rest;
}
