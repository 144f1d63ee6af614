import type { EventBody } from '../../protocol/run/events.ts';
import type { RunLog } from '../core/runLog.ts';

/** What has a run in this window: its work, from before its record is open until that is closed. */
export interface Holding {
  log?: RunLog;
  /** What befell the run's commands before its record was open. */
  notes: EventBody[];
  ended: boolean;
  closed: Promise<void>;
}

interface Runs<Held extends Holding> {
  active: Map<string, Held>;
  /** One without work, until `closed` resolves: who goes on with the run waits for it. */
  hold(closed: Promise<void>): Held;
  open(runId: string): Promise<RunLog>;
}

/** The record is open: what came before is in it. */
export function attach(held: Holding, log: RunLog): void {
  held.log = log;
  for (const one of held.notes.splice(0)) log.emit(one).catch(() => {});
}

/**
 * Records what befell a command of a run, or what the person says about it, which can be at any moment: with the run's work, or
 * between its turns. Never rejects: resolves to why it could not be recorded, because another window has the run or its record fails.
 * What befell a command is then found out when the run is gone on with.
 */
export async function recordOutOfTurn<Held extends Holding>(
  runs: Runs<Held>,
  runId: string,
  body: EventBody,
): Promise<unknown> {
  const { active } = runs;
  const held = active.get(runId);
  if (held && !held.ended) {
    if (!held.log) return void held.notes.push(body);
    if (await held.log.emit(body).then(isDone, isNotDone)) return undefined;
  }
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

async function write<Held extends Holding>({ open }: Runs<Held>, runId: string, body: EventBody): Promise<void> {
  const log = await open(runId);
  try {
    await log.emit(body);
  } finally {
    await log.end().catch(() => {}); // what could not be kept has been said
  }
}

const isDone = () => true;
const isNotDone = () => false;
