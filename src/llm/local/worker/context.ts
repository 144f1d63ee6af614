import { freemem } from 'node:os';
import type { Llama, LlamaContext, LlamaContextSequence, LlamaModel, Token } from 'node-llama-cpp';
import type { ModelLoadOptions } from '../ipc/ipc.ts';
import {
  contextSizeForTokens,
  initialContextTokens,
  maxContextSize,
  tokensWithReply,
} from '../modelFile/contextSize.ts';
import { readGgufInfo } from '../modelFile/ggufInfo.ts';
import { maxContextBytes, usableMemoryShare } from '../modelFile/memoryFit.ts';
import {
  bestInferenceContextShape,
  type DeviceMemoryBytes,
  type MemoryEstimator,
  maxContextTokens,
} from './contextPlan.ts';
import { PromptLookupTokenPredictor } from './promptLookup.ts';
import {
  type ContextResizeDependencies,
  type InferenceContextShape,
  ResizableContext,
  type SizedModelContext,
} from './resizableContext.ts';
import { SequenceStateCache } from './stateCache.ts';
import { sequenceStateIdentity } from './stateIdentity.ts';
import { removeSequenceStateLeftovers } from './stateTransfer.ts';

/** Limited by bytes, because the states of many small checkpoints are a fraction of that. */
const checkpoints = { max: 1024, maxMemory: 512 * 1024 ** 2 };

interface LoadedContext {
  llama: Llama;
  model: LlamaModel;
  version: string;
  free: number;
}

export type LlamaSequence = LlamaContextSequence;

export interface ContextWithStateCache {
  context: ResizableContext<Token, LlamaSequence>;
  keeper?: SequenceStateCache<Token, LlamaSequence>;
}

/** Creates the context of a loaded model in the size of the first prompt. Throws if the minimum does not fit the memory. */
export async function createInferenceContext(
  loaded: LoadedContext,
  options: ModelLoadOptions,
  reporting: Pick<ContextResizeDependencies<LlamaSequence>, 'send' | 'log'>,
): Promise<ContextWithStateCache> {
  const { model } = loaded;
  const info = readGgufInfo(options.modelPath);
  const { bytesPerToken = model.size / 32_768, originalContext = Number.POSITIVE_INFINITY } = info;
  const wanted = Math.min(maxContextSize(options.contextSize), model.trainContextSize);
  const budget = options.memory ?? maxContextBytes(model.size, loaded.free);
  const count = await sequencesFor(model, options, budget);
  let taken: DeviceMemoryBytes = { ram: 0, vram: 0 };
  const memory: MemoryEstimator = {
    budget,
    keepsAll: options.fullCache !== false && canKeepAll(loaded),
    needs: (shape) => bytesOf(model, shape, count),
    free: () => freeBytes(loaded),
    taken: () => taken,
  };
  const make = async (shape: InferenceContextShape, isFirst = false): Promise<SizedModelContext<LlamaSequence>> => {
    taken = { ram: 0, vram: 0 };
    const context = await makeContext(model, { threads: options.threads, sequences: count }, shape, isFirst);
    taken = context.memoryUsage;
    const looksUp = options.lookup !== false && canBeCut(model, shape);
    return toContext(context, shape, looksUp ? stepClock(loaded.llama) : undefined);
  };
  const most = await maxContextTokens(memory, wanted);
  const first = await begin(memory, contextSizeForTokens(tokensWithReply(options.first ?? 0), most), (shape) =>
    make(shape, true),
  );
  const isScaled = ({ size }: InferenceContextShape) => size > originalContext;
  const context = new ResizableContext<Token, LlamaSequence>(first, {
    ...reporting,
    make,
    shapeOf: (size, now) => bestInferenceContextShape(memory, size, now),
    most: first.size < contextSizeForTokens(0, most) ? first.size : most,
    areOfOneKind: (one, other) => one.fullCache === other.fullCache && isScaled(one) === isScaled(other),
    bytesPerToken,
    folder: options.keep?.folder,
  });
  await removeSequenceStateLeftovers(options.keep?.folder);
  if (!options.keep) return { context };
  const identity = identities(loaded, options.modelPath);
  const keeper = new SequenceStateCache<Token, LlamaSequence>({
    ...options.keep,
    identity: () => identity(context.shape.fullCache, isScaled(context.shape)),
    bytesPerToken,
    slots: context.slots,
    log: reporting.log,
  });
  context.onLoss = (seat) => keeper.forget(seat);
  return { context, keeper };
}

