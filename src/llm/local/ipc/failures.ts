import { amount, grouped, sentence } from '../../../protocol/text/l10n.ts';
import { joined, toErrorInfo, wordsOf } from '../../../protocol/text/localized.ts';
import { type Shipped, thisMachine, withoutEngine } from '../engineInstall/missingEngine.ts';
import type { Failure } from './ipc.ts';

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
    ...toErrorInfo(sentence('The local model failed: {0} Send a message to try again.', wordsOf(error))),
  };
}

function tooLong({ prompt, message, fixed, contextSize, canGrow, reserved, cut }: PromptTooLong['tokens']): Failure {
  const details = { promptTokens: prompt, contextSize, window: contextSize };
  const code = 'LLM_CONTEXT_OVERFLOW';
  const has = sentence(
    'the local model has space for {0}, {1} of them reserved for its answer',
    grouped(contextSize),
    grouped(reserved),
  );
  if (fixed + reserved > contextSize) {
    const alone = sentence('The instructions and tools alone are {0} long, and {1}.', amount(fixed, 'token'), has);
    const wayOut = canGrow
      ? sentence('Give the model a larger context size in the settings.')
      : sentence('Pick a model with a larger context window.');
    return { code, ...toErrorInfo(joined([alone, wayOut])), details };
  }
  const wayOut = canGrow
    ? sentence('give the model a larger context size in the settings')
    : sentence('pick a model with a larger context window');
  const room = contextSize - reserved - (prompt - message);
  if (message > room && message * 2 > prompt) {
    const words = sentence(
      'Your message is {0} long, and the local model has space for {1} besides its instructions, its tools and the conversation. Send a shorter one, put the text into a file, or {2}.',
      amount(message, 'token'),
      grouped(Math.max(0, room)),
      wayOut,
    );
    return { code, ...toErrorInfo(words), details: { ...details, messageTokens: message, room } };
  }
  const long = amount(prompt, 'token');
  const words =
    cut > 0
      ? sentence(
          'This conversation is {0} long, although long tool results were truncated, and {1}. Start a new run, or {2}.',
          long,
          has,
          wayOut,
        )
      : sentence('This conversation is {0} long and {1}. Start a new run, or {2}.', long, has, wayOut);
  return { code, ...toErrorInfo(words), details };
}

/** Why a model could not be loaded. */
export function toLoadFailure(error: unknown, modelPath: string, engine: EngineFacts = {}): Failure {
  const details = { path: modelPath, cause: thrownText(error) };
  const name = error instanceof Error ? error.constructor.name : '';
  if (name === 'NoBinaryFoundError' || error instanceof NoEngine)
    return {
      code: 'UNKNOWN',
      reason: 'unusable-model',
      ...toErrorInfo(
        withoutEngine(thisMachine(), engine.shipped, Boolean(engine.isThere) && !(error instanceof NoEngine)),
      ),
      details,
    };
  if (name === 'InsufficientMemoryError' || /memory|VRAM/i.test(details.cause))
    return {
      code: 'UNKNOWN',
      reason: 'unusable-model',
      ...toErrorInfo(
        sentence(
          'There is not enough free memory for {0}. Choose a smaller model or a smaller context size, or close other programs.',
          modelPath,
        ),
      ),
      details,
    };
  return {
    code: 'UNKNOWN',
    reason: 'unusable-model',
    ...toErrorInfo(
      sentence(
        '{0} could not be loaded: the file is damaged, cut off, or of an unsupported type. Download it again or select another .gguf file.',
        modelPath,
      ),
    ),
    details,
  };
}

function thrownText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
