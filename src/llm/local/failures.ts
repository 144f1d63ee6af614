import { counted, inNumber } from '../../protocol/counted.ts';
import type { Failure } from './ipc.ts';
import { type Shipped, thisMachine, withoutEngine } from './noEngine.ts';

/** The engine's library, or a part of it, is not where it belongs. */
export class NoEngine extends Error {}

export interface EngineFacts {
  shipped?: Shipped;
  /** The engine for this machine has its files. */
  isThere?: boolean;
}

/**
 * More tokens than the window holds beside a reply. `message`: those of the person's newest message alone; `fixed`: those
 * that are there whatever is said; `canGrow`: whether the settings, and not the model or the memory, say how large it is.
 */
export class PromptTooLong extends Error {
  constructor(
    readonly tokens: {
      prompt: number;
      message: number;
      fixed: number;
      contextSize: number;
      canGrow: boolean;
      reserved: number;
      cut: number;
    },
  ) {
    super('prompt too long');
  }
}

/** Why a reply could not be written. */
export function toFailure(error: unknown): Failure {
  if (error instanceof PromptTooLong) return tooLong(error.tokens);
  return {
    code: 'UNKNOWN',
    message: `The local model failed: ${messageOf(error)} Send a message to try again.`,
  };
}

function tooLong({ prompt, message, fixed, contextSize, canGrow, reserved, cut }: PromptTooLong['tokens']): Failure {
  const details = { promptTokens: prompt, contextSize, window: contextSize };
  const code = 'LLM_CONTEXT_OVERFLOW';
  const has = `the local model has room for ${inNumber(contextSize)}, ${inNumber(reserved)} of them kept for its reply`;
  const wayOut = canGrow
    ? 'give the model a larger context size in the settings'
    : 'pick a model that keeps more in view';
  if (fixed + reserved > contextSize) {
    const alone = `The instructions and tools alone are ${counted(fixed, 'token')} long, and ${has}.`;
    return { code, message: `${alone} ${wayOut[0]!.toUpperCase()}${wayOut.slice(1)}.`, details };
  }
  const room = contextSize - reserved - (prompt - message);
  if (message > room && message * 2 > prompt)
    return {
      code,
      message: `Your message is ${counted(message, 'token')} long, and the local model has room for ${inNumber(Math.max(0, room))} beside its instructions, its tools and what was said before. Send a shorter one, put the text into a file, or ${wayOut}.`,
      details: { ...details, messageTokens: message, room },
    };
  const shortened = cut > 0 ? ', although long tool results were cut,' : '';
  return {
    code,
    message: `This conversation is ${counted(prompt, 'token')} long${shortened} and ${has}. Start a new run, or ${wayOut}.`,
    details,
  };
}

/** Why a model could not be loaded. */
export function toLoadFailure(error: unknown, modelPath: string, engine: EngineFacts = {}): Failure {
  const details = { path: modelPath, cause: messageOf(error) };
  const name = error instanceof Error ? error.constructor.name : '';
  if (name === 'NoBinaryFoundError' || error instanceof NoEngine)
    return {
      code: 'UNKNOWN',
      reason: 'unusable-model',
      message: withoutEngine(thisMachine(), engine.shipped, Boolean(engine.isThere) && !(error instanceof NoEngine)),
      details,
    };
  if (name === 'InsufficientMemoryError' || /memory|VRAM/i.test(details.cause))
    return {
      code: 'UNKNOWN',
      reason: 'unusable-model',
      message: `There is not enough free memory for ${modelPath}. Choose a smaller model or a smaller context size, or close other programs.`,
      details,
    };
  return {
    code: 'UNKNOWN',
    reason: 'unusable-model',
    message: `${modelPath} could not be loaded: the file is damaged, cut off, or of a kind this engine does not know. Download it again or choose another .gguf file.`,
    details,
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
