import type { Message } from '../../../protocol/content/messages.ts';
import type { JsonSchema } from '../../../protocol/content/tools.ts';
import type { ErrorReason, LLMErrorCode } from '../../../protocol/text/codes.ts';
import type { LocalizedMessage } from '../../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../../protocol/text/localized.ts';
import type { LlamaTextSegment } from './chatHistory.ts';
import type { ChatWrapperName } from './chatWrappers.ts';
import type { DeviceInfo } from './deviceInfo.ts';
import type { SequenceStateCacheOptions } from './stateCacheOptions.ts';

/**
 * Protocol between client and model process, as plain JSON. The first message is `load`. Each later `generate` is answered by events with
 * its `id` and closed by exactly one `done`, `failed` or `aborted`. A `ping` is answered at once, because the engine works on another
 * thread; the answer reports the progress of that work.
 */
export type ModelWorkerRequest =
  | { type: 'load'; options: ModelLoadOptions }
  | { type: 'generate'; id: number; job: InferenceJob }
  | { type: 'abort'; id: number }
  | { type: 'keep'; ms: number }
  /** Answered by `counted`, also during a job; only after `loaded`. */
  | { type: 'count'; id: number; text: string }
  | { type: 'ping' };

export interface ModelLoadOptions {
  modelPath: string;
  modules?: string;
  contextSize: number;
  first?: number;
  memory?: number;
  threads: number;
  gpu: 'auto' | false;
  chatWrapper: ChatWrapperName;
  /** Folder with the formats of templates that were found before. */
  chatFormats?: string;
  fullCache?: false;
  lookup?: false;
  keep?: SequenceStateCacheOptions;
  oneRun?: true;
}

/** A reply to generate. Names are wire names; parameters use the grammar's subset. */
export interface InferenceJob {
  messages: readonly Message[];
  systemPrompt?: string;
  functions: Record<string, { description: string; params?: JsonSchema }>;
  mustCall?: boolean;
  answer?: JsonSchema;
  /** Replies with the same key share evaluated tokens. */
  key?: string;
  maxTokens?: number;
  temperature?: number;
  topP?: number;
  stopSequences?: string[];
  thinkingBudget?: number;
}

export type ModelWorkerEvent =
  | { type: 'engine'; gpu: DeviceInfo['gpu'] }
  | { type: 'loading'; fraction: number }
  | { type: 'loaded'; contextSize: number; device: DeviceInfo }
  /** The context is being recreated with `size` tokens until `grown`; the states move through files. */
  | { type: 'growing'; size: number }
  | { type: 'grown'; contextSize: number }
  | { type: 'load-failed'; error: WorkerFailure }
  | { type: 'log'; text: string }
  | { type: 'pong'; work: number }
  | { type: 'kept' }
  | { type: 'counted'; id: number; tokens: number }
  | InferenceJobEvent;

export type InferenceJobEvent = { id: number } & (
  | { type: 'waiting' }
  | { type: 'reading'; tokens: number; total: number; ms: number }
  | { type: 'restoring'; file: string }
  | { type: 'restored' }
  | { type: 'warning'; text: LocalizableText }
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string }
  | { type: 'call-text'; index: number; name: string; text: string }
  | { type: 'call'; index: number; name: string; params: unknown; raw: unknown }
  | { type: 'bad-call'; index: number; name: string; text: string }
  /** `form`: the model's format of calls and thinking; text in another format is not reused. */
  | {
      type: 'done';
      finish: 'stop' | 'length' | 'tool_calls';
      spoken: (string | LlamaTextSegment)[];
      form: string;
      tokens: TokenCounts;
    }
  | { type: 'failed'; error: WorkerFailure }
  | { type: 'aborted' }
);

type WithoutId<Event> = Event extends unknown ? Omit<Event, 'id'> : never;
export type SendInferenceEvent = (event: WithoutId<InferenceJobEvent>) => void;

interface TokenCounts {
  prompt: number;
  cached: number;
  completion: number;
  thinking: number;
}

export interface WorkerFailure {
  code: LLMErrorCode;
  reason?: ErrorReason;
  message: string;
  said?: LocalizedMessage;
  details?: unknown;
}
