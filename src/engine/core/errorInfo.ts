import { LLMError } from '../../llm/core/errors.ts';
import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { Code, Reason } from '../../protocol/text/codes.ts';
import { type LocalizableText, messageOf, toErrorInfo, UserFacingError } from '../../protocol/text/localized.ts';
import { StoreError } from '../../runs/journal.ts';

/** Reason why a run cannot continue, as a sentence for the user. Thrown by dependencies of the engine. */
export class EngineError extends UserFacingError {
  override readonly name = 'EngineError';
  constructor(
    readonly code: Code,
    words: LocalizableText,
    readonly reason?: Reason,
  ) {
    super(words);
  }
}

export function toInfo(error: unknown): ErrorInfo {
  if (error instanceof LLMError) return error.toInfo(); // a model that cannot be called
  const code = error instanceof StoreError || error instanceof EngineError ? error.code : 'UNKNOWN';
  const reason = error instanceof EngineError && error.reason;
  return { code, ...toErrorInfo(messageOf(error)), ...(reason && { reason }) };
}
