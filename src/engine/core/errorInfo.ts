import { LLMError } from '../../llm/core/errors.ts';
import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { ErrorReason, TowpathErrorCode } from '../../protocol/text/codes.ts';
import { type LocalizableText, messageOf, toErrorInfo, UserFacingError } from '../../protocol/text/localized.ts';
import { StoreError } from '../../runs/journal.ts';

export class RunError extends UserFacingError {
  override readonly name = 'EngineError';
  constructor(
    readonly code: TowpathErrorCode,
    text: LocalizableText,
    readonly reason?: ErrorReason,
  ) {
    super(text);
  }
}

export function errorInfoOf(error: unknown): ErrorInfo {
  if (error instanceof LLMError) return error.toInfo(); // a model that cannot be called
  const code = error instanceof StoreError || error instanceof RunError ? error.code : 'UNKNOWN';
  const reason = error instanceof RunError && error.reason;
  return { code, ...toErrorInfo(messageOf(error)), ...(reason && { reason }) };
}
