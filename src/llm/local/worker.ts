/**
 * The local model's own process, and the only place that knows node-llama-cpp: a crash of the engine ends this process
 * and nothing else. It writes replies and proposes calls; it never runs one.
 */
import type { Llama, LlamaChat, LlamaContext, LlamaContextSequence, LlamaModel, Token } from 'node-llama-cpp';
import { PromptTooLong, toFailure, toLoadFailure } from './failures.ts';
import { ggufTrouble } from './ggufHeader.ts';
import { type HistoryItem, type Segment, toHistory } from './history.ts';
import type { FromWorker, Job, JobEvent, LoadOptions, Tell, ToWorker } from './ipc.ts';
import { shorten } from './shorten.ts';
import { createSlots, type Slots } from './slots.ts';
import { writtenCalls } from './writtenCalls.ts';

/** Tokens evaluated between two looks at Stop, and how long that should take. More at once is hardly faster. */
const slices = { least: 32, first: 128, most: 512, ms: 80 };
/** Runs whose evaluated tokens are kept at the same time. */
const mostSequences = 2;
/** Tokens kept free behind the reply: calls are framed with a few that the limit does not count. */
const margin = 64;
/** Characters below which no tool result is cut. */
const leastText = 500;

interface Engine {
  model: LlamaModel;
  contextSize: number;
  slots: Slots<LlamaChat>;
}

let engine: Engine | undefined;
/** Of each run: what was cut the last time, so that it is said once. */
const cutBefore = new Map<string, string>();
const aborts = new Map<number, AbortController>();

process.on('message', (message: ToWorker) => {
  if (message.type === 'load') void load(message.options);
  else if (message.type === 'generate') void generate(message.id, message.job);
  else if (message.type === 'ping') send({ type: 'pong' });
  else aborts.get(message.id)?.abort();
});
process.on('disconnect', () => process.exit()); // nobody is left to talk to

async function load(options: LoadOptions): Promise<void> {
  try {
    engine = await createEngine(options);
    send({ type: 'loaded', contextSize: engine.contextSize });
  } catch (error) {
    send({ type: 'load-failed', error: toLoadFailure(error, options.modelPath) });
  }
}

async function createEngine(options: LoadOptions): Promise<Engine> {
  const trouble = ggufTrouble(options.modelPath);
  if (trouble) throw new Error(trouble);
  const library = await import('node-llama-cpp');
  const llama = await library.getLlama({
    gpu: options.gpu,
    build: 'never',
    skipDownload: true,
    logLevel: library.LlamaLogLevel.warn,
    logger: (_level, text) => send({ type: 'log', text: text.trimEnd() }),
  });
  const model = await llama.loadModel({
    modelPath: options.modelPath,
    onLoadProgress: (fraction) => send({ type: 'loading', fraction }),
  });
  const { context, sequences } = await createContext(model, options);
  const chatWrapper = library.resolveChatWrapper(model);
  const chats = sequences.map((contextSequence) => new library.LlamaChat({ contextSequence, chatWrapper }));
  logSetup(llama, model, context);
  return { model, contextSize: context.contextSize, slots: createSlots(chats) };
}

/** As many sequences as memory allows, at least one. */
async function createContext(model: LlamaModel, options: LoadOptions) {
  for (let count = mostSequences; ; count--) {
    try {
      const context = await model.createContext({
        contextSize: { max: Math.min(options.contextSize, model.trainContextSize) },
        threads: options.threads,
        sequences: count,
      });
      return { context, sequences: Array.from({ length: count }, (): LlamaContextSequence => context.getSequence()) };
    } catch (error) {
      if (count === 1) throw error;
    }
  }
}

async function generate(id: number, job: Job): Promise<void> {
  const abort = new AbortController();
  aborts.set(id, abort);
  const tell: Tell = (message) => {
    if (!abort.signal.aborted) send({ id, ...message } as JobEvent);
  };
  try {
    if (!engine) throw new Error('No model is loaded.');
    const slot = await engine.slots.borrow(job.key, abort.signal);
    try {
      if (slot.dropped) tell({ type: 'warning', text: dropped });
      await reply(engine, slot.value, job, tell, abort.signal);
    } finally {
      slot.giveBack();
    }
  } catch (error) {
    tell({ type: 'failed', error: toFailure(error) });
  }
  if (abort.signal.aborted) send({ id, type: 'aborted' });
  aborts.delete(id);
}

const dropped =
  'Other runs needed the room: what the model had read of this one was dropped, and the conversation was read again.';

