import { LLMError } from '../../llm/core/errors.ts';
import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { Code, Reason } from '../../protocol/text/codes.ts';
import { type LocalizableText, messageOf, toErrorInfo, UserFacingError } from '../../protocol/text/localized.ts';
import { StoreError } from '../../runs/journal.ts';

/** Why a run cannot go on, as a sentence for the person; thrown by what the engine is given. */
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

/** What a run that cannot go on says, whatever was thrown. */
export function toInfo(error: unknown): ErrorInfo {
  if (error instanceof LLMError) return error.toInfo(); // a model that cannot even be asked
  const code = error instanceof StoreError || error instanceof EngineError ? error.code : 'UNKNOWN';
  const reason = error instanceof EngineError && error.reason;
  return { code, ...toErrorInfo(messageOf(error)), ...(reason && { reason }) };
}
