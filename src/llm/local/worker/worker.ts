import { outputTokenLimit } from '../../messages/outputLimit.ts';

/**
 * Process of the local model, and the only module that uses node-llama-cpp: a crash of the engine ends only this process. The process
 * generates replies and proposes calls; it never executes a call.
 */

import { readdirSync } from 'node:fs';
import { freemem, getPriority, setPriority } from 'node:os';
import type { ChatWrapper, Llama, LlamaModel, Token } from 'node-llama-cpp';
import { message } from '../../../protocol/text/l10n.ts';
import { UserFacingError } from '../../../protocol/text/localized.ts';
import { engineLibraryFile, readExtensionBuildInfo } from '../engineInstall/engineFolders.ts';
import { installedEngines } from '../engineInstall/engines.ts';
import { type LlamaHistoryItem, type LlamaTextSegment, toLlamaHistory } from '../ipc/chatHistory.ts';
import type { ChatWrapperName } from '../ipc/chatWrappers.ts';
import { MissingEngineError, toLoadFailure, toWorkerFailure } from '../ipc/failures.ts';
import type {
  InferenceJob,
  InferenceJobEvent,
  ModelLoadOptions,
  ModelWorkerEvent,
  ModelWorkerRequest,
  SendInferenceEvent,
} from '../ipc/ipc.ts';
import { initialContextTokens, maxContextSize, tokensWithReply } from '../modelFile/contextSize.ts';
import { invalidGgufReason } from '../modelFile/ggufHeader.ts';
import { resolveChatFormat } from './chatFormat.ts';
import { type ContextWithStateCache, createInferenceContext, type LlamaSequence } from './context.ts';
import { type FittedPrompt, fitPrompt } from './fitPrompt.ts';
import { prefillPromptTokens } from './prefill.ts';
import { PromptLookupTokenPredictor } from './promptLookup.ts';
import { InferenceContextLostError } from './resizableContext.ts';
import { takeRecordedCheckpoint } from './rewindableSequence.ts';
import { samplingOf } from './sampling.ts';
import type { SlotLease } from './slots.ts';
import type { SequenceSlot } from './stateTransfer.ts';
import { createToolCallTextReporter } from './textCallTokens.ts';

/** Niceness: low enough for the editor and user programs to go first, and high enough that a build does not starve the model. */
const nice = 5;

/** Minimum milliseconds between two reports of the load progress. */
const loadReportMs = 50;

/**
 * Lowers the priority of the process. On Linux, each thread has its own value and passes the value to new threads, so a call before loading
 * the engine affects all its threads. Never raises a priority.
 */
function lowerPriority(): void {
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [0];
  for (const id of threads) {
    try {
      if (getPriority(id) < nice) setPriority(id, nice);
    } catch {
      // the thread has ended, or the system denies the change
    }
  }
}

interface Engine extends ContextWithStateCache {
  library: typeof import('node-llama-cpp');
  llama: Llama;
  model: LlamaModel;
  allowed: number;
  chatWrapper: ChatWrapper;
  form: string;
}

let engine: Engine | undefined;
const aborts = new Map<number, AbortController>();

process.on('message', (message: ModelWorkerRequest) => {
  if (message.type === 'load') void load(message.options);
  else if (message.type === 'generate') void generate(message.id, message.job);
  else if (message.type === 'ping') send({ type: 'pong', work: work() });
  else if (message.type === 'keep') void keep(message.ms);
  else if (message.type === 'count')
    send({ type: 'counted', id: message.id, tokens: engine!.model.tokenize(message.text).length });
  else aborts.get(message.id)?.abort();
});
process.on('disconnect', () => process.exit()); // the client has exited

async function load(options: ModelLoadOptions): Promise<void> {
  lowerPriority(); // must precede the creation of the engine's threads
  try {
    engine = await createEngine(options);
    const { context, llama, model } = engine;
    const { gpuLayers, fileInsights } = model;
    const deviceInfo = { gpu: llama.gpu, gpuLayers, layers: fileInsights.totalLayers };
    send({ type: 'loaded', contextSize: context.most, device: deviceInfo });
  } catch (error) {
    const hasEngine = options.modules !== undefined && installedEngines(options.modules, process).length > 0;
    const engine = { shipped: readExtensionBuildInfo(import.meta.dirname), isInstalled: hasEngine };
    send({ type: 'load-failed', error: toLoadFailure(error, options.modelPath, engine) });
  }
}

