/**
 * The local model's own process, and the only place that knows node-llama-cpp: a crash of the engine ends this process
 * and nothing else. It writes replies and proposes calls; it never runs one.
 */

import { freemem } from 'node:os';
import type { ChatWrapper, Llama, LlamaContext, LlamaContextSequence, LlamaModel, Token } from 'node-llama-cpp';
import { sentence } from '../../protocol/l10n.ts';
import { SaidError } from '../../protocol/sentence.ts';
import type { ChatWrapperName } from './chatWrappers.ts';
import { libraryFile, shippedIn } from './engineHome.ts';
import { installedEngines } from './engines.ts';
import { NoEngine, toFailure, toLoadFailure } from './failures.ts';
import { fitPrompt } from './fitPrompt.ts';
import { ggufTrouble } from './ggufHeader.ts';
import { readGgufInfo } from './ggufInfo.ts';
import { type HistoryItem, type Segment, toHistory } from './history.ts';
import type { FromWorker, Job, JobEvent, LoadOptions, Tell, ToWorker } from './ipc.ts';
import { readPrompt } from './readPrompt.ts';
import { createSlots, type Loan, type Slots } from './slots.ts';
import { identityOf } from './states/identity.ts';
import { Keeper } from './states/keeper.ts';
import type { KeepOptions } from './states/keepOptions.ts';
import { stepBack } from './stepBack.ts';
import { writtenCalls } from './writtenCalls.ts';

/** Runs whose evaluated tokens are kept at the same time. */
const mostSequences = 2;
/** For all checkpoints of a sequence together: of a model whose memory cannot be cut back. */
const checkpointBytes = 512 * 1024 ** 2;

interface Engine {
  library: typeof import('node-llama-cpp');
  llama: Llama;
  model: LlamaModel;
  contextSize: number;
  canGrow: boolean;
  chatWrapper: ChatWrapper;
  form: string;
  sequences: readonly LlamaContextSequence[];
  slots: Slots<LlamaContextSequence>;
  keeper?: Keeper<Token, LlamaContextSequence>;
}

let engine: Engine | undefined;
const aborts = new Map<number, AbortController>();

process.on('message', (message: ToWorker) => {
  if (message.type === 'load') void load(message.options);
  else if (message.type === 'generate') void generate(message.id, message.job);
  else if (message.type === 'ping') send({ type: 'pong', work: work() });
  else if (message.type === 'keep') void keep(message.ms);
  else aborts.get(message.id)?.abort();
});
process.on('disconnect', () => process.exit()); // nobody is left to talk to

async function load(options: LoadOptions): Promise<void> {
  stepBack(); // before the engine makes its threads
  try {
    engine = await createEngine(options);
    const { contextSize, llama, model } = engine;
    const { gpuLayers, fileInsights } = model;
    send({ type: 'loaded', contextSize, place: { gpu: llama.gpu, gpuLayers, layers: fileInsights.totalLayers } });
  } catch (error) {
    const isThere = options.modules !== undefined && installedEngines(options.modules, process).length > 0;
    const engine = { shipped: shippedIn(import.meta.dirname), isThere };
    send({ type: 'load-failed', error: toLoadFailure(error, options.modelPath, engine) });
  }
}

async function createEngine(options: LoadOptions): Promise<Engine> {
  const trouble = ggufTrouble(options.modelPath);
  if (trouble) throw new SaidError(trouble);
  const library = await libraryIn(options.modules);
  const llama = await library.getLlama({
    gpu: options.gpu,
    build: 'never',
    skipDownload: true,
    logLevel: library.LlamaLogLevel.warn,
    logger: (_level, text) => send({ type: 'log', text: text.trimEnd() }),
  });
  send({ type: 'engine', gpu: llama.gpu });
  const model = await llama.loadModel({
    modelPath: options.modelPath,
    gpuLayers: { fitContext: { contextSize: options.contextSize } }, // as many as fit beside it; none without a GPU
    onLoadProgress: (fraction) => send({ type: 'loading', fraction }),
  });
  const { context, sequences, swaFullCache } = await createContext(llama, model, options);
  const chatWrapper = library.resolveChatWrapper(model, { type: options.chatWrapper });
  logSetup(llama, model, context, options.threads);
  logWrapper(model, chatWrapper, options.chatWrapper);
  const { contextSize } = context;
  const canGrow = contextSize >= options.contextSize && model.trainContextSize > options.contextSize;
  const form = `${chatWrapper.wrapperName} of ${model.filename ?? ''}`; // the file's name, for its template may be its own
  const slots = createSlots(sequences);
  const keeper =
    options.keep && (await createKeeper(options, options.keep, { library, llama, context, swaFullCache, slots }));
  return { library, llama, model, contextSize, canGrow, chatWrapper, form, sequences, slots, keeper };
}

