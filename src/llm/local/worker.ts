/**
 * The local model's own process, and the only place that knows node-llama-cpp: a crash of the engine ends this process
 * and nothing else. It writes replies and proposes calls; it never runs one.
 */
import type { Llama, LlamaChat, LlamaContext, LlamaContextSequence, LlamaModel, Token } from 'node-llama-cpp';
import { ggufTrouble } from './ggufHeader.ts';
import type { Segment } from './history.ts';
import type { Failure, FromWorker, Job, JobEvent, LoadOptions, ToWorker } from './ipc.ts';
import { createSlots, type Slots } from './slots.ts';

/** Tokens evaluated between two looks at Stop: smaller answers sooner, from 64 up it costs nothing. */
const slice = 128;
/** Runs whose evaluated tokens are kept at the same time. */
const mostSequences = 2;
/** Tokens kept free behind the reply: calls are framed with a few that the limit does not count. */
const margin = 64;

type JobMessage = JobEvent extends infer Event ? (Event extends unknown ? Omit<Event, 'id'> : never) : never;
type Tell = (message: JobMessage) => void;

interface Engine {
  model: LlamaModel;
  contextSize: number;
  slots: Slots<LlamaChat>;
}

let engine: Engine | undefined;
const aborts = new Map<number, AbortController>();

process.on('message', (message: ToWorker) => {
  if (message.type === 'load') void load(message.options);
  else if (message.type === 'generate') void generate(message.id, message.job);
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

async function reply(engine: Engine, chat: LlamaChat, job: Job, tell: Tell, signal: AbortSignal): Promise<void> {
  const functions = Object.keys(job.functions).length > 0 ? (job.functions as never) : undefined;
  const prompt = chat.chatWrapper
    .generateContextState({ chatHistory: job.history as never, availableFunctions: functions })
    .contextText.tokenize(engine.model.tokenizer);
  const room = roomFor(prompt.length, engine.contextSize);
  const cached = await read(chat.sequence, prompt, tell, signal);

  const before = chat.sequence.tokenMeter.getState();
  const writing = callsBeingWritten(tell);
  let thinking = 0;
  const counts = () => ({
    prompt: prompt.length,
    cached,
    completion: chat.sequence.tokenMeter.diff(before).usedOutputTokens,
    thinking,
  });
  try {
    const result = await chat.generateResponse(job.history as never, {
      functions,
      signal,
      stopOnAbortSignal: true,
      maxTokens: Math.min(job.maxTokens ?? room, room), // so that no old text is ever dropped to make place
      temperature: job.temperature ?? 0.6,
      topP: job.topP ?? 0.95,
      repeatPenalty: false, // code repeats itself
      customStopTriggers: job.stopSequences,
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

/** How many tokens the reply may have. Throws when the prompt leaves too little. */
function roomFor(promptTokens: number, contextSize: number): number {
  const room = contextSize - promptTokens - margin;
  const least = Math.min(256, Math.floor(contextSize / 8));
  if (room >= least) return room;
  throw new PromptTooLong(promptTokens, contextSize, least);
}

class PromptTooLong extends Error {
  constructor(
    readonly promptTokens: number,
    readonly contextSize: number,
    readonly reserved: number,
  ) {
    super('prompt too long');
  }
}

/**
 * Evaluates what is new of the prompt, in slices: the engine itself would not look up before it has read everything.
 * Returns the number of tokens that were there already.
 */
async function read(sequence: LlamaContextSequence, prompt: Token[], tell: Tell, signal: AbortSignal): Promise<number> {
  const end = prompt.length - 1; // the last one is evaluated with the reply
  await sequence.adaptStateToTokens(prompt.slice(0, end), false);
  const cached = sequence.nextTokenIndex;
  for (let at = cached; at < end; at += slice) {
    signal.throwIfAborted();
    if (end - cached > slice) tell({ type: 'reading', tokens: at - cached, total: end - cached });
    await sequence.evaluateWithoutGeneratingNewTokens(prompt.slice(at, Math.min(at + slice, end)));
  }
  signal.throwIfAborted();
  return cached;
}

interface ParamsChunk {
  callIndex: number;
  functionName: string;
  paramsChunk: string;
  done: boolean;
}

/** Tells of calls as they are written and when they are complete. */
function callsBeingWritten(tell: Tell) {
  let completed = 0;
  let open: { index: number; name: string; text: string } | undefined;
  return {
    chunk: ({ callIndex, functionName, paramsChunk }: ParamsChunk) => {
      if (open?.index !== callIndex) open = { index: callIndex, name: functionName, text: '' };
      open.text += paramsChunk;
      const blank = paramsChunk.trim() === '' && open.text.trimEnd().endsWith('}'); // the grammar pads with line ends
      if (!blank && paramsChunk) tell({ type: 'call-text', index: callIndex, name: functionName, text: paramsChunk });
    },
    complete: (name: string, params: unknown, raw: unknown) => {
      tell({ type: 'call', index: completed++, name, params: params ?? {}, raw });
      open = undefined;
    },
    /** Tells the call that is open as a bad one; false when none is. */
    giveUp: () => {
      if (!open) return false;
      tell({ type: 'bad-call', index: completed, name: open.name, text: open.text.trim() });
      return true;
    },
  };
}

function finishOf(stopReason: string): 'stop' | 'length' | 'tool_calls' {
  if (stopReason === 'functionCalls') return 'tool_calls';
  return stopReason === 'maxTokens' ? 'length' : 'stop';
}

function toFailure(error: unknown): Failure {
  if (error instanceof PromptTooLong) {
    const { promptTokens, contextSize, reserved } = error;
    return {
      code: 'LLM_CONTEXT_OVERFLOW',
      message: `This conversation is ${promptTokens} tokens long, and the local model has room for ${contextSize}, ${reserved} of them kept for its reply. Start a new run, or give the model a larger context size in the settings.`,
      details: { promptTokens, contextSize },
    };
  }
  return {
    code: 'UNKNOWN',
    message: `The local model failed: ${messageOf(error)} Send a message to try again.`,
  };
}

function toLoadFailure(error: unknown, modelPath: string): Failure {
  const details = { path: modelPath, cause: messageOf(error) };
  const name = error instanceof Error ? error.constructor.name : '';
  if (name === 'NoBinaryFoundError' || (error as NodeJS.ErrnoException)?.code === 'ERR_MODULE_NOT_FOUND')
    return {
      code: 'UNKNOWN',
      message: `There is no local engine for ${process.platform}-${process.arch} here. Install Towpath again on this machine, or use an endpoint.`,
      details,
    };
  if (name === 'InsufficientMemoryError' || /memory|VRAM/i.test(details.cause))
    return {
      code: 'UNKNOWN',
      message: `There is not enough free memory for ${modelPath}. Choose a smaller model or a smaller context size, or close other programs.`,
      details,
    };
  return {
    code: 'UNKNOWN',
    message: `${modelPath} could not be loaded: the file is damaged, cut off, or of a kind this engine does not know. Download it again or choose another .gguf file.`,
    details,
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function logSetup(llama: Llama, model: LlamaModel, context: LlamaContext): void {
  const place = llama.gpu === false ? 'CPU' : `${llama.gpu}, ${model.gpuLayers} layers`;
  const size = `${context.contextSize} tokens × ${context.totalSequences}`;
  send({ type: 'log', text: `${model.filename ?? 'model'}: ${model.typeDescription}, ${place}, context ${size}` });
}

function send(message: FromWorker): void {
  if (process.connected) process.send?.(message);
}
