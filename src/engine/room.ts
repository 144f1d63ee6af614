import type { Message } from '../protocol/messages.ts';
import { tokensOfSent } from './sent.ts';
import { type Conversing, summarise } from './summary.ts';
import { tokensOfMessages, tokensOfPrefix, tokensOfRun } from './tokens.ts';

export interface Room extends Conversing {
  /** Tokens that the model keeps in view, when known. */
  contextWindow?: number;
}

/** Parts of the window. It is emptied late and by much, because what follows has to be read anew. */
const full = 0.85;
const wanted = 0.5;
const lastTurns = 0.25;
const worthIt = 0.1;

/**
 * Leaves out what fills the model's window: old tool output is shortened first, then the oldest turns are summarised;
 * the task, the newest request and the last turns stay. `overflowed`: the provider has said that it is full. Resolves to
 * whether less will be sent now.
 */
export async function makeRoom(room: Room, why: 'nearly full' | 'overflowed'): Promise<boolean> {
  const { run, prefix, emit, contextWindow } = room;
  const estimate = tokensOfPrefix(prefix) + tokensOfSent(run);
  const counted = tokensOfRun(run, estimate);
  const now = why === 'overflowed' ? Math.max(counted, estimate) : counted;
  const window = why === 'overflowed' ? Math.min(contextWindow ?? now, now) : contextWindow;
  if (!window || (why === 'nearly full' && now + (prefix.maxTokens ?? 0) <= window * full)) return false;

  // Our estimate, corrected by what the provider has counted.
  const scale = Math.max(1, now / estimate);
  const after = (upTo: number, summary?: string): number => {
    const compactions = [...run.compactions, { upTo, summary, at: 0 }];
    return scale * (tokensOfPrefix(prefix) + tokensOfSent({ messages: run.messages, compactions }));
  };
  const border = borderOfLast(run.messages, (window * lastTurns) / scale);
  if (after(border) <= window * wanted) {
    await emit({ type: 'compaction', upTo: border });
    return true;
  }
  let freed = false;
  if (now - after(border, '') > window * worthIt) {
    const summary = await summarise(room, border, Math.floor((window * wanted) / scale));
    if (summary === undefined) return false;
    await emit({ type: 'compaction', upTo: border, summary });
    freed = true;
  }
  if (after(border) > window * full && after(run.messages.length) < after(border)) {
    await emit({ type: 'compaction', upTo: run.messages.length }); // the last turns alone are too much
    freed = true;
  }
  return freed;
}

/** Where the last turns begin that fit into `budget` tokens: never between calls and their results; one turn at least. */
function borderOfLast(messages: readonly Message[], budget: number): number {
  let border = messages.length;
  let tokens = 0;
  for (let at = messages.length - 1; at >= 0; at--) {
    tokens += tokensOfMessages([messages[at]!]);
    if (tokens > budget && border < messages.length) break;
    if (messages[at]!.role !== 'tool') border = at;
  }
  return border;
}
