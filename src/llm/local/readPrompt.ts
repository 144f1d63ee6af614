import type { Tell } from './ipc.ts';

/** Tokens evaluated between two looks at Stop, and how long that should take. More at once is hardly faster. */
const slices = { least: 32, first: 128, most: 512, ms: 80 };

/** The part of node-llama-cpp's context sequence that is needed here. */
interface Sequence<Token> {
  readonly nextTokenIndex: number;
  adaptStateToTokens(tokens: Token[], allowShift: boolean): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: Token[]): Promise<unknown>;
}

/**
 * Evaluates what is new of the prompt, in slices: the engine itself would not look up before it has read everything.
 * Returns the number of tokens that were there already.
 */
export async function readPrompt<Token>(
  sequence: Sequence<Token>,
  prompt: Token[],
  tell: Tell,
  signal: AbortSignal,
): Promise<number> {
  const end = prompt.length - 1; // the last one is evaluated with the reply
  await sequence.adaptStateToTokens(prompt.slice(0, end), false);
  const cached = sequence.nextTokenIndex;
  const startedAt = performance.now();
  let slice = slices.first;
  for (let at = cached; at < end; ) {
    signal.throwIfAborted();
    const sliceAt = performance.now();
    const ms = Math.round(sliceAt - startedAt);
    if (end - cached > slices.first) tell({ type: 'reading', tokens: at - cached, total: end - cached, ms });
    const part = prompt.slice(at, Math.min(at + slice, end));
    await sequence.evaluateWithoutGeneratingNewTokens(part);
    at += part.length;
    const fitting = Math.floor((slice * slices.ms) / Math.max(1, performance.now() - sliceAt));
    slice = Math.min(slices.most, Math.max(slices.least, fitting));
  }
  signal.throwIfAborted();
  return cached;
}