async function createEngine(options: ModelLoadOptions): Promise<Engine> {
  const trouble = invalidGgufReason(options.modelPath);
  if (trouble) throw new UserFacingError(trouble);
  const library = await libraryIn(options.modules);
  const llama = await library.getLlama({
    gpu: options.gpu,
    build: 'never',
    skipDownload: true,
    logLevel: library.LlamaLogLevel.warn,
    logger: (_level, text) => log(text.trimEnd()),
  });
  send({ type: 'engine', gpu: llama.gpu });
  let reportedAt = 0;
  const free = freemem(); // on some systems, loaded file pages no longer count as free
  const model = await llama.loadModel({
    modelPath: options.modelPath,
    gpuLayers: { fitContext: { contextSize: options.contextSize || initialContextTokens } }, // as many as fit beside the context; none without a GPU
    onLoadProgress(fraction) {
      const now = performance.now();
      if (fraction < 1 && now - reportedAt < loadReportMs) return; // the engine reports each tensor
      reportedAt = now;
      send({ type: 'loading', fraction });
    },
  });
  const version = await library.getModuleVersion();
  const { context, keeper } = await createInferenceContext({ llama, model, version, free }, options, {
    send: send,
    log,
  });
  const chatWrapper = await resolveChatFormat<LlamaModel, ChatWrapper>(
    library,
    model,
    options.chatWrapper,
    options.chatFormats,
  );
  logSetup(llama, model, context, options.threads);
  logWrapper(model, chatWrapper, options.chatWrapper);
  const form = `${chatWrapper.wrapperName} of ${model.filename ?? ''}`; // includes the file name, because the template in a file may be unique
  const allowed = maxContextSize(options.contextSize);
  return { library, llama, model, allowed, context, chatWrapper, form, keeper };
}

async function keep(ms: number): Promise<void> {
  await engine?.keeper?.saveAll(ms);
  send({ type: 'kept' });
}

