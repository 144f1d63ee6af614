import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { RunEvent, StoredEvent } from '../../src/protocol/run/events.ts';
import { applyEvent, isStoredEvent } from '../../src/protocol/run/fold.ts';
import { callsToContinue, pendingApprovalIds, pendingCalls } from '../../src/protocol/run/pending.ts';
import { newRun, type Run } from '../../src/protocol/run/run.ts';
import { RunStore } from '../../src/runs/store.ts';
import type { Blow, Case } from './case.ts';
import {
  initialFiles,
  lastWords,
  type Step,
  type StepState,
  stateOf,
  stepOf,
  steps,
  type Told,
  toldIn,
  toldOf,
} from './script.ts';
import { otherRun, type Report } from './window.ts';

const hour = 60 * 60 * 1000;

/** What must hold whenever a window dies, in the order of the table's columns. */
export const invariants = {
  K1: 'every event that was told is in the record, and nobody else’s record changed',
  K2: 'no effect happens twice',
  K3: 'no effect without an approval and a tool-start in the record before it',
  K4: 'a call that provably ran is told as done, one that provably did not is not told as done or unknown, any other as unknown',
  K5: 'every call has exactly one result before the model is asked again',
  asked: 'what waited for an approval is asked again, and the model is not asked before it is answered',
  K6: 'in the end the files are as after a run that nobody killed, but for what was told as unknown',
  torn: 'no file is ever empty or half written',
  said: 'what waits is given once, in the words that it has then; what was taken back is never given',
  undo: 'Undo of the run gives every file back as it was',
  compared: 'everything that a command changed is on record, or named as lost',
  sameTime: 'what is compared after a kill may be somebody else’s, and says so',
  bytes: 'every byte from before a command is in its file after Undo, or is stored and named',
  reasons: 'Undo finishes what a killed one began: it reports no file as left, and offers none again',
  left: 'nothing of a killed window stays behind, in the store or beside the files',
  believed: 'nothing is read from a damaged record, or from what a local model has kept, that was not written',
  unsaid: 'the list and the opened run say that the record is damaged',
  end: 'a window that was not killed comes to a stop that is told, and says so when its store fails',
} as const;
export type Invariant = keyof typeof invariants;

export interface Breach {
  invariant: Invariant;
  what: string;
}

/** A window in which the run has come to its end. */
export interface Resting {
  run(): Promise<Run | undefined>;
  undo(): Promise<object>;
  /** Calls that can still be undone. */
  undoable?(): Promise<string[]>;
}

/** Sees a case from outside: what its windows said, and what stands on disk between them. */
export class Witness {
  readonly breaches: Breach[] = [];
  readonly harmed: string[] = [];
  private readonly told: StoredEvent[] = [];
  /** Steps of which nothing can be said any more: their record went with the store. */
  private readonly excused = new Set<string>();
  /** What must be told of the calls that a kill left open. */
  private readonly owed = new Map<string, Told>();
  private states: Map<string, StepState>;
  /** Runs that were there before, and what their records hold. */
  private readonly others: string[];
  private readonly other: string;

  constructor(
    private readonly folder: string,
    private readonly one: Pick<Case, 'job'>,
  ) {
    this.states = this.look();
    this.others = one.job === 'undo' ? [otherRun] : this.runIds();
    this.other = this.otherRecord();
  }

  /** Right after a window is gone, before the next one is there. */
  async afterBlow(reports: Report[], blow: Blow): Promise<void> {
    this.hear(reports);
    const record = this.record();
    const isGone = 'how' in blow && blow.how === 'gone';
    if (!isGone) this.checkTold(record);
    const known = isGone ? [...eventsBeforeHarm(reports), ...record] : record;
    if (this.one.job !== 'undo') this.checkEffects(known, reports);
    this.checkEnd(reports, blow);
    this.states = this.look();
    for (const [name, state] of this.states) if (state === 'torn') this.breach('torn', `${name} after the kill`);
    if (isGone) {
      this.told.length = 0; // with the store all of it is gone
      for (const { name } of steps) this.excused.add(name);
    } else this.owe(record);
  }

