import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { EngineResult } from '../../src/engine/core/runResult.ts';
import { type CallState, callsInStartOrder, type Run } from '../../src/protocol/run/run.ts';
import { RunStore } from '../../src/runs/store.ts';
import { undoableCallIds } from '../../src/runs/undoSteps.ts';
import { RecordedFolder } from '../tools/snapshot/folder.ts';
import type { CommandJob, LeftByUndo } from './commandWindow.ts';
import type { Breach, Invariant } from './invariants.ts';
import { lastWords, toldOf } from './script.ts';

const day = 24 * 60 * 60 * 1000;

/** A window in which the run of the command comes to its end. */
interface Window {
  store: Pick<RunStore, 'contents'>;
  run(): Promise<Pick<EngineResult, 'phase' | 'error'>>;
  read(): Promise<Run | undefined>;
  undo(): Promise<LeftByUndo>;
}

/** The files below `ws`, and of its repository what a person sees of it. */
interface Look {
  files: Record<string, string>;
  repository: string;
}

/** Sees a case of a command from outside: what stands on disk before it, after each kill and in the end. */
export class CommandWitness {
  readonly breaches: Breach[] = [];
  private readonly root: string;
  private readonly store: string;
  private readonly before: Look;
  /** The command was killed, too: its Git may leave locks. */
  private isCommandKilled = false;

  constructor(folder: string) {
    this.root = path.join(folder, 'ws');
    this.store = path.join(folder, 'store');
    this.before = this.look();
  }

  /** Right after a window is gone, and what it had started. */
  afterBlow(isCommandKilled: boolean): void {
    this.isCommandKilled ||= isCommandKilled;
    const { files, repository } = this.changed();
    if ((files.length > 0 || repository) && !this.journals().includes('"tool-start"'))
      this.breach('K3', 'the command is not on record');
  }

  /** Brings it to its end in a window that is not killed. */
  async atRest(window: Window, job: CommandJob): Promise<void> {
    if (job === 'run') {
      const { phase, error } = await window.run();
      const run = await window.read();
      if (phase === 'Failed' || run?.messages.at(-1)?.content !== lastWords)
        this.breach('K6', `it ends ${phase} ${error?.code ?? ''}`);
      if (run) this.checkCalls(run);
    }
    const { left } = await window.undo();
    const run = (await window.read())!;
    await this.checkUndone(window, run, left);
    if (left.length === 0 && undoableCallIds(run, 'run').length > 0) this.breach('reasons', 'it is offered again');
    await new RunStore(this.store, () => Date.now() + 20 * day).sweep(); // as a window on another day does
    this.checkLeftovers();
  }

  private checkCalls(run: Run): void {
    const started = callsInStartOrder(run).filter(([, { startedAt }]) => startedAt !== undefined);
    if (started.length !== 1) this.breach('K2', `the command was started ${started.length} times`);
    const results = run.messages.flatMap((message) => (message.role === 'tool' ? message.toolResults : []));
    const ids = results.map(({ toolCallId }) => toolCallId);
    if (new Set(ids).size !== ids.length) this.breach('K5', 'a call has two results');
    for (const [id, call] of started) {
      const result = results.find(({ toolCallId }) => toolCallId === id);
      if (!result) this.breach('K5', 'a call has no result');
      else if (toldOf(result.content, result.error) === 'did not run')
        this.breach('K4', 'it is told as not run, and it was started');
      this.checkRecord(call);
    }
  }

  private checkRecord({ changes = [], repositories = [], lost = [], unrecorded, code }: CallState): void {
    if (unrecorded) this.breach('compared', `it is not recorded: ${unrecorded}`);
    const now = this.changed();
    const names = [...changes.map((one) => one.path), ...lost, ...repositories.map((one) => one.path)];
    const unknown = now.files.filter((file) => !file.endsWith('/') && !isNamed(file, names)); // an emptied folder is no change;
    if (unknown.length > 0) this.breach('compared', `${unknown.length} files are not on record: ${unknown[0]}`);
    if (now.repository && !names.some(isOfRepository)) this.breach('compared', 'the repository is not on record');
    const isMixed = [...changes, ...repositories].every(({ mixed }) => mixed);
    if (code === 'TOOL_INTERRUPTED' && !isMixed) this.breach('sameTime', 'a change is said to be the command’s alone');
  }