async function reply(engine: Engine, chat: LlamaChat, job: Job, tell: Tell, signal: AbortSignal): Promise<void> {
  const functions = Object.keys(job.functions).length > 0 ? (job.functions as never) : undefined;
  const { history, prompt, room } = fitPrompt(engine, chat, job, tell);
  const cached = await read(chat.sequence, prompt, tell, signal);

  const before = chat.sequence.tokenMeter.getState();
  const writing = writtenCalls(tell);
  let thinking = 0;
  const counts = () => ({
    prompt: prompt.length,
    cached,
    completion: chat.sequence.tokenMeter.diff(before).usedOutputTokens,
    thinking,
  });
  try {
    const result = await chat.generateResponse(history as never, {
      functions,
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
      onFunctionCallParamsChunk: writing.chunk,
      onFunctionCall: (call) => writing.complete(call.functionName, call.params, call.raw),
    });
    const finish = finishOf(result.metadata.stopReason);
    tell({ type: 'done', finish, spoken: result.fullResponse as (string | Segment)[], tokens: counts() });
  } catch (error) {
    // The grammar lets through what the schema does not (an integer of 400 digits): the loop answers such a call.
    if (signal.aborted || !writing.giveUp()) throw error;
    tell({ type: 'done', finish: 'tool_calls', spoken: [], tokens: counts() });
  }
}

interface Fitted {
  history: HistoryItem[];
  prompt: Token[];
  /** Tokens the reply may have. */
  room: number;
}

/**
 * The conversation as it fits: counted before anything is evaluated, long tool results cut to half as much until it
 * does. Says what was cut; throws `PromptTooLong` when that is not enough. The engine itself never has to drop text.
 */
function fitPrompt({ model, contextSize }: Engine, chat: LlamaChat, job: Job, tell: Tell): Fitted {
  const tokensOf = (history: HistoryItem[], availableFunctions: unknown): Token[] =>
    chat.chatWrapper
      .generateContextState({ chatHistory: history as never, availableFunctions: availableFunctions as never })
      .contextText.tokenize(model.tokenizer);
  const reserved = Math.min(256, Math.floor(contextSize / 8));
  const measure = (messages: Job['messages']): Fitted => {
    const history = toHistory(messages, job.systemPrompt);
    const prompt = tokensOf(history, Object.keys(job.functions).length > 0 ? job.functions : undefined);
    return { history, prompt, room: contextSize - prompt.length - margin };
  };

  let fitted = measure(job.messages);
  let cut = { texts: 0, characters: 0 };
  for (let most = contextSize * 2; fitted.room < reserved && most >= leastText; most = Math.floor(most / 2)) {
    const shortened = shorten(job.messages, most);
    if (shortened.texts === 0) continue;
    cut = shortened;
    fitted = measure(shortened.messages);
  }
  if (fitted.room < reserved) {
    const newest = job.messages.findLast((message) => message.role === 'user')?.content ?? '';
    const message = model.tokenize(newest).length;
    throw new PromptTooLong({ prompt: fitted.prompt.length, message, contextSize, reserved, cut: cut.texts });
  }
  sayCut(job.key, cut, contextSize, tell);
  return fitted;
}

function sayCut(key: string | undefined, cut: { texts: number; characters: number }, size: number, tell: Tell): void {
  const now = cut.texts > 0 ? `${cut.texts} ${cut.characters}` : '';
  const known = key === undefined ? '' : (cutBefore.get(key) ?? '');
  if (key !== undefined) cutBefore.set(key, now);
  if (now === '' || now === known) return;
  const [characters, tokens] = [cut.characters, size].map((count) => count.toLocaleString('en-US'));
  const text = `Long results were shortened for the local model: ${characters} characters are left out, because it has room for ${tokens} tokens.`;
  tell({ type: 'warning', text });
}

/**
 * Evaluates what is new of the prompt, in slices: the engine itself would not look up before it has read everything.
 * Returns the number of tokens that were there already.
 */
async function read(sequence: LlamaContextSequence, prompt: Token[], tell: Tell, signal: AbortSignal): Promise<number> {
  const end = prompt.length - 1; // the last one is evaluated with the reply
  await sequence.adaptStateToTokens(prompt.slice(0, end), false);
  const cached = sequence.nextTokenIndex;
  const startedAt = performance.now();
  let slice = slices.first;
  for (let at = cached; at < end; ) {
    signal.throwIfAborted();
    const sliceAt = performance.now();
    const ms = Math.round(sliceAt - startedAt);
    if (end - cached > slices.first) tell({ type: 'reading', tokens: at - cached, total: end - cached, ms });
    const part = prompt.slice(at, Math.min(at + slice, end));
    await sequence.evaluateWithoutGeneratingNewTokens(part);
    at += part.length;
    const fitting = Math.floor((slice * slices.ms) / Math.max(1, performance.now() - sliceAt));
    slice = Math.min(slices.most, Math.max(slices.least, fitting));
  }
  signal.throwIfAborted();
  return cached;
}

function finishOf(stopReason: string): 'stop' | 'length' | 'tool_calls' {
  if (stopReason === 'functionCalls') return 'tool_calls';
  return stopReason === 'maxTokens' ? 'length' : 'stop';
}

function logSetup(llama: Llama, model: LlamaModel, context: LlamaContext): void {
  const place = llama.gpu === false ? 'CPU' : `${llama.gpu}, ${model.gpuLayers} layers`;
  const size = `${context.contextSize} tokens × ${context.totalSequences}`;
  send({ type: 'log', text: `${model.filename ?? 'model'}: ${model.typeDescription}, ${place}, context ${size}` });
}

function send(message: FromWorker): void {
  if (process.connected) process.send?.(message);
}