async function libraryIn(modules: string | undefined): Promise<Engine['library']> {
  try {
    return await (modules ? import(engineLibraryFile(modules)) : import('node-llama-cpp'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new MissingEngineError((error as Error).message);
  }
}

function work(): number {
  if (!engine) return 0;
  const { sequences, steps } = engine.context;
  return sequences.reduce(
    (sum, { tokenMeter }) => sum + tokenMeter.usedInputTokens + tokenMeter.usedOutputTokens,
    steps,
  );
}

async function generate(id: number, job: InferenceJob): Promise<void> {
  const abort = new AbortController();
  aborts.set(id, abort);
  const sendEvent: SendInferenceEvent = (message) => {
    if (!abort.signal.aborted) send({ id, ...message } as InferenceJobEvent);
  };
  try {
    if (!engine) throw new UserFacingError(message('No model is loaded.'));
    const asked = await prepare(engine, job, sendEvent, abort.signal);
    const loan = await engine.context.slots.borrow(job.key, abort.signal, () => sendEvent({ type: 'waiting' }));
    try {
      await reply(engine, loan, job, asked, sendEvent, abort.signal);
    } finally {
      engine.keeper?.left(loan.value);
      loan.giveBack();
    }
  } catch (error) {
    if (error instanceof InferenceContextLostError) throw error; // no job can be answered any more: exit
    sendEvent({ type: 'failed', error: toWorkerFailure(error) });
  }
  if (abort.signal.aborted) send({ id, type: 'aborted' });
  aborts.delete(id);
}

const readAgain = message(
  'Other runs needed the memory. The state of this run was discarded, and the conversation was read again.',
);

interface Asked extends FittedPrompt<Token> {
  chatWrapper: ChatWrapper;
  functions: never;
  tokensOf(history: LlamaHistoryItem[]): Token[];
}

async function prepare(
  engine: Engine,
  job: InferenceJob,
  sendEvent: SendInferenceEvent,
  signal: AbortSignal,
): Promise<Asked> {
  const { model, allowed, form, context, keeper } = engine;
  const functions = Object.keys(job.functions).length > 0 ? (job.functions as never) : undefined;
  const chatWrapper =
    job.mustCall || job.answer ? straight(engine, job.mustCall ? 'call' : 'answer') : engine.chatWrapper;
  const tokensOf = (chatHistory: LlamaHistoryItem[]): Token[] =>
    chatWrapper
      .generateContextState({ chatHistory: chatHistory as never, availableFunctions: functions })
      .contextText.tokenize(model.tokenizer);
  const count = (text: string) => model.tokenize(text).length;
  const reach = async (prompt: Token[]) => {
    const reusable = (await keeper?.wants(job.key, prompt)) ?? 0;
    const tokens = Math.max(tokensWithReply(prompt.length, job.maxTokens), reusable);
    await context.reach({ tokens, key: job.key, prompt }, signal, () => sendEvent({ type: 'waiting' }));
    const canGrow = context.most >= allowed && model.trainContextSize > allowed;
    return { contextSize: context.shape.size, canGrow };
  };
  const fitted = await fitPrompt<Token>(job, sendEvent, { reach, form, tokensOf, count });
  return { ...fitted, chatWrapper, functions: functions as never, tokensOf };
}

async function reply(
  engine: Engine,
  { value: seat, dropped }: SlotLease<SequenceSlot<LlamaSequence>>,
  job: InferenceJob,
  { history, prompt, tokensLeft, chatWrapper, functions, tokensOf }: Asked,
  sendEvent: SendInferenceEvent,
  signal: AbortSignal,
): Promise<void> {
  const { library, llama, form, keeper } = engine;
  const contextSequence = seat.sequence;
  const chat = new library.LlamaChat({ contextSequence, chatWrapper });
  const grammar = job.answer && (await llama.createGrammarForJsonSchema(job.answer as never));
  const isBack = await keeper?.enter(seat, job.key, prompt, sendEvent, signal);
  if (dropped && !isBack) sendEvent({ type: 'warning', text: readAgain });
  const startedAt = performance.now();
  const checkpoints: number[] = [];
  if (contextSequence.needsCheckpoints) {
    const answer = startOfAnswer(prompt, history, tokensOf);
    checkpoints.push(sharedBy(prompt, tokensOf(openingOf(job, form))), answer);
    keeper?.setPromptEnds(seat, [answer, prompt.length - 1]);
  }
  const cached = await prefillPromptTokens(contextSequence, prompt, sendEvent, signal, checkpoints);
  await keeper?.hasRead(prompt.length - cached, performance.now() - startedAt);

  const before = written(contextSequence);
  const writing = createToolCallTextReporter(sendEvent);
  let thinking = 0;
  const counts = () => ({
    prompt: prompt.length,
    cached,
    completion: written(contextSequence) - before,
    thinking,
  });
  try {
    const result = await chat.generateResponse(history as never, {
      ...(grammar
        ? { grammar }
        : {
            functions,
            onFunctionCallParamsChunk: writing.chunk,
            onFunctionCall: (call) => writing.complete(call.functionName, call.params, call.raw),
          }),
      signal,
      stopOnAbortSignal: true,
      maxTokens: Math.min(outputTokenLimit(job, job.thinkingBudget) ?? tokensLeft, tokensLeft), // so that old text is never dropped
      ...samplingOf(job, engine.model.fileInfo.metadata.general),
      repeatPenalty: false, // code repeats itself
      customStopTriggers: job.stopSequences,
      ...(job.thinkingBudget !== undefined && { budgets: { thoughtTokens: job.thinkingBudget } }),
      onResponseChunk: (chunk) => {
        if (chunk.type === 'segment') thinking += chunk.tokens.length;
        if (chunk.text) sendEvent({ type: chunk.type === 'segment' ? 'thinking' : 'text', text: chunk.text });
      },
    });
    await takeRecordedCheckpoint(contextSequence); // an edited message returns to this position
    logPromptLookup(contextSequence);
    const finish = finishOf(result.metadata.stopReason);
    sendEvent({
      type: 'done',
      finish,
      spoken: result.fullResponse as (string | LlamaTextSegment)[],
      form,
      tokens: counts(),
    });
  } catch (error) {
    // The grammar accepts values outside of the schema (an integer of 400 digits); the loop reports such a call.
    if (signal.aborted || !writing.giveUp()) throw error;
    sendEvent({ type: 'done', finish: 'tool_calls', spoken: [], form, tokens: counts() });
  } finally {
    chat.dispose(); // keeps the sequence
  }
}

/** Returns the tokens generated by a sequence, without rejected and unused draft tokens. */
function written({ tokenMeter, tokenPredictions: { refuted, unused } }: LlamaSequence): number {
  return tokenMeter.usedOutputTokens - refuted - unused;
}

function logPromptLookup({ tokenPredictor }: LlamaSequence): void {
  if (!(tokenPredictor instanceof PromptLookupTokenPredictor)) return;
  const { expected, right, drafts, accepted } = tokenPredictor.takeCounts();
  if (expected === 0) return;
  log(`prompt lookup: ${right} of ${expected} expected tokens were right, ${accepted} of ${drafts} drafts accepted`);
}

const openingOf = ({ systemPrompt }: InferenceJob, form: string): LlamaHistoryItem[] =>
  toLlamaHistory([{ role: 'user', content: '' }], systemPrompt, form);

/**
 * Returns the length of the prompt that began the answer to the newest user message. The next user message may return to that length,
 * because templates omit the thinking of earlier answers.
 */
function startOfAnswer(prompt: readonly Token[], history: LlamaHistoryItem[], tokensOf: Asked['tokensOf']): number {
  const isBegun = history.at(-1)?.type === 'model';
  const first = isBegun ? tokensOf([...history.slice(0, -1), { type: 'model', response: [] }]) : prompt;
  return Math.min(sharedBy(prompt, first), first.length - 1); // the last token is evaluated with the reply
}

function sharedBy(one: readonly Token[], other: readonly Token[]): number {
  const at = one.findIndex((token, index) => token !== other[index]);
  return at < 0 ? one.length : at;
}

/**
 * Returns a chat wrapper that forces the reply to start with a function call or with the answer, without thinking, which a grammar would
 * treat as the answer.
 */
function straight({ library, chatWrapper: wrapper }: Engine, to: 'call' | 'answer'): ChatWrapper {
  const { functions, segments } = wrapper.settings;
  const thought = segments?.thought;
  const call = [functions.parallelism?.call.sectionPrefix ?? '', functions.call.prefix];
  return Object.create(wrapper, {
    settings: { value: { ...wrapper.settings, segments: { ...segments, thought: undefined } } },
    generateContextState: {
      value: (options: Parameters<ChatWrapper['generateContextState']>[0]) => {
        const state = wrapper.generateContextState(options);
        const last = options.chatHistory.at(-1);
        const begins = last?.type === 'model' && last.response.length === 0;
        // some templates open the thinking themselves
        const opened = begins && typeof thought?.prefix === 'object' && 'type' in thought.prefix;
        const { contextText, stopGenerationTriggers, ignoreStartText } = state;
        return {
          contextText: library.LlamaText([
            contextText,
            opened ? (thought?.suffix ?? '') : '',
            ...(to === 'call' ? call : []),
          ]),
          stopGenerationTriggers,
          ignoreStartText,
          ...(to === 'call' && { functionCall: { initiallyEngaged: true, disengageInitiallyEngaged: [] } }),
        };
      },
    },
  });
}

function finishOf(stopReason: string): 'stop' | 'length' | 'tool_calls' {
  if (stopReason === 'functionCalls') return 'tool_calls';
  return stopReason === 'maxTokens' ? 'length' : 'stop';
}

function logWrapper({ fileInfo }: LlamaModel, { wrapperName }: ChatWrapper, asked: ChatWrapperName): void {
  const template = fileInfo.metadata.tokenizer.chat_template ? 'its own template' : 'no template of its own';
  log(`chat wrapper: ${asked} is ${wrapperName}, the file has ${template}`);
}

function logSetup(
  llama: Llama,
  model: LlamaModel,
  { shape, sequences }: ContextWithStateCache['context'],
  threads: number,
): void {
  const deviceInfo = `${llama.gpu === false ? 'CPU' : `${llama.gpu}, ${model.gpuLayers} layers`}, threads: ${threads}`;
  log(
    `${model.filename ?? 'model'}: ${model.typeDescription}, ${deviceInfo}, context ${shape.size} tokens × ${sequences.length}`,
  );
}

const log = (text: string): void => send({ type: 'log', text });

function send(message: ModelWorkerEvent): void {
  if (process.connected) process.send?.(message);
}
