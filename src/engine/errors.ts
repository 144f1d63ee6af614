import { LLMError } from '../llm/errors.ts';
import type { Code, Reason } from '../protocol/codes.ts';
import type { ErrorInfo } from '../protocol/messages.ts';
import { StoreError } from '../runs/journal.ts';

/** Why a run cannot go on, as a sentence for the person; thrown by what the engine is given. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  constructor(
    readonly code: Code,
    message: string,
    readonly reason?: Reason,
  ) {
    super(message);
  }
}

/** What a run that cannot go on says, whatever was thrown. */
export function toInfo(error: unknown): ErrorInfo {
  if (error instanceof StoreError) return { code: error.code, message: error.message };
  if (error instanceof EngineError)
    return { code: error.code, message: error.message, ...(error.reason && { reason: error.reason }) };
  if (error instanceof LLMError) return error.toInfo(); // a model that cannot even be asked
  return { code: 'UNKNOWN', message: error instanceof Error ? error.message : String(error) };
}