async function createKeeper(
  { modelPath }: LoadOptions,
  keep: KeepOptions,
  {
    library,
    llama,
    context,
    swaFullCache,
    slots,
  }: Pick<Engine, 'library' | 'llama' | 'slots'> & { context: LlamaContext; swaFullCache: boolean },
): Promise<Keeper<Token, LlamaContextSequence>> {
  const { contextSize, totalSequences, flashAttention, kvCacheKeyType, kvCacheValueType, model } = context;
  const identity = await identityOf(modelPath, {
    engine: [await library.getModuleVersion(), llama.llamaCppRelease, llama.buildType, llama.gpu, process.arch],
    context: [contextSize, totalSequences, flashAttention, kvCacheKeyType, kvCacheValueType, swaFullCache],
  });
  const { bytesPerToken = model.size / 32_768 } = readGgufInfo(modelPath);
  return new Keeper({ ...keep, identity, bytesPerToken, slots, log: (text) => send({ type: 'log', text }) });
}

async function keep(ms: number): Promise<void> {
  await engine?.keeper?.saveAll(ms);
  send({ type: 'kept' });
}

/** Throws `NoEngine` where the library is not. */
async function libraryIn(modules: string | undefined): Promise<Engine['library']> {
  try {
    return await (modules ? import(libraryFile(modules)) : import('node-llama-cpp'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new NoEngine((error as Error).message);
  }
}

/** Tokens that went through the engine so far. */
function work(): number {
  const meters = engine?.sequences.map(({ tokenMeter }) => tokenMeter.usedInputTokens + tokenMeter.usedOutputTokens);
  return meters?.reduce((sum, tokens) => sum + tokens, 0) ?? 0;
}

/** As many sequences as memory allows, at least one. */
async function createContext(llama: Llama, model: LlamaModel, options: LoadOptions) {
  const most = Math.min(options.contextSize, model.trainContextSize);
  for (let count = mostSequences; ; count--) {
    try {
      const swaFullCache = options.fullCache !== false && (await fullCacheFits(llama, model, most, count));
      const context = await model.createContext({
        contextSize: { max: most },
        threads: options.threads,
        sequences: count,
        swaFullCache,
      });
      const sequenceOf = (): LlamaContextSequence =>
        context.getSequence({ checkpoints: { maxMemory: checkpointBytes } });
      return { context, swaFullCache, sequences: Array.from({ length: count }, sequenceOf) };
    } catch (error) {
      if (count === 1) throw error;
    }
  }
}

/** Whether a model that looks back through a window has the memory to keep all that it has read, so that it can be cut back. */
async function fullCacheFits(
  llama: Llama,
  model: LlamaModel,
  contextSize: number,
  sequences: number,
): Promise<boolean> {
  const { swaSize, isRecurrent, isHybrid } = model.fileInsights;
  if (swaSize === undefined || isRecurrent || isHybrid || llama.gpu !== false) return false;
  const needs = await model.fileInsights.estimateContextResourceRequirementsV2({
    contextSize,
    sequences,
    modelGpuLayers: 0,
    swaFullCache: true,
  });
  return needs.cpuRam <= freemem() / 3;
}

async function generate(id: number, job: Job): Promise<void> {
  const abort = new AbortController();
  aborts.set(id, abort);
  const tell: Tell = (message) => {
    if (!abort.signal.aborted) send({ id, ...message } as JobEvent);
  };
  try {
    if (!engine) throw new SaidError(sentence('No model is loaded.'));
    const slot = await engine.slots.borrow(job.key, abort.signal);
    try {
      await reply(engine, slot, job, tell, abort.signal);
    } finally {
      engine.keeper?.left(slot.value);
      slot.giveBack();
    }
  } catch (error) {
    tell({ type: 'failed', error: toFailure(error) });
  }
  if (abort.signal.aborted) send({ id, type: 'aborted' });
  aborts.delete(id);
}

const readAgain = sentence(
  'Other runs needed the room: what the model had read of this one was dropped, and the conversation was read again.',
);

async function reply(
  engine: Engine,
  { value: contextSequence, dropped }: Loan<LlamaContextSequence>,
  job: Job,
  tell: Tell,
  signal: AbortSignal,
): Promise<void> {
  const { library, llama, model, contextSize, canGrow, form, keeper } = engine;
  const functions = Object.keys(job.functions).length > 0 ? (job.functions as never) : undefined;
  const chatWrapper =
    job.mustCall || job.answer ? straight(engine, job.mustCall ? 'call' : 'answer') : engine.chatWrapper;
  const chat = new library.LlamaChat({ contextSequence, chatWrapper });
  const grammar = job.answer && (await llama.createGrammarForJsonSchema(job.answer as never));
  const tokensOf = (chatHistory: HistoryItem[]): Token[] =>
    chatWrapper
      .generateContextState({ chatHistory: chatHistory as never, availableFunctions: functions })
      .contextText.tokenize(model.tokenizer);
  const count = (text: string) => model.tokenize(text).length;
  const { history, prompt, room } = fitPrompt<Token>(job, tell, { contextSize, canGrow, form, tokensOf, count });
  const isBack = await keeper?.enter(contextSequence, job.key, prompt, tell, signal);
  if (dropped && !isBack) tell({ type: 'warning', text: readAgain });
  const startedAt = performance.now();
  const opening = contextSequence.needsCheckpoints ? sharedBy(prompt, tokensOf(openingOf(job, form))) : 0;
  const cached = await readPrompt(contextSequence, prompt, tell, signal, opening);
  await keeper?.hasRead(prompt.length - cached, performance.now() - startedAt);

  const before = contextSequence.tokenMeter.getState();
  const writing = writtenCalls(tell);
  let thinking = 0;
  const counts = () => ({
    prompt: prompt.length,
    cached,
    completion: contextSequence.tokenMeter.diff(before).usedOutputTokens,
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
      maxTokens: Math.min(job.maxTokens ?? room, room), // so that no old text is ever dropped to make place
      temperature: job.temperature ?? 0.6,
      topP: job.topP ?? 0.95,
      repeatPenalty: false, // code repeats itself
      customStopTriggers: job.stopSequences,
      ...(job.thinkingBudget !== undefined && { budgets: { thoughtTokens: job.thinkingBudget } }),
      onResponseChunk: (chunk) => {
        if (chunk.type === 'segment') thinking += chunk.tokens.length;
        if (chunk.text) tell({ type: chunk.type === 'segment' ? 'thinking' : 'text', text: chunk.text });
      },
    });
    const finish = finishOf(result.metadata.stopReason);
    tell({ type: 'done', finish, spoken: result.fullResponse as (string | Segment)[], form, tokens: counts() });
  } catch (error) {
    // The grammar lets through what the schema does not (an integer of 400 digits): the loop answers such a call.
    if (signal.aborted || !writing.giveUp()) throw error;
    tell({ type: 'done', finish: 'tool_calls', spoken: [], form, tokens: counts() });
  } finally {
    chat.dispose(); // the sequence stays
  }
}

/** A conversation in which nobody has said anything yet. */
const openingOf = ({ systemPrompt }: Job, form: string): HistoryItem[] =>
  toHistory([{ role: 'user', content: '' }], systemPrompt, form);

function sharedBy(one: readonly Token[], other: readonly Token[]): number {
  const at = one.findIndex((token, index) => token !== other[index]);
  return at < 0 ? one.length : at;
}

/**
 * A chat wrapper that leaves the model no choice of how to begin: with a call of some function, or with its answer. No
 * thoughts come before either, for a grammar would hold them to be the answer.
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
        // Some templates open a thought themselves.
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
  send({ type: 'log', text: `chat wrapper: ${asked} is ${wrapperName}, the file has ${template}` });
}

function logSetup(llama: Llama, model: LlamaModel, context: LlamaContext, threads: number): void {
  const place = `${llama.gpu === false ? 'CPU' : `${llama.gpu}, ${model.gpuLayers} layers`}, threads: ${threads}`;
  const size = `${context.contextSize} tokens × ${context.totalSequences}`;
  send({ type: 'log', text: `${model.filename ?? 'model'}: ${model.typeDescription}, ${place}, context ${size}` });
}

function send(message: FromWorker): void {
  if (process.connected) process.send?.(message);
}
