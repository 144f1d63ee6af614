import type { Tell } from './ipc.ts';

/** A piece of a call's arguments as the engine tells it. */
interface ParamsChunk {
  callIndex: number;
  functionName: string;
  paramsChunk: string;
  done: boolean;
}

/** Tells of calls as they are written and when they are complete. */
export function writtenCalls(tell: Tell) {
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
      tell({ type: 'call', index: completed++, name, params: params ?? {}, raw });
      open = undefined;
    },
    /** Tells the call that is open as a bad one; false when none is. */
    giveUp: (): boolean => {
      if (!open) return false;
      tell({ type: 'bad-call', index: completed, name: open.name, text: open.text.trim() });
      return true;
    },
  };
}