  /** When the last window has brought it to its end. */
  async atRest(window: Resting, reports: Report[]): Promise<void> {
    this.hear(reports);
    const record = this.record();
    this.checkTold(record);
    for (const what of saidWrong(record)) this.breach('said', what);
    if (this.one.job !== 'undo') {
      this.checkEffects(record, reports);
      this.states = this.look();
      await this.checkRun(window);
      const undone = await window.undo().catch((error: Error) => ({ code: error.message }));
      if ('code' in undone) this.breach('undo', undone.code);
      else this.checkReasons(undone);
    }
    for (const report of reports) if ('ended' in report) this.checkReasons(report.ended);
    if (this.excused.size === 0 && (await window.undoable?.())?.length) this.breach('reasons', 'it is offered again');
    this.checkUndone();
    await new RunStore(path.join(this.folder, 'store'), () => Date.now() + 2 * hour).sweep(); // as a window on another day does
    this.checkLeftovers();
    if (this.excused.size === 0 && this.otherRecord() !== this.other)
      this.breach('K1', 'the record of the other run changed');
  }

  /** Of these calls a result was sent to the model. */
  mustHaveResults(callIds: ReadonlySet<string>): void {
    const kept = new Set(
      this.record().flatMap((event) =>
        event.type === 'message' && event.message.role === 'tool'
          ? event.message.toolResults.map(({ toolCallId }) => toolCallId)
          : [],
      ),
    );
    for (const id of callIds) if (!kept.has(id)) this.breach('K1', `the result of ${stepOf(id)?.name} is lost`);
  }

  /** All that can be undone is as it was before the run. */
  isUndone(): boolean {
    return [...this.look()].every(([name, state]) => state === 'before' || isCommand(name));
  }

  private hear(reports: Report[]): void {
    let isEnding = false; // after a stop nobody waits for the disk: its end may be told before it is on record
    for (const report of reports) {
      if ('told' in report && isStoredEvent(report.told)) {
        const event = report.told;
        if (!isEnding) this.told.push(event);
        if (event.type === 'queued' && event.when === 'now') isEnding = true;
        else if (event.type === 'phase') isEnding = false;
      }
      if ('harmed' in report) this.harmed.push(withoutIds(report.harmed));
      if ('early' in report) this.breach('asked', `the model was asked while ${report.early.join(', ')} waited`);
      if ('unpaired' in report) this.breach('K5', `the model was asked with ${report.unpaired.join(', ')} open`);
    }
  }

  private checkTold(record: readonly StoredEvent[]): void {
    const kept = new Set(record.map((event) => JSON.stringify(event)));
    for (const event of this.told)
      if (!kept.has(JSON.stringify(event)) && !isOwnFailure(event))
        this.breach('K1', `${event.type} ${event.seq} is lost`);
  }

  /** @param reports of the window that has just been */
  private checkEffects(record: readonly StoredEvent[], reports: Report[]): void {
    const begun = new Set(
      record.flatMap((event) => (event.type === 'tool-start' ? [stepOf(event.toolCallId)?.name] : [])),
    );
    const allowed = new Set(
      record.flatMap((event) =>
        event.type === 'approval' && event.decision !== 'deny' ? [stepOf(event.toolCallId)?.name] : [],
      ),
    );
    const effects = reports.flatMap((report) => ('effect' in report ? [report.effect] : []));
    for (const [name, state] of this.look()) {
      if (this.excused.has(name)) continue;
      if (state !== 'before' && !(begun.has(name) && allowed.has(name)))
        this.breach('K3', `${name} is ${state}, and not on record`);
      const step = steps.find((one) => one.name === name)!;
      const times = effects.filter(
        (file) => file in step.files || Object.keys(step.files).some((own) => own.startsWith(`${file}/`)),
      );
      const maxTimes = name === 'move' ? 2 : 1;
      if (times.length > maxTimes || (times.length > 0 && this.states.get(name) === 'after'))
        this.breach('K2', `${name} was done again`);
      if (step.command && isRepeated(step, path.join(this.folder, 'ws'))) this.breach('K2', `${name} ran twice`);
    }
  }