  private async checkUndone(window: Window, run: Run, left: { path: string; why: string }[]): Promise<void> {
    const lost = Object.values(run.calls).flatMap((call) => call.lost ?? []);
    const names = [...left.map((one) => one.path), ...lost];
    const now = this.changed();
    for (const file of now.files) {
      const isSaid = isNamed(file, names);
      if (!isSaid) this.breach('undo', `${file} is not as it was`);
      const content = contentOf(this.before.files[file]);
      const isStored = content === undefined || (await isHeld(window, run.id, content));
      if (!isStored && !isNamed(file, lost)) this.breach('bytes', `${file} is lost`);
    }
    if (now.repository && !names.some(isOfRepository)) this.breach('undo', `the repository: ${now.repository}`);
    for (const { path: file, why } of left)
      if (!(this.isCommandKilled && /^Git is busy/.test(why))) this.breach('reasons', `${file}: ${why}`);
  }

  private checkLeftovers(): void {
    const beside = filesIn(this.root).filter(
      (file) => path.basename(file).startsWith('.towpath-') || (file.endsWith('.lock') && !this.isCommandKilled),
    );
    for (const file of beside) this.breach('left', `ws/${file}`);
    const known =
      /^(sizes\.json|history-1|undo-notice\.json|snapshots\/(current|[\w-]+\.pack)|runs\/[^/]+\/(journal\.jsonl(\.damaged-\d+)?|summary\.json|contents\/([0-9a-f]{64}(\.output)?|[\w-]+\.pack)))$/;
    for (const file of filesIn(this.store)) if (!known.test(file)) this.breach('left', `store/${withoutIds(file)}`);
  }

  /** Paths of files that are not as they were, and a difference of the repository. */
  private changed(): { files: string[]; repository: string } {
    const now = this.look();
    const all = new Set([...Object.keys(this.before.files), ...Object.keys(now.files)]);
    const lines = new Set(this.before.repository.split('\n'));
    const added = now.repository.split('\n').find((line) => !lines.has(line));
    return {
      files: [...all].filter((file) => this.before.files[file] !== now.files[file]),
      repository: now.repository === this.before.repository ? '' : (added ?? 'something is missing'),
    };
  }

  private look(): Look {
    const folder = Object.assign(Object.create(RecordedFolder.prototype) as RecordedFolder, { root: this.root });
    return { files: folder.state(), repository: repositoryOf(this.root) };
  }

  private journals(): string {
    const runs = path.join(this.store, 'runs');
    const files = existsSync(runs) ? readdirSync(runs).map((id) => path.join(runs, id, 'journal.jsonl')) : [];
    return files.map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : '')).join('');
  }

  private breach(invariant: Invariant, what: string): void {
    this.breaches.push({ invariant, what });
  }
}

function repositoryOf(root: string): string {
  if (!existsSync(path.join(root, '.git'))) return 'none';
  const script = 'cat "$(git rev-parse --git-dir)/HEAD"; git for-each-ref; git ls-files -s -v; git stash list';
  const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0' };
  return execFileSync('sh', ['-c', `${script} 2>&1`], { cwd: root, encoding: 'utf8', env });
}

const isNamed = (file: string, names: readonly string[]): boolean =>
  names.some((name) => file === name || file.startsWith(`${name}/`) || file === `${name}/`);

const isOfRepository = (name: string): boolean => /(^|\/)\.git(\/|$)/.test(name);

/** The bytes of a file that was there; links and folders have none. */
const contentOf = (state: string | undefined): Buffer | undefined =>
  state && /^\d+ /.test(state) ? Buffer.from(state.slice(state.indexOf(' ') + 1), 'latin1') : undefined;

async function isHeld({ store }: Window, runId: string, content: Buffer): Promise<boolean> {
  const id = createHash('sha256').update(content).digest('hex');
  const held = await store.contents.readBytes(runId, id).catch(() => undefined);
  return held?.equals(content) ?? false;
}

const withoutIds = (name: string) => name.replace(/[0-9a-f-]{32,}/g, '…');

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const all = readdirSync(folder, { recursive: true, withFileTypes: true });
  return all.filter((one) => one.isFile()).map((one) => path.relative(folder, path.join(one.parentPath, one.name)));
}
