import { availableParallelism, loadavg } from 'node:os';
import path from 'node:path';
import type { JsonSchema } from '../../../protocol/content/tools.ts';
import { message, toEnglishText } from '../../../protocol/text/l10n.ts';
import { type LocalizableText, toStoredText } from '../../../protocol/text/localized.ts';
import { raceWithAbort } from '../../../protocol/values/abort.ts';
import { type ChatRequest, type ChatStreamChunk, collectChatStream, type LLMClient } from '../../core/client.ts';
import { LLMError } from '../../core/errors.ts';
import { toWireToolName } from '../../core/wireToolNames.ts';
import { toTextOnlyMessages } from '../../messages/attachments.ts';
import { responseFormatInstructions } from '../../messages/formatInstructions.ts';
import { createRunWarningFilter, omittedAttachmentWarnings } from '../../messages/warnings.ts';
import type { ChatWrapperName } from '../ipc/chatWrappers.ts';
import type { DeviceInfo } from '../ipc/deviceInfo.ts';
import { toGrammarSchema, toGrammarSubset } from '../ipc/grammarSchema.ts';
import type { InferenceJob } from '../ipc/ipc.ts';
import type { SequenceStateCacheOptions } from '../ipc/stateCacheOptions.ts';
import { checkModelFile } from '../modelFile/checkModelFile.ts';
import { createInferenceEventConverter } from './chunks.ts';
import { createLoadedModelScheduler, type LoadedModelScheduler } from './modelMemory.ts';
import { type InferenceProcessEvent, ModelProcess } from './modelProcess.ts';
import { inferenceThreadCount } from './threadCount.ts';

export interface LocalModelClientOptions {
  /** Path of the built `worker.ts`; `node-llama-cpp` must be resolvable from this path. */
  workerPath: string;
  modelPath: string;
  /** Returns the `node_modules` of the engine at process start; absent: resolved from `workerPath`. */
  modules?: () => string;
  label?: LocalizableText;
  /**
   * Maximum tokens of the context; 32,768 if absent or 0. Bounded by the trained context and by a third of the free memory. The context
   * starts with 8,192 tokens, or as many as the first prompt needs, and grows.
   */
  contextSize?: number;
  memory?: number;
  threads?: number;
  gpu?: 'auto' | false;
  chatWrapper?: ChatWrapperName;
  /** Folder in which the formats of templates are remembered; absent: a start finds out again. */
  chatFormats?: string;
  modelMemory?: LoadedModelScheduler;
  /** Returns the idle milliseconds before the model is unloaded, read at the end of each job; 0: never. */
  idleUnloadMs?: () => number;
  /** Milliseconds between two pings, 1000 if absent; 30 may remain unanswered. */
  beatMs?: number;
  /** Pongs without progress before the process is ended; 300 if absent. */
  stuckAfter?: number;
  /** `false`: a sliding-window model stores only its window, even with enough memory. */
  fullCache?: false;
  lookup?: false;
  /** Returns the options of the state cache on disk at process start; undefined: no cache. */
  keep?: () => SequenceStateCacheOptions | undefined;
  /** Only one run at a time uses the model, and earlier runs are not continued. */
  oneRun?: true;
  onLog?: (line: string) => void;
}

export interface LocalModelClient extends LLMClient {
  /** Ends the process until the next request. Returns false, without effect, while a job runs. */
  unload(): Promise<boolean>;
  dispose(): Promise<void>;
  pid(): number | undefined;
  device(): DeviceInfo | undefined;
  /** Returns the tokens of a text by the model's vocabulary; undefined if the model is not loaded. */
  countTokens(text: string): Promise<number | undefined>;
}

/**
 * Creates a client of a model file in a child process. The first request starts the process, also after an exit. Calls are only proposed;
 * complete calls are emitted before the end of the reply.
 */
