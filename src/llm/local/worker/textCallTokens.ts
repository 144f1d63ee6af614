import type { SendInferenceEvent } from '../ipc/ipc.ts';

interface ParamsChunk {
  callIndex: number;
  functionName: string;
  paramsChunk: string;
  done: boolean;
}

export function createToolCallTextReporter(send: SendInferenceEvent) {
  let completed = 0;
  let open: { index: number; name: string; text: string } | undefined;
  return {
    chunk: ({ callIndex, functionName, paramsChunk }: ParamsChunk): void => {
      if (open?.index !== callIndex) open = { index: callIndex, name: functionName, text: '' };
      open.text += paramsChunk;
      const blank = paramsChunk.trim() === '' && open.text.trimEnd().endsWith('}'); // the grammar pads with line ends
      if (!blank && paramsChunk) send({ type: 'call-text', index: callIndex, name: functionName, text: paramsChunk });
    },
    complete: (name: string, params: unknown, raw: unknown): void => {
      const index = completed++;
      const text = open?.text.trim() ?? '';
      open = undefined;
      // A number such as 1e999 is no JSON: on the way to the client it would become null, "omitted".
      if (isJson(params)) send({ type: 'call', index, name, params: params ?? {}, raw });
      else send({ type: 'bad-call', index, name, text });
    },
    giveUp: (): boolean => {
      if (!open) return false;
      send({ type: 'bad-call', index: completed, name: open.name, text: open.text.trim() });
      return true;
    },
  };
}

function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isJson);
}
