import type { SendToHost } from '../ipc/ipc.ts';

/** A piece of a call's arguments as the engine tells it. */
interface ParamsChunk {
  callIndex: number;
  functionName: string;
  paramsChunk: string;
  done: boolean;
}

/** Tells of calls as they are written and when they are complete. */
export function writtenCalls(tell: SendToHost) {
  let completed = 0;
  let open: { index: number; name: string; text: string } | undefined;
  return {
    chunk: ({ callIndex, functionName, paramsChunk }: ParamsChunk): void => {
      if (open?.index !== callIndex) open = { index: callIndex, name: functionName, text: '' };
      open.text += paramsChunk;
      const blank = paramsChunk.trim() === '' && open.text.trimEnd().endsWith('}'); // the grammar pads with line ends
      if (!blank && paramsChunk) tell({ type: 'call-text', index: callIndex, name: functionName, text: paramsChunk });
    },
    complete: (name: string, params: unknown, raw: unknown): void => {
      const index = completed++;
      const text = open?.text.trim() ?? '';
      open = undefined;
      // The engine's number may be 1e999: no JSON, on the way to the client it would become a null, "left out".
      if (isJson(params)) tell({ type: 'call', index, name, params: params ?? {}, raw });
      else tell({ type: 'bad-call', index, name, text });
    },
    /** Tells the call that is open as a bad one; false when none is. */
    giveUp: (): boolean => {
      if (!open) return false;
      tell({ type: 'bad-call', index: completed, name: open.name, text: open.text.trim() });
      return true;
    },
  };
}

function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isJson);
}
