import { normalizeJsonRpcMessage } from '../forms/messageForms.ts';

/**
 * Returns a transform of a server's body to normalized JSON-RPC messages: a single JSON text, or a message in each event of a stream.
 * Invalid JSON stays unchanged.
 */
export function createJsonRpcNormalizer(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let pending = '';
  let event: string[] = [];
  const takeLines = (): string => {
    let out = '';
    // A line end of two characters may be split between chunks.
    for (let end = endOfLine(pending); end; end = endOfLine(pending)) {
      const line = pending.slice(0, end.at);
      pending = pending.slice(end.next);
      if (line !== '') event.push(line);
      else {
        out += `${plainEvent(event).join('\n')}\n\n`;
        event = [];
      }
    }
    return out;
  };
  return new TransformStream({
    transform(chunk, controller) {
      const text = decoder.decode(chunk, { stream: true });
      const hasEnd = /[\r\n]/.test(text) || pending.endsWith('\r');
      pending += text;
      const out = isStream && hasEnd ? takeLines() : '';
      if (out !== '') controller.enqueue(encoder.encode(out));
    },
    flush(controller) {
      pending += decoder.decode();
      const rest = isStream ? [...event, pending].join('\n') : plainJson(pending);
      if (rest !== '') controller.enqueue(encoder.encode(rest));
    },
  });
}

function endOfLine(text: string): { at: number; next: number } | undefined {
  const at = text.search(/[\r\n]/);
  if (at < 0 || (text[at] === '\r' && at === text.length - 1)) return undefined;
  return { at, next: text[at] === '\r' && text[at + 1] === '\n' ? at + 2 : at + 1 };
}

function plainEvent(lines: readonly string[]): string[] {
  const isData = (line: string) => /^data(:|$)/.test(line);
  const data = lines.filter(isData).map((line) => line.replace(/^data:? ?/, ''));
  const others = lines.filter((line) => !isData(line));
  return data.length === 0
    ? others
    : [
        ...others,
        ...plainJson(data.join('\n'))
          .split('\n')
          .map((line) => `data: ${line}`),
      ];
}

function plainJson(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(Array.isArray(value) ? value.map(normalizeJsonRpcMessage) : normalizeJsonRpcMessage(value));
  } catch {
    return text;
  }
}
