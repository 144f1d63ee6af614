import type { StoredEvent } from '../protocol/run/events.ts';
import { applyEvent } from '../protocol/run/fold.ts';
import { isConversationEventType } from '../protocol/run/isConversation.ts';
import { pendingCalls } from '../protocol/run/pending.ts';
import { type Corruption, newRun, type Run } from '../protocol/run/run.ts';
import { type LocalizedMessage, localizedCount, message } from '../protocol/text/l10n.ts';
import { joinLocalizableTexts, toStoredText } from '../protocol/text/localized.ts';
import { isJournalGap, type JournalContents, type JournalEntry } from './readJournal.ts';

type Mended = Extract<StoredEvent, { type: 'mended' }>;

/**
 * Folds a journal of previously `bytes` bytes. Messages after a loss are stored separately in `damage`. Calls after a loss count normally,
 * so that undo includes these calls and no call is repeated.
 */
export function foldJournal(id: string, { entries, wounds, newer, size }: JournalContents, bytes = 0): Run {
  const run = newRun(id);
  const mends = entries.flatMap(({ event }) => (event?.type === 'mended' ? [event] : []));
  const mended = new Set(mends.flatMap(({ places }) => places));
  const fresh = wounds.filter(({ at }) => !mended.has(at));
  if (bytes > size && fresh.length === 0 && !mended.has(bytes))
    fresh.push({ at: bytes, line: 0, text: missing(bytes, size), loses: true });
  const isMended = (before: JournalEntry | undefined, { seq }: JournalEntry) =>
    mends.some(({ from, to }) => from <= (before?.seq ?? 0) && seq <= to);
  const gap = entries.findIndex((entry, index) => {
    const before = entries[index - 1];
    return isJournalGap(before, entry, wounds) && !isMended(before, entry);
  });
  const whole = gap < 0 ? entries.length : gap;
  for (const { event, seq } of entries.slice(0, whole)) {
    for (const one of mends) if (one.from < seq) corruptionOf(run, one);
    const mend = mends.find(({ from, to }) => from < seq && seq <= to);
    if (!event) run.seq = seq;
    else if (mend) applyApart(run, corruptionOf(run, mend), event);
    else applyEvent(run, event);
  }
  const last = entries.at(-1)?.seq ?? 0;
  if (fresh.length > 0 || gap >= 0) {
    const from = entries[whole - 1]?.seq ?? 0;
    const open = { to: last, places: fresh.map(({ at }) => at).slice(0, maxPositions) };
    const damage: Corruption = { from, at: run.messages.length, ...summaryOf(fresh), messages: [], open };
    run.damage = [...(run.damage ?? []), damage];
    for (const { event } of entries.slice(whole)) if (event) applyApart(run, damage, event);
  }
  run.seq = Math.max(run.seq, last);
  if (newer) run.readOnly = newer;
  return run;
}

const maxPositions = 1000;
const maxSentences = 8;

const missing = (had: number, has: number) => message('a part is missing (it had {0} bytes, and has {1})', had, has);

function summaryOf(wounds: readonly { text: LocalizedMessage }[]): { text: string; said?: LocalizedMessage } {
  const texts = wounds.slice(0, maxSentences).map(({ text }) => text);
  const more = wounds.length - texts.length;
  const others = more > 0 ? [localizedCount(more, 'more location is damaged', 'more locations are damaged')] : [];
  return toStoredText(joinLocalizableTexts([...texts, ...others], '; '));
}

function corruptionOf(run: Run, { from, damage: text, said }: Mended): Corruption {
  const known = run.damage?.find((one) => one.from === from);
  if (known) return known;
  const damage: Corruption = { from, at: run.messages.length, text, ...(said && { said }), messages: [] };
  run.damage = [...(run.damage ?? []), damage];
  return damage;
}

function applyApart(run: Run, damage: Corruption, event: StoredEvent): void {
  if (event.type === 'message') {
    if (event.branch !== undefined || isAnswer(run, event.message)) applyEvent(run, event);
    else damage.messages.push(event.message);
  } else if (!isConversationEventType(event.type)) applyEvent(run, event);
  run.seq = Math.max(run.seq, event.seq);
  run.updatedAt = event.at;
  if (event.type === 'usage') run.contextTokens = 0; // belongs to another conversation
}

function isAnswer(run: Run, message: Run['messages'][number]): boolean {
  if (message.role !== 'tool') return false;
  const pending = new Set(pendingCalls(run.messages).map(({ id }) => id));
  return message.toolResults.length > 0 && message.toolResults.every(({ toolCallId }) => pending.has(toolCallId));
}
