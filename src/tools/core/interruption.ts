import { ToolError } from './tool.ts';

/** Throws the failure of a call that a stop ended before it had an effect. */
export function throwInterrupted(): never {
  throw new ToolError('TOOL_INTERRUPTED', 'Stopped before it ran.');
}

export function throwIfInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throwInterrupted();
}
