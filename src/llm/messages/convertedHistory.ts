import type { NormalizedHistory, NormalizedMessage } from './normalizeHistory.ts';

/**
 * Conversion of a history to wire messages, one message after the other. `add` must not modify a wire message that an earlier call has
 * added: a merge replaces it, because `copyOf` is shallow.
 */
interface HistoryConversion<State, Flags> {
  begin(prompt: string, flags: Flags): State;
  add(state: State, message: NormalizedMessage, flags: Flags): void;
  copyOf(state: State): State;
}

interface Converted<State> {
  prompt: string;
  upTo: number;
  state: State;
}

/**
 * Creates a function that converts histories and converts the settled messages of a growing conversation once. The converted messages of a
 * later request are the same objects, so that their JSON text can be cached by object. Flags must not be modified.
 */
export function createHistoryConverter<State, Flags extends object>({
  begin,
  add,
  copyOf,
}: HistoryConversion<State, Flags>): (history: NormalizedHistory, flags: Flags, prompt?: string) => State {
  const known = new WeakMap<Flags, WeakMap<NormalizedHistory['settled'], Converted<State>>>();
  return ({ settled, open }, flags, prompt = '') => {
    const ofFlags = known.get(flags) ?? new WeakMap<NormalizedHistory['settled'], Converted<State>>();
    known.set(flags, ofFlags);
    let converted = ofFlags.get(settled);
    if (converted?.prompt !== prompt) converted = { prompt, upTo: 0, state: begin(prompt, flags) };
    ofFlags.set(settled, converted);
    for (; converted.upTo < settled.length; converted.upTo++) add(converted.state, settled[converted.upTo]!, flags);
    const state = copyOf(converted.state);
    for (const message of open) add(state, message, flags);
    return state;
  };
}
