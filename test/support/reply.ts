import { gzipSync } from 'node:zlib';
import { slices } from './slices.ts';

/** What a scripted provider does, step by step, after it has been asked. */
export type Step =
  | { send: string | Buffer }
  | { wait: number }
  /** Goes on once the test lets it. */
  | { after: Promise<unknown> }
  /** Sends until the other side leaves; `everyMs` 0: as fast as it is read. */
  | { endless(nth: number): string; everyMs: number }
  /** Says nothing more and stays. */
  | { hang: true }
  /** `close`: FIN in the middle of the body; `reset`: RST. */
  | { cut: 'close' | 'reset' };

export interface Headers {
  [name: string]: string;
}

/**
 * One answer of the loopback provider, written as it is told: `reply.text('Hello').call('fs_read', { path: 'a' })`.
 * Each method gives a new reply; finish reason, usage and `[DONE]` come by themselves at the end unless something said
 * otherwise (`finish`, `hang`, `cut`, `endless`, `raw`, `status`).
 */
export class ProviderReply {
  readonly statusCode: number = 200;
  readonly headers: Headers = { 'content-type': 'text/event-stream' };
  readonly steps: readonly Step[] = [];
  /** Before the headers. */
  readonly delayMs: number = 0;
  readonly ends: boolean = true;
  readonly usageSent: object | null = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };
  readonly finishReason: string | null | undefined = undefined;
  readonly callCount: number = 0;
  readonly begun: boolean = false;

  /** Text in slices of `size` characters. */
  text(text: string, size = 4): ProviderReply {
    return this.deltas(slices(text, size).map((content) => ({ content })));
  }

  /** Thinking, in the field that most providers use. */
  thinking(text: string, field: 'reasoning_content' | 'reasoning' = 'reasoning_content', size = 8): ProviderReply {
    return this.deltas(slices(text, size).map((slice) => ({ [field]: slice })));
  }

  /** A tool call in fragments. A string is sent as it is, malformed or not. Names as on the wire: `fs_read`. */
  call(name: string, args: object | string, { id, size = 12 }: { id?: string; size?: number } = {}): ProviderReply {
    const index = this.callCount;
    const begin = { index, id: id ?? `call_${index}_${name}`, type: 'function', function: { name, arguments: '' } };
    const argumentsText = typeof args === 'string' ? args : JSON.stringify(args);
    const rest = slices(argumentsText, size).map((slice) => ({ index, function: { arguments: slice } }));
    const fragments = [begin, ...rest].map((call) => ({ tool_calls: [call] }));
    return this.deltas(fragments).with({ callCount: index + 1 });
  }

  /** The `finish_reason`; null: the stream ends without one and without `[DONE]`. */
  finish(reason: string | null): ProviderReply {
    return this.with({ finishReason: reason });
  }

  /** The usage chunk; null: none. */
  usage(usage: object | null): ProviderReply {
    return this.with({ usageSent: usage });
  }

  wait(ms: number): ProviderReply {
    return this.add({ wait: ms });
  }

  /** What comes next is sent once this has resolved. */
  after(event: Promise<unknown>): ProviderReply {
    return this.add({ after: event });
  }

  /** Time before the headers are sent; `Infinity`: they never are. */
  late(ms: number): ProviderReply {
    return this.with({ delayMs: ms });
  }

  hang(): ProviderReply {
    return this.add({ hang: true }).with({ ends: false });
  }

  /** Text that never ends, and counts: nobody takes it for a model that repeats itself. */
  endless(text = 'and on ', everyMs = 5): ProviderReply {
    const endless = (nth: number) => event(delta({ content: `${text}${nth} ` }));
    return this.add({ endless, everyMs }).with({ ends: false });
  }

  /** Comments that never end: the server is alive, and the model says nothing. */
  keepAlive(everyMs = 5): ProviderReply {
    return this.add({ endless: () => ': keep-alive\n\n', everyMs }).with({ ends: false });
  }

  cut(how: 'close' | 'reset' = 'close'): ProviderReply {
    return this.add({ cut: how }).with({ ends: false });
  }

  /** One event with this object. */
  event(data: unknown): ProviderReply {
    return this.add({ send: event(data) });
  }

  /** Bytes as they are; nothing is added at the end. */
  raw(bytes: string | Buffer): ProviderReply {
    return this.add({ send: bytes }).with({ ends: false });
  }

  /** The answer so far a byte (or `size` bytes) at a time. */
  trickle(everyMs: number, size = 1): ProviderReply {
    const bytes = this.bytes();
    const pieces: Step[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      pieces.push({ send: bytes.subarray(at, at + size) }, { wait: everyMs });
    }
    return this.with({ steps: pieces, ends: false });
  }

  /** The answer so far compressed, and of that the first `keep` part (1: all). */
  gzip(keep = 1): ProviderReply {
    const packed = gzipSync(this.bytes());
    const steps = [{ send: packed.subarray(0, Math.floor(packed.length * keep)) }];
    return this.header('content-encoding', 'gzip').with({ steps, ends: false });
  }

  header(name: string, value: string): ProviderReply {
    return this.with({ headers: { ...this.headers, [name]: value } });
  }

  /** An answer without a stream: an error page, JSON, nothing. */
  status(statusCode: number, body: string | object = '', headers: Headers = {}): ProviderReply {
    const type = typeof body === 'string' ? 'text/plain' : 'application/json';
    const send = typeof body === 'string' ? body : JSON.stringify(body);
    return this.with({ statusCode, headers: { 'content-type': type, ...headers }, steps: [{ send }], ends: false });
  }

  /** All that is sent, end included; for replies that do end. */
  bytes(): Buffer {
    const steps = this.allSteps();
    return Buffer.concat(steps.map((step) => ('send' in step ? Buffer.from(step.send) : Buffer.alloc(0))));
  }

  allSteps(): Step[] {
    if (!this.ends) return [...this.steps];
    const finish = this.finishReason === undefined ? (this.callCount > 0 ? 'tool_calls' : 'stop') : this.finishReason;
    if (finish === null) return [...this.steps];
    const usage = this.usageSent && { ...chunk, choices: [], usage: this.usageSent };
    const end = event({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: finish }] });
    return [...this.steps, { send: `${end}${usage ? event(usage) : ''}data: [DONE]\n\n` }];
  }

  /** The first one of a reply says whose it is. */
  private deltas(deltas: object[]): ProviderReply {
    const steps = deltas.map((one, at) => {
      return { send: event(delta(this.begun || at > 0 ? one : { role: 'assistant', ...one })) };
    });
    return this.with({ steps: [...this.steps, ...steps], begun: this.begun || steps.length > 0 });
  }

  private add(step: Step): ProviderReply {
    return this.with({ steps: [...this.steps, step] });
  }

  private with(change: Partial<ProviderReply>): ProviderReply {
    return Object.assign(new ProviderReply(), this, change);
  }
}

/** An empty reply to begin with. */
export const reply = new ProviderReply();

const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'scripted' };
const delta = (content: object) => ({ ...chunk, choices: [{ index: 0, delta: content, finish_reason: null }] });
const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
