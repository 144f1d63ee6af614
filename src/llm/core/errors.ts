import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { ErrorReason, LLMErrorCode } from '../../protocol/text/codes.ts';
import {
  type LocalizableText,
  storedLocalizableText,
  toErrorInfo,
  UserFacingError,
} from '../../protocol/text/localized.ts';

export type Retryability = boolean | 'once';

interface LLMErrorOptions {
  /** Possible retry of the same request; `once`: a mistake of the model that is likely to repeat. */
  retryable?: Retryability;
  retryAfterMs?: number;
  status?: number;
  reason?: ErrorReason;
  details?: unknown;
  cause?: unknown;
}

/** The only error of a client besides the signal's reason. Its message names the provider and a solution. */
export class LLMError extends UserFacingError {
  override readonly name = 'LLMError';
  readonly code: LLMErrorCode;
  readonly retryable: Retryability;
  readonly retryAfterMs?: number;
  readonly status?: number;
  readonly reason?: ErrorReason;
  readonly details?: unknown;

  constructor(code: LLMErrorCode, text: LocalizableText, options: LLMErrorOptions = {}) {
    super(text, { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
    this.reason = options.reason;
    this.details = options.details;
  }

  toInfo(): ErrorInfo {
    const details = this.details ?? (this.status === undefined ? undefined : { status: this.status });
    return {
      code: this.code,
      ...toErrorInfo(storedLocalizableText(this)),
      ...(this.reason && { reason: this.reason }),
      ...(details !== undefined && { details }),
    };
  }
}
