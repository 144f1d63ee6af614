import { localizedCount, message, withDigitGrouping } from '../../../protocol/text/l10n.ts';
import { joinLocalizableTexts, messageOf, toErrorInfo } from '../../../protocol/text/localized.ts';
import { type ExtensionBuildInfo, thisMachine, unavailableEngineReason } from '../engineInstall/missingEngine.ts';
import type { WorkerFailure } from './ipc.ts';

export class MissingEngineError extends Error {}

interface EngineFacts {
  shipped?: ExtensionBuildInfo;
  isInstalled?: boolean;
}

/**
 * Error of a prompt that exceeds the context beside a reply. `message`: tokens of the user's newest message; `fixed`: tokens independent of
 * the messages; `canGrow`: true if the settings limit the size, not the model or memory.
 */
export class PromptTooLongError extends Error {
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

export function toWorkerFailure(error: unknown): WorkerFailure {
  if (error instanceof PromptTooLongError) return tooLong(error.tokens);
  return {
    code: 'UNKNOWN',
    ...toErrorInfo(message('The local model failed: {0} Send a message to try again.', messageOf(error))),
  };
}

function tooLong({
  prompt,
  message: messageTokens,
  fixed,
  contextSize,
  canGrow,
  reserved,
  cut,
}: PromptTooLongError['tokens']): WorkerFailure {
  const details = { promptTokens: prompt, contextSize, window: contextSize };
  const code = 'LLM_CONTEXT_OVERFLOW';
  const has = message(
    'the local model has space for {0}, {1} of them reserved for its answer',
    withDigitGrouping(contextSize),
    withDigitGrouping(reserved),
  );
  if (fixed + reserved > contextSize) {
    const alone = message(
      'The instructions and tools alone are {0} long, and {1}.',
      localizedCount(fixed, 'token'),
      has,
    );
    const wayOut = canGrow
      ? message('Give the model a larger context size in the settings.')
      : message('Pick a model with a larger context window.');
    return { code, ...toErrorInfo(joinLocalizableTexts([alone, wayOut])), details };
  }
  const wayOut = canGrow
    ? message('give the model a larger context size in the settings')
    : message('pick a model with a larger context window');
  const tokensLeft = contextSize - reserved - (prompt - messageTokens);
  if (messageTokens > tokensLeft && messageTokens * 2 > prompt) {
    const text = message(
      'Your message is {0} long, and the local model has space for {1} besides its instructions, its tools and the conversation. Send a shorter one, put the text into a file, or {2}.',
      localizedCount(messageTokens, 'token'),
      withDigitGrouping(Math.max(0, tokensLeft)),
      wayOut,
    );
    return { code, ...toErrorInfo(text), details: { ...details, messageTokens, room: tokensLeft } };
  }
  const long = localizedCount(prompt, 'token');
  const text =
    cut > 0
      ? message(
          'This conversation is {0} long, although long tool results were truncated, and {1}. Start a new run, or {2}.',
          long,
          has,
          wayOut,
        )
      : message('This conversation is {0} long and {1}. Start a new run, or {2}.', long, has, wayOut);
  return { code, ...toErrorInfo(text), details };
}

export function toLoadFailure(error: unknown, modelPath: string, engine: EngineFacts = {}): WorkerFailure {
  const details = { path: modelPath, cause: thrownText(error) };
  const name = error instanceof Error ? error.constructor.name : '';
  if (name === 'NoBinaryFoundError' || error instanceof MissingEngineError)
    return {
      code: 'UNKNOWN',
      reason: 'unusable-model',
      ...toErrorInfo(
        unavailableEngineReason(
          thisMachine(),
          engine.shipped,
          Boolean(engine.isInstalled) && !(error instanceof MissingEngineError),
        ),
      ),
      details,
    };
  if (name === 'InsufficientMemoryError' || /memory|VRAM/i.test(details.cause))
    return {
      code: 'UNKNOWN',
      reason: 'unusable-model',
      ...toErrorInfo(
        message(
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
      message(
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