  private checkEnd(reports: Report[], blow: Blow): void {
    const ended = reports.flatMap((report) => ('ended' in report ? [report.ended] : []))[0];
    if (!('how' in blow) || blow.how === 'before' || blow.how === 'half' || blow.how === 'after') return;
    if (!ended) {
      this.breach('end', 'the window died or hung');
      return;
    }
    const code = 'phase' in ended ? ended.error?.code : 'code' in ended ? ended.code : undefined;
    const isRecord = /journal\.jsonl$/.test(this.harmed.at(-1) ?? '');
    const later = reports.slice(reports.findIndex((report) => 'harmed' in report));
    const goesOn = later.some((report) => 'told' in report && isStoredEvent(report.told));
    const isGone = blow.how === 'gone' && this.record().length === 0 && goesOn;
    if (this.one.job !== 'undo' && (isGone || (blow.forGood && isRecord)) && !code?.startsWith('STORE_'))
      this.breach('end', `the store failed for good, and it ended with ${code ?? 'nothing said'}`);
  }

  /** What the next window has to tell of the calls that this one left without a result. */
  private owe(record: readonly StoredEvent[]): void {
    const messages = record.flatMap((event) => (event.type === 'message' ? [event.message] : []));
    const run = foldOf(record);
    const [asked, open] = [pendingApprovalIds(run), callsToContinue(run.messages, run.calls).map(({ id }) => id)];
    for (const { id } of pendingCalls(messages)) {
      const step = stepOf(id);
      if (!step) continue;
      if (asked.includes(id)) this.owed.set(id, 'done'); // it is asked again, and allowed
      if (open.includes(id)) continue; // the others of its reply run after it, unless somebody speaks first
      const end = record.find((event) => event.type === 'tool-end' && event.toolCallId === id);
      const isBegun = record.some((event) => event.type === 'tool-start' && event.toolCallId === id);
      const state = this.states.get(step.name);
      if (end?.type === 'tool-end' && end.ok) this.owed.set(id, 'done');
      else if (end) continue;
      else if (!isBegun) this.owed.set(id, 'did not run');
      else if (Object.keys(step.files).length === 0 || step.command) this.owed.set(id, 'unknown');
      else this.owed.set(id, state === 'after' ? 'done' : state === 'before' ? 'did not run' : 'unknown');
    }
  }

  private async checkRun(window: Pick<Resting, 'run'>): Promise<void> {
    const run = await window.run();
    if (!run) {
      this.breach('K6', 'there is no run');
      return;
    }
    const results = run.messages.flatMap((message) => (message.role === 'tool' ? message.toolResults : []));
    const open = pendingCalls(run.messages);
    const ids = results.map(({ toolCallId }) => toolCallId);
    if (open.length > 0 || new Set(ids).size !== ids.length)
      this.breach('K5', `open ${open.length}, results ${ids.length}`);
    for (const [id, owed] of this.owed) {
      const result = results.find(({ toolCallId }) => toolCallId === id);
      const told = result && toldOf(result.content, result.error);
      if (told !== owed) this.breach('K4', `${stepOf(id)!.name} is told as ${told ?? 'nothing'}, and it is ${owed}`);
    }
    if (this.excused.size > 0) return; // it began anew, in a workspace that is no longer what it was
    if (run.phase === 'Failed' || run.messages.at(-1)?.content !== lastWords)
      this.breach('K6', `it ends ${run.phase} ${run.error?.code ?? ''}`);
    const told = toldIn(run.messages);
    for (const [name, state] of this.states)
      if (state !== 'after' && told.get(name) !== 'unknown' && !isWithoutFiles(name))
        this.breach('K6', `${name} is ${state}`);
  }

  private checkReasons(undone: object): void {
    if (this.excused.size > 0 || !('left' in undone)) return;
    for (const { path: file, why } of undone.left as { path: string; why: string }[])
      this.breach('reasons', `${file}: ${why}`);
  }

  private checkUndone(): void {
    for (const [name, state] of this.look()) {
      const step = steps.find((one) => one.name === name)!;
      if (state !== 'before' && !step.command && !this.excused.has(name))
        this.breach('undo', `${name} is ${state} after Undo`);
    }
  }

