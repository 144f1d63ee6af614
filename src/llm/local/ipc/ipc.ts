import type { Message } from '../../../protocol/content/messages.ts';
import type { JsonSchema } from '../../../protocol/content/tools.ts';
import type { LLMErrorCode, Reason } from '../../../protocol/text/codes.ts';
import type { LocalizedMessage } from '../../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../../protocol/text/localized.ts';
import type { Segment } from './chatHistory.ts';
import type { ChatWrapperName } from './chatWrappers.ts';
import type { DeviceInfo } from './deviceInfo.ts';
import type { KeepOptions } from './stateCacheOptions.ts';

/**
 * What the client and the model's process say to each other, as plain JSON. The first message is `load`; then any number
 * of `generate`, each answered by events with its `id` and closed by exactly one of `done`, `failed` and `aborted`.
 * A `ping` is answered at once, whatever the engine is doing: its work is not done on the thread that answers. The
 * answer tells whether that work goes on.
 */
export type ToWorker =
  | { type: 'load'; options: LoadOptions }
  | { type: 'generate'; id: number; job: Job }
  | { type: 'abort'; id: number }
  /** What rests is to be kept on disk, as far as each takes no longer than so many milliseconds; answered by `kept`. */
  | { type: 'keep'; ms: number }
  | { type: 'ping' };

export interface LoadOptions {
  modelPath: string;
  /** The `node_modules` that the engine's library is in; where it is found from the process's program, when not given. */
  modules?: string;
  /** Tokens that the context may come to; 0: nobody has said. Less when the model or the memory has less. */
  contextSize: number;
  /** Tokens of the prompt that comes first, roughly: it begins with room for them. */
  first?: number;
  /** Bytes that the context may take beyond the least; by what is free when not given. */
  memory?: number;
  threads: number;
  gpu: 'auto' | false;
  /** How the conversation is written for the model: by the file's own template (`auto`), or one of `chatWrappers.ts`. */
  chatWrapper: ChatWrapperName;
  /** `false`: a model that looks back through a window keeps no more than that, whatever memory there is. */
  fullCache?: false;
  /** `false`: nothing is expected of what stood there before (`lookup.ts`). */
  lookup?: false;
  /** Where what was read is kept on disk; nowhere when not given. */
  keep?: KeepOptions;
  /** No other run will need what this one has read to stay in memory. */
  oneRun?: true;
}

/** One reply to be written. Names are wire names, parameters are in the grammar's subset. */
export interface Job {
  messages: readonly Message[];
  systemPrompt?: string;
  functions: Record<string, { description: string; params?: JsonSchema }>;
  /** The reply begins with a call. */
  mustCall?: boolean;
  /** The reply is JSON of this schema, without thoughts; only when there are no functions. */
  answer?: JsonSchema;
  /** Replies with the same key share evaluated tokens. */
  key?: string;
  maxTokens?: number;
  temperature?: number;
  topP?: number;
  stopSequences?: string[];
  /** Tokens to think with; as many as the model likes when not given. */
  thinkingBudget?: number;
}

export type FromWorker =
  /** Before the model is loaded: what the engine will load it on. */
  | { type: 'engine'; gpu: DeviceInfo['gpu'] }
  | { type: 'loading'; fraction: number }
  /** `contextSize`: tokens that the context may come to, as of `grown`. */
  | { type: 'loaded'; contextSize: number; place: DeviceInfo }
  /** The context is made anew for so many tokens, until `grown`; what was read is on its way through files. */
  | { type: 'growing'; size: number }
  | { type: 'grown'; contextSize: number }
  | { type: 'load-failed'; error: WorkerFailure }
  | { type: 'log'; text: string }
  /** `work`: tokens evaluated so far. */
  | { type: 'pong'; work: number }
  | { type: 'kept' }
  | JobEvent;

export type JobEvent = { id: number } /** It is at work for another one. */ & (
  | { type: 'waiting' }
  | { type: 'reading'; tokens: number; total: number; ms: number }
  /** A file goes into the engine: if the process ends before `restored`, that is what it ended of. */
  | { type: 'restoring'; file: string }
  | { type: 'restored' }
  /** The reply goes on, but not quite as asked: a sentence for the person. */
  | { type: 'warning'; text: LocalizableText }
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string }
  | { type: 'call-text'; index: number; name: string; text: string }
  | { type: 'call'; index: number; name: string; params: unknown; raw: unknown }
  /** A call whose arguments the grammar let through but which are no value of the schema, as text. */
  | { type: 'bad-call'; index: number; name: string; text: string }
  /** `form`: how this model writes calls and thoughts; what is written in another form is no use to it. */
  | {
      type: 'done';
      finish: 'stop' | 'length' | 'tool_calls';
      spoken: (string | Segment)[];
      form: string;
      tokens: TokenCounts;
    }
  | { type: 'failed'; error: WorkerFailure }
  | { type: 'aborted' }
);

type WithoutId<Event> = Event extends unknown ? Omit<Event, 'id'> : never;
/** Tells the client of one reply. */
export type SendToHost = (event: WithoutId<JobEvent>) => void;

interface TokenCounts {
  prompt: number;
  cached: number;
  completion: number;
  thinking: number;
}

export interface WorkerFailure {
  code: LLMErrorCode;
  reason?: Reason;
  message: string;
  said?: LocalizedMessage;
  details?: unknown;
}
