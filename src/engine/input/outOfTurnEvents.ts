import type { RunEventBody } from '../../protocol/run/events.ts';
import type { RunLog } from '../core/runLog.ts';

/** `notes`: events that wait for the log. `earlier`: work that must end before the log opens; its own log may be open. */
export interface RunLogHolder {
  log?: RunLog;
  earlier?: RunLogHolder | undefined;
  notes: { body: RunEventBody; recorded(isRecorded: boolean): void }[];
  ended: boolean;
  closed: Promise<void>;
}

interface Runs<Held extends RunLogHolder> {
  active: Map<string, Held>;
  hold(closed: Promise<void>): Held;
  open(runId: string): Promise<RunLog>;
}

export function attachRunLog(held: RunLogHolder, log: RunLog): void {
  held.log = log;
  for (const { body, recorded } of held.notes.splice(0)) void isEmitted(log, body).then(recorded);
}

/**
 * Records an event outside of a turn: ends of commands, or metadata set by the user. Never rejects; resolves to the error if another window
 * has the run or the record fails. Unrecorded ends of commands are detected at the next continuation.
 */
export async function recordOutOfTurn<Held extends RunLogHolder>(
  runs: Runs<Held>,
  runId: string,
  body: RunEventBody,
): Promise<unknown> {
  const { active } = runs;
  const held = active.get(runId);
  if (held && !held.ended && (await isRecordedBy(held, body))) return undefined;
  await held?.closed;
  const now = active.get(runId);
  if (now && now !== held) return recordOutOfTurn(runs, runId, body);
  let failure: unknown;
  const writing = write(runs, runId, body).catch((error) => {
    failure = error;
  });
  const holding = runs.hold(
    writing.finally(() => {
      if (active.get(runId) === holding) active.delete(runId);
    }),
  );
  active.set(runId, holding);
  await holding.closed;
  return failure;
}

async function write<Held extends RunLogHolder>(
  { open }: Runs<Held>,
  runId: string,
  body: RunEventBody,
): Promise<void> {
  const log = await open(runId);
  try {
    await log.emit(body);
  } finally {
    await log.end().catch(() => {}); // the failure was reported
  }
}

const isEmitted = (log: RunLog, body: RunEventBody): Promise<boolean> =>
  log.emit(body).then(
    () => true,
    () => false,
  );

/** Resolves to false if no log opens, or none can be written. Earlier work may wait for the event, so that its log comes first. */
async function isRecordedBy(held: RunLogHolder, body: RunEventBody): Promise<boolean> {
  const { earlier } = held;
  if (!held.log && earlier && !earlier.ended && (await isRecordedBy(earlier, body))) return true;
  if (held.log) return isEmitted(held.log, body);
  return new Promise((resolve) => {
    held.notes.push({ body, recorded: resolve });
    void held.closed.then(() => resolve(false));
  });
}