  private checkLeftovers(): void {
    const known = new Set([...Object.keys(initialFiles), ...steps.flatMap(({ files }) => Object.keys(files))]);
    for (const file of filesIn(path.join(this.folder, 'ws')))
      if (!known.has(file)) this.breach('left', `ws/${withoutIds(file)}`);
    for (const file of filesIn(path.join(this.folder, 'store')))
      if (
        !['sizes.json', 'history-1', 'undo-notice.json'].includes(file) &&
        !/^runs\/[^/]+\/(journal\.jsonl(\.damaged-\d+)?|summary\.json|contents\/[0-9a-f]{64}(\.output)?)$/.test(file)
      )
        this.breach('left', `store/${withoutIds(file)}`);
  }

  private look(): Map<string, StepState> {
    return new Map(steps.map((step) => [step.name, stateOf(step, path.join(this.folder, 'ws'))]));
  }

  /** The whole lines of the run's record, read by nobody's code but this. */
  private record(): StoredEvent[] {
    const own = this.runIds().filter((id) => !this.others.includes(id));
    return own.flatMap((id) => this.journalOf(id).split('\n').flatMap(eventOf));
  }

  private otherRecord(): string {
    return this.others.map((id) => this.journalOf(id)).join('');
  }

  private runIds(): string[] {
    const runs = path.join(this.folder, 'store', 'runs');
    return existsSync(runs) ? readdirSync(runs) : [];
  }

  private journalOf(id: string): string {
    const file = path.join(this.folder, 'store', 'runs', id, 'journal.jsonl');
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  private breach(invariant: Invariant, what: string): void {
    this.breaches.push({ invariant, what });
  }
}

function foldOf(record: readonly StoredEvent[]): Run {
  const run = newRun(record[0]?.runId ?? '');
  for (const event of record) applyEvent(run, event);
  return run;
}

/** What of a run that is over was said otherwise than the person wanted it, by its record alone. */
export function saidWrong(record: readonly StoredEvent[]): string[] {
  return record.flatMap((event) => {
    if (event.type !== 'queued') return [];
    const later = record.filter(({ runId }) => runId === event.runId);
    const given = later.flatMap((one) => (one.type === 'message' && one.queued === event.seq ? [one] : []));
    const changes = later.flatMap((one) => (one.type === 'queued-change' && one.queued === event.seq ? [one] : []));
    const words = changes.findLast(({ seq }) => seq < (given[0]?.seq ?? seq + 1))?.text ?? event.text;
    const isTakenBack = later.some((one) => one.type === 'queued-remove' && one.queued === event.seq);
    if (isTakenBack) return given.length > 0 ? [`“${words}” was taken back, and is said`] : [];
    if (given.length !== 1)
      return [given.length === 0 ? `“${words}” is never said` : `“${words}” is said ${given.length} times`];
    const [{ message }] = given as [(typeof given)[number]];
    return message.content === words ? [] : [`“${words}” is said as “${message.content}”`];
  });
}

const withoutIds = (name: string) => name.replace(/[0-9a-f-]{32,}/g, '…');

export function eventOf(line: string): StoredEvent[] {
  try {
    const {
      previous: _,
      version: __,
      ...event
    } = JSON.parse(line.slice(9)) as StoredEvent & {
      previous?: number;
      version?: number;
    };
    return event.type ? [event] : [];
  } catch {
    return []; // the header, or a torn line
  }
}

function eventsBeforeHarm(reports: readonly Report[]): StoredEvent[] {
  const harmed = reports.findIndex((report) => 'harmed' in report);
  const before = harmed < 0 ? reports : reports.slice(0, harmed);
  return before.flatMap((report) =>
    'told' in report && isStoredEvent(report.told as RunEvent) ? [report.told as StoredEvent] : [],
  );
}

/** A record that failed cannot keep that it did; this one event is told alone. */
const isOwnFailure = (event: StoredEvent) =>
  event.type === 'phase' && (event.error?.code.startsWith('STORE_') ?? false);
const isCommand = (name: string) => steps.find((one) => one.name === name)!.command === true;
const isWithoutFiles = (name: string) => Object.keys(steps.find((one) => one.name === name)!.files).length === 0;

function isRepeated(step: Step, root: string): boolean {
  const [file, wanted] = Object.entries(step.files)[0]!;
  const lines = existsSync(path.join(root, file)) ? readFileSync(path.join(root, file), 'utf8') : '';
  return lines.length > wanted.after!.length || !wanted.after!.toString().startsWith(lines);
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return all.filter((file) => statSync(path.join(folder, file), { throwIfNoEntry: false })?.isFile());
}