async function begin(
  memory: MemoryEstimator,
  size: number,
  make: (shape: InferenceContextShape) => Promise<SizedModelContext<LlamaSequence>>,
): Promise<SizedModelContext<LlamaSequence>> {
  const shape = await bestInferenceContextShape(memory, size);
  const least = { size: contextSizeForTokens(0, size), fullCache: false };
  try {
    return await make(shape ?? least);
  } catch (error) {
    if (!shape) throw error;
    return make(least);
  }
}

/**
 * Returns the number of runs in memory. With a state cache or a single run the answer is one: a restore takes a fiftieth of a prefill, one
 * run can use twice the memory, and a context for two generates a sixth slower.
 */
async function sequencesFor(model: LlamaModel, { keep, oneRun }: ModelLoadOptions, budget: number): Promise<number> {
  if (keep || oneRun) return 1;
  const { ram } = await bytesOf(model, { size: initialContextTokens, fullCache: false }, 2);
  return ram <= budget ? 2 : 1;
}

function makeContext(
  model: LlamaModel,
  options: { threads: number; sequences: number },
  { size, fullCache }: InferenceContextShape,
  isFirst: boolean,
) {
  return model.createContext({ ...options, contextSize: isFirst ? { max: size } : size, swaFullCache: fullCache });
}

function toContext(
  context: LlamaContext,
  shape: InferenceContextShape,
  clock: StepClock | undefined,
): SizedModelContext<LlamaSequence> {
  const sequenceOf = () =>
    context.getSequence({
      checkpoints,
      ...(clock && { tokenPredictor: new PromptLookupTokenPredictor<Token>(clock) }),
    });
  return {
    ...shape,
    size: context.contextSize,
    sequences: Array.from({ length: context.totalSequences }, sequenceOf),
    close: () => context.dispose(),
  };
}

/** Returns the milliseconds of a step's work. */
type StepClock = () => number;

/**
 * Returns the clock by which steps of one and of two tokens are compared: the time of the processors if they do the work, because on a busy
 * machine the elapsed time tells more about the other programs; else the elapsed time.
 */
function stepClock({ gpu }: Llama): StepClock {
  if (gpu !== false) return () => performance.now();
  return () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
}

/** Returns true if rejected draft tokens can be truncated. Other models would need a checkpoint at every token. */
function canBeCut({ fileInsights }: LlamaModel, { fullCache }: InferenceContextShape): boolean {
  const { swaSize, isRecurrent, isHybrid } = fileInsights;
  return !isRecurrent && !isHybrid && (swaSize === undefined || fullCache);
}

function canKeepAll({ llama, model }: LoadedContext): boolean {
  const { swaSize, isRecurrent, isHybrid } = model.fileInsights;
  return swaSize !== undefined && !isRecurrent && !isHybrid && llama.gpu === false;
}

async function bytesOf(
  model: LlamaModel,
  { size, fullCache }: InferenceContextShape,
  count: number,
): Promise<DeviceMemoryBytes> {
  const { cpuRam, gpuVram } = await model.fileInsights.estimateContextResourceRequirementsV2({
    contextSize: size,
    sequences: count,
    modelGpuLayers: model.gpuLayers,
    swaFullCache: fullCache,
  });
  return { ram: cpuRam, vram: gpuVram };
}

/** Returns the free bytes. Linux counts cached file pages (the needed weights) as free. */
async function freeBytes({ llama, model }: LoadedContext): Promise<DeviceMemoryBytes> {
  const weights = process.platform === 'linux' && llama.gpu === false ? model.size : 0;
  const vram = llama.gpu === false ? Number.POSITIVE_INFINITY : (await llama.getVramState()).free;
  return { ram: freemem() * usableMemoryShare - weights, vram };
}

/**
 * Returns the identities of states. The context size is excluded, because a state fits a larger context; that is how a context grows. Some
 * models encode positions differently beyond their original training context.
 */
function identities({ llama, model, version }: LoadedContext, modelPath: string) {
  const made = new Map<string, Promise<string>>();
  return (fullCache: boolean, isScaled: boolean): Promise<string> => {
    const { defaultContextFlashAttention, defaultContextKvCacheKeyType, defaultContextKvCacheValueType } = model;
    const kind = {
      engine: [version, llama.llamaCppRelease, llama.buildType, llama.gpu, process.arch],
      context: [
        defaultContextFlashAttention,
        defaultContextKvCacheKeyType,
        defaultContextKvCacheValueType,
        fullCache,
        isScaled,
      ],
    };
    const name = JSON.stringify(kind);
    const known = made.get(name) ?? sequenceStateIdentity(modelPath, kind);
    made.set(name, known);
    return known;
  };
}
