import type { ErrorInfo } from '../protocol/messages.ts';

export type LLMErrorCode =
  | 'LLM_AUTH_FAILED'
  | 'LLM_TIMEOUT'
  | 'LLM_RATE_LIMITED'
  | 'LLM_HTTP_ERROR'
  | 'LLM_BAD_RESPONSE'
  | 'LLM_INCOMPLETE'
  | 'LLM_CONTEXT_OVERFLOW'
  | 'LLM_CONTENT_FILTERED'
  | 'UNKNOWN';

export type Retryable = boolean | 'once';

export interface LLMErrorOptions {
  /** The same request may work when sent again; `once`: it was the model's slip, and another time it is likely to be so again. */
  retryable?: Retryable;
  /** What the provider asked to wait, in milliseconds. */
  retryAfterMs?: number;
  status?: number;
  details?: unknown;
  cause?: unknown;
}

/** The only thing a client throws besides the reason it was stopped with. Messages name the provider and the way out. */
export class LLMError extends Error {
  override readonly name = 'LLMError';
  readonly code: LLMErrorCode;
  readonly retryable: Retryable;
  readonly retryAfterMs?: number;
  readonly status?: number;
  readonly details?: unknown;

  constructor(code: LLMErrorCode, message: string, options: LLMErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
    this.details = options.details;
  }

  toInfo(): ErrorInfo {
    const details = this.details ?? (this.status === undefined ? undefined : { status: this.status });
    return { code: this.code, message: this.message, ...(details !== undefined && { details }) };
  }
}