export function createLocalModelClient(options: LocalModelClientOptions): LocalModelClient {
  const label = options.label ?? path.basename(options.modelPath, '.gguf');
  const modelMemory = options.modelMemory ?? createLoadedModelScheduler();
  const tenant = {
    unload: async () => {
      await current?.keep(keepMs.awaited);
      await current?.close();
    },
  };
  const news = createRunWarningFilter();
  let current: ModelProcess | undefined;
  let contextWindow: number | undefined;
  let avoided: string | undefined;
  let memory = options.memory;
  let jobs = 0;
  let asked = 0;
  let idle: NodeJS.Timeout | undefined;
  let disposed = false;

  const running = async (job: InferenceJob, signal: AbortSignal | undefined): Promise<ModelProcess> => {
    if (current?.deaf) void current.close();
    if (current && !current.ended) return current;
    await checkModelFile(options.modelPath);
    signal?.throwIfAborted();
    if (current && !current.ended) return current; // another request was faster
    current = new ModelProcess({
      workerPath: options.workerPath,
      load: {
        modelPath: options.modelPath,
        ...(options.modules && { modules: options.modules() }),
        contextSize: options.contextSize ?? 0,
        first: roughTokens(job),
        ...(memory !== undefined && { memory }),
        threads: options.threads || inferenceThreadCount(availableParallelism(), loadavg()[0]!),
        gpu: avoided === undefined ? (options.gpu ?? 'auto') : false,
        chatWrapper: options.chatWrapper ?? 'auto',
        ...(options.chatFormats !== undefined && { chatFormats: options.chatFormats }),
        keep: options.keep?.(),
        ...(options.oneRun && { oneRun: true }),
        ...(options.fullCache === false && { fullCache: false }),
        ...(options.lookup === false && { lookup: false }),
      },
      log: options.onLog ?? (() => {}),
      beatMs: options.beatMs,
      stuckAfter: options.stuckAfter,
    });
    return current;
  };

  const rest = () => {
    const ms = options.idleUnloadMs?.() ?? 0;
    if (jobs > 0 || ms === 0) return;
    idle = setTimeout(() => void leave(keepMs.idle), ms);
    idle.unref();
  };

  const leave = async (ms: number): Promise<boolean> => {
    const before = asked;
    await current?.keep(ms);
    if (jobs > 0 || asked > before) return false;
    await current?.close();
    return true;
  };

  /** Yields the progress of a job. If loading on the GPU fails, the model is loaded on the CPU with a warning. */
  async function* progressOf(
    job: InferenceJob,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<InferenceProcessEvent, void, void> {
    let failed: string | undefined;
    for (let grown = 0; ; ) {
      if (grown === 2) memory = 0; // for this process only
      const model = await raceWithAbort(running(job, signal), signal).finally(() => {
        memory = options.memory;
      });
      try {
        for await (const event of model.run(job, signal)) {
          if (failed !== undefined && event.type !== 'loading') {
            yield { type: 'warning', id: event.id, text: onCpu(failed) };
            failed = undefined;
          }
          yield event;
        }
        return;
      } catch (error) {
        if (model.endedRestoring && !disposed && !signal?.aborted) {
          await model.endedRestoring;
          options.onLog?.(`it ended of what it had kept on disk, which was removed: ${messageOf(error)}`);
          continue; // nothing was emitted yet
        }
        if (model.endedGrowing && grown < 2 && !disposed && !signal?.aborted) {
          grown++;
          options.onLog?.(`it ended while its context was made larger: ${messageOf(error)}`);
          continue;
        }
        if (failed !== undefined) avoided = undefined; // the GPU was not the cause
        if (failed !== undefined || model.failedOn === undefined || disposed || signal?.aborted) throw error;
        failed = avoided = model.failedOn;
        options.onLog?.(`${failed}: ${messageOf(error)}`);
      }
    }
  }

  async function* chatStream(
    request: ChatRequest,
    signal?: AbortSignal,
  ): AsyncGenerator<ChatStreamChunk, void, unknown> {
    signal?.throwIfAborted();
    if (disposed)
      throw new LLMError('UNKNOWN', message('The local model {0} has been closed. Pick a model again.', label));
    jobs++;
    asked++;
    clearTimeout(idle);
    let leave = () => {};
    try {
      if (!modelMemory.isFree(tenant)) yield { progress: toStoredText(waiting(modelMemory.asker())), done: false };
      leave = await modelMemory.enter(tenant, signal, request.asker);
      const { job, warnings } = toInferenceJob(request);
      for (const warning of news(request.cacheKey, warnings)) yield { warning, done: false };
      const toChunk = createInferenceEventConverter(request, label);
      for await (const event of progressOf(job, signal)) {
        const chunk = toChunk(event);
        if (chunk) yield chunk;
      }
    } finally {
      leave();
      jobs--;
      rest();
    }
  }

  return {
    chatStream,
    chat: (request, signal) => collectChatStream(chatStream(request, signal), request.model),
    listModels: async () => {
      contextWindow = current?.contextSize ?? contextWindow;
      return [{ id: toEnglishText(label), ...(contextWindow !== undefined && { contextWindow }) }];
    },
    unload: async () => jobs === 0 && (await leave(keepMs.idle)),
    dispose: async () => {
      disposed = true;
      clearTimeout(idle);
      await current?.keep(keepMs.awaited);
      await current?.close();
    },
    pid: () => (current && !current.ended ? current.pid : undefined),
    device: () => (current && !current.ended ? current.device : undefined),
    countTokens: async (text) => current?.countTokens(text),
  };
}

const waiting = (asker: string | undefined) =>
  asker === undefined
    ? message('Waiting for the other local model to finish its answer')
    : message('Waiting for the other local model to finish its answer to {0}', asker);

const keepMs = { idle: 30_000, awaited: 1000 };

const roughTokens = ({ messages, systemPrompt = '', functions }: InferenceJob): number =>
  Math.ceil((JSON.stringify(messages).length + systemPrompt.length + JSON.stringify(functions).length) / 4);

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

export function toInferenceJob(request: ChatRequest): { job: InferenceJob; warnings: LocalizableText[] } {
  const tools = request.toolChoice === 'none' ? [] : (request.tools ?? []);
  const functions = tools.map((tool) => {
    const params = toGrammarSchema(tool.parameters);
    return [toWireToolName(tool.name), { description: tool.description, ...(params && { params }) }] as const;
  });
  const { messages, leftOut } = toTextOnlyMessages(request.messages);
  const answer = tools.length === 0 ? answerSchema(request) : undefined;
  const nulls = functions.some(([, { params }]) => Object.values(params?.properties ?? {}).some(isNullable))
    ? nullsHint
    : '';
  const format = answer ? responseFormatInstructions(request) : '';
  const system = [request.systemPrompt ?? '', nulls, format].filter(Boolean).join('\n\n');
  const job = {
    messages,
    systemPrompt: system || undefined,
    functions: Object.fromEntries(functions),
    key: request.cacheKey,
    maxTokens: request.maxTokens,
    temperature: request.temperature,
    topP: request.topP,
    stopSequences: request.stopSequences,
    ...(request.thinkingBudget && { thinkingBudget: request.thinkingBudget }),
    ...(request.thinkingOff && { thinkingBudget: 0 }),
    ...(tools.length > 0 && request.toolChoice === 'required' && { mustCall: true }),
    ...(answer && { answer }),
  };
  const warnings = omittedAttachmentWarnings(message('The local model'), leftOut);
  if (request.responseFormat && !answer) warnings.push(formatIgnored);
  return { job, warnings };
}

const nullsHint = 'Arguments that are not needed are null.';
const isNullable = ({ type, enum: values, oneOf }: JsonSchema): boolean =>
  [type].flat().includes('null') ||
  (values?.includes(null) ?? false) ||
  (Array.isArray(oneOf) && oneOf.some(isNullable));

const onCpu = (gpu: string) =>
  message('The model could not be loaded on the GPU ({0}), so it runs on the CPU, which is slower. See the log.', gpu);
const formatIgnored = message('The local model follows a format only without tools, so the format is left out.');

function answerSchema({ responseFormat }: ChatRequest): JsonSchema | undefined {
  if (responseFormat?.type === 'json_object') return { type: 'object', additionalProperties: true };
  return responseFormat && toGrammarSubset(responseFormat.schema);
}
