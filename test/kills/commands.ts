import { execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { projectRoot, testOut } from '../support/editor/project.ts';
import { copyFolder, discards, folderKinds, makeFolder } from '../tools/snapshot/discardFolders.ts';
import { buildChild, type Played } from './case.ts';
import type { ChildTask } from './commandChild.ts';
import { CommandWitness } from './commandInvariants.ts';
import { type CommandJob, openCommandWindow } from './commandWindow.ts';
import { canBeHalf, type Harm } from './disk.ts';
import { randomOf } from './random.ts';

/** The window dies at one of its operations, at a call of its command that changes files, alone or with the command, or at a time. */
type Blow = Harm | { step: number; withCommand: boolean } | { afterMs: number };

/** A command in a kind of folder. A window dies while it runs or while it is undone; each blow is one more window. */
export interface CommandCase {
  kind: string;
  command: string;
  job: CommandJob;
  blows: Blow[];
}

/** The kind of folder, and what is done to it: tracked, staged, changed, untracked and ignored files are discarded, rewritten, moved. */
const ownKind = 'dirty';
const own: readonly string[] = [
  'git checkout -q . && rm -rf app notes.txt .env',
  "sed -i 's/[a-z]/X/' src/a.ts app/main.ts notes.txt .env && mv app/main.ts src/main.ts && cp src/c.bin new.bin",
  'git stash -q -u && git reset -q --hard HEAD~1',
];
const commands = [...own, ...discards];

/** `commands/dirty/1/run/37:half/2+c`: how a case is named and asked for again. */
export const nameOfCommand = ({ kind, command, job, blows }: CommandCase): string =>
  ['commands', kind, commands.indexOf(command), job, ...blows.map(nameOfBlow)].join('/');

function nameOfBlow(blow: Blow): string {
  if ('afterMs' in blow) return `${blow.afterMs}ms`;
  return 'step' in blow ? `step${blow.step}${blow.withCommand ? '+' : ''}` : `${blow.at}:${blow.how}`;
}

export function commandCaseOf(name: string): CommandCase {
  const [, kind = '', index, job, ...blows] = name.split('/');
  const command = commands[Number(index)];
  if (!folderKinds.includes(kind) || command === undefined || (job !== 'run' && job !== 'undo'))
    throw new Error(`${name} is not like commands/dirty/1/run/37:half.`);
  return { kind, command, job, blows: blows.map(blowOf) };
}

function blowOf(name: string): Blow {
  const [, ms, step, plus, at, how] = /^(?:(\d+)ms|step(\d+)(\+)?|(\d+):(before|half|after))$/.exec(name) ?? [];
  if (ms) return { afterMs: Number(ms) };
  if (step) return { step: Number(step), withCommand: plus !== undefined };
  if (!at) throw new Error(`${name} is not like 37:half, step3, step3+ or 250ms.`);
  return { at: Number(at), how: how as Harm['how'] };
}

const moments = ['before', 'half', 'after'] as const;

/** Plays cases on copies of a folder; those of an undo on one in which the command has run. */
export class CommandStage {
  private readonly folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'towpath-kills-commands-')));
  private readonly child = path.join(testOut, 'kills', `commands-${process.pid}.mjs`);
  private readonly library = path.join(this.folder, 'kill.so');
  private readonly made = new Set<string>();

  static async open(): Promise<CommandStage> {
    const stage = new CommandStage();
    await buildChild('commandChild.ts', stage.child);
    const source = path.join(import.meta.dirname, 'commandKill.c');
    try {
      execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', stage.library, source, '-ldl'], { stdio: 'ignore' });
    } catch {
      console.error('There is no C compiler: no window is killed at a step of its command.');
    }
    return stage;
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
    rmSync(this.child, { force: true });
  }

  /** Three commands, killed at every operation of the window and at every step of the command, which goes on or dies, too. */
  async points(): Promise<CommandCase[]> {
    const cases: CommandCase[] = [];
    for (const command of own)
      for (const job of ['run', 'undo'] as const) {
        const { operations, steps } = await this.counted({ kind: ownKind, command, job, blows: [] });
        // After an operation is before the next one, but for a program, which goes on.
        const blows: Blow[] = operations.flatMap((operation, index) => {
          const isLast = index === operations.length - 1 || operation.startsWith('spawn');
          const possible = [true, canBeHalf(operation), isLast];
          return moments.filter((_, moment) => possible[moment]).map((how) => ({ at: index + 1, how }));
        });
        for (let step = 1; step <= steps; step++) blows.push({ step, withCommand: false }, { step, withCommand: true });
        cases.push(...blows.map((blow) => ({ kind: ownKind, command, job, blows: [blow] })));
      }
    return cases;
  }

  /** Commands and folders at random, killed at an operation, at a step or at a time, and again while the next window recovers. */
  drawn(seed: number, count = 300): CommandCase[] {
    const random = randomOf(seed);
    const pick = <One>(all: readonly One[]): One => all[random(all.length)]!;
    const operation = (below: number): Blow => ({ at: 1 + random(below), how: pick(moments) });
    return Array.from({ length: count }, (_, index): CommandCase => {
      const job = index % 3 === 2 ? 'undo' : 'run';
      const first: Blow[] =
        job === 'undo'
          ? [operation(60), { afterMs: 100 + random(600) }]
          : [operation(130), { step: 1 + random(12), withCommand: random(2) === 0 }, { afterMs: 150 + random(900) }];
      const blows = [pick(first), ...(random(4) === 0 ? [operation(40)] : [])];
      return { kind: pick(folderKinds), command: pick(discards), job, blows };
    });
  }

  /** The operations of a window that comes to no harm, and how often its command changes files. */
  private async counted(one: CommandCase): Promise<{ operations: string[]; steps: number }> {
    const folder = await this.begin(one);
    if (one.job === 'undo') await this.window(folder, { ...one, job: 'run' }, undefined);
    const reports = await this.window(folder, one, one.job === 'run' ? { step: 0, withCommand: false } : undefined);
    const count = path.join(folder, 'count');
    const steps = one.job === 'run' && existsSync(count) ? statSync(count).size : 0;
    rmSync(folder, { recursive: true });
    return { operations: reports.flatMap((report) => report.operations ?? []), steps };
  }

  async play(one: CommandCase): Promise<Played> {
    const folder = await this.begin(one);
    const witness = new CommandWitness(folder);
    if (one.job === 'undo') await this.window(folder, { ...one, job: 'run' }, undefined);
    let kills = 0;
    const harmed: string[] = [];
    for (const blow of one.blows) {
      const reports = await this.window(folder, one, blow);
      if (!reports.some(({ ended }) => ended)) kills++;
      harmed.push(...reports.flatMap((report) => report.harmed ?? ('step' in blow ? [nameOfBlow(blow)] : [])));
      witness.afterBlow('step' in blow && blow.withCommand);
    }
    const window = openCommandWindow(folder, one.command);
    try {
      await witness.atRest(window, one.job);
    } finally {
      await window.close();
    }
    rmSync(folder, { recursive: true });
    const ids = /[0-9a-f-]{32,}/g;
    return {
      name: nameOfCommand(one),
      kills,
      harmed: harmed.map((name) => name.replace(ids, '…')),
      breaches: witness.breaches,
    };
  }

  /** A copy of a folder of this kind. */
  private async begin({ kind }: CommandCase): Promise<string> {
    const template = path.join(this.folder, kind.replaceAll(/\W/g, '-'));
    if (!this.made.has(kind)) makeFolder(template, kind);
    this.made.add(kind);
    const folder = mkdtempSync(path.join(this.folder, 'case-'));
    copyFolder(template, folder, kind);
    return folder;
  }

  /** Resolves when the process is gone, and every program that it has started. */
  private async window(folder: string, { job, command }: CommandCase, blow: Blow | undefined): Promise<Report[]> {
    const file = path.join(folder, 'reports.jsonl');
    const fd = openSync(file, 'w');
    const count = path.join(folder, 'count');
    rmSync(count, { force: true });
    const task: ChildTask = {
      folder,
      job,
      command,
      ...(blow && 'at' in blow && { harm: blow }),
      ...(blow &&
        'step' in blow &&
        existsSync(this.library) && {
          counting: { library: this.library, count, step: blow.step, withGroup: blow.withCommand },
        }),
    };
    const child = spawn(process.execPath, [this.child, JSON.stringify(task)], {
      cwd: projectRoot,
      stdio: ['ignore', 'inherit', 'inherit', fd, 'pipe'],
    });
    const programs = child.stdio[4]!;
    const gone = Promise.all([
      new Promise((resolve) => child.once('exit', resolve)),
      new Promise((resolve) => programs.once('close', resolve)),
    ]);
    programs.on('error', () => {});
    (programs as NodeJS.ReadableStream).resume();
    const killing = setTimeout(() => child.kill('SIGKILL'), blow && 'afterMs' in blow ? blow.afterMs : 60_000);
    await gone;
    clearTimeout(killing);
    closeSync(fd);
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line) as Report);
  }
}

interface Report {
  harmed?: string;
  ended?: object;
  operations?: string[];
}
