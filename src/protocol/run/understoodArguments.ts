import type { ToolCall } from '../content/messages.ts';
import type { CorrectedArguments } from './events.ts';
import type { CallState } from './run.ts';

/** Returns the differences between the intended and the sent arguments; undefined: none. */
export function correctedArgumentsOf(
  sent: ToolCall['arguments'],
  meant: ToolCall['arguments'],
): CorrectedArguments | undefined {
  const changed = Object.entries(meant).filter(
    ([name, value]) => !Object.hasOwn(sent, name) || JSON.stringify(sent[name]) !== JSON.stringify(value),
  );
  const leftOut = Object.keys(sent).filter((name) => !Object.hasOwn(meant, name));
  if (changed.length === 0 && leftOut.length === 0) return undefined;
  return { arguments: Object.fromEntries(changed), ...(leftOut.length > 0 && { leftOut }) };
}

const calls = new WeakMap<ToolCall, { understood: CorrectedArguments; meant: ToolCall }>();

/**
 * Returns the call with corrected arguments, as it ran; the conversation retains the original. Returns the same object for the same state.
 */
export function callWithCorrectedArguments(
  call: ToolCall,
  { understood }: Pick<CallState, 'understood'> = {},
): ToolCall {
  if (!understood) return call;
  const known = calls.get(call);
  if (known?.understood === understood) return known.meant;
  const { arguments: changed, leftOut = [] } = understood;
  const whole = Object.entries({ ...call.arguments, ...changed });
  const meant = { ...call, arguments: Object.fromEntries(whole.filter(([name]) => !leftOut.includes(name))) };
  calls.set(call, { understood, meant });
  return meant;
}
