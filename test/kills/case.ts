import { spawn } from 'node:child_process';
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { projectRoot, testOut } from '../support/editor/project.ts';
import { gatePlugins } from '../support/programs.ts';
import { growDisk, mountSmall, unmount } from '../support/smallDisk.ts';
import type { Harm } from './disk.ts';
import { type Breach, Witness } from './invariants.ts';
import { initialFiles } from './script.ts';
import { type Job, openWindow, otherRun, type Report } from './window.ts';

/** What one window goes through: harm at an operation, a kill after so many milliseconds, or a disk with so much room. */
export type Blow = Harm | { afterMs: number } | { roomKb: number };

/** One run with its windows: each has its blow, and the last has none and brings it to its end. */
export interface Case {
  job: Job;
  blows: Blow[];
}

/** `work/37:half/12:EIO!`: how a case is named and asked for again. */
export const nameOf = ({ job, blows }: Case): string => [job, ...blows.map(nameOfBlow)].join('/');

function nameOfBlow(blow: Blow): string {
  if ('afterMs' in blow) return `${blow.afterMs}ms`;
  return 'roomKb' in blow ? `${blow.roomKb}kb` : `${blow.at}:${blow.how}${blow.forGood ? '!' : ''}`;
}

export function caseOf(name: string): Case {
  const [job, ...blows] = name.split('/');
  if (job !== 'work' && job !== 'undo' && job !== 'say' && job !== 'ask')
    throw new Error(`A case begins with work, undo, say or ask: ${name}`);
  return { job, blows: blows.map(blowOf) };
}

function blowOf(name: string): Blow {
  const [, ms, kb, at, how, forGood] = /^(?:(\d+)ms|(\d+)kb|(\d+):(\w+)(!)?)$/.exec(name) ?? [];
  if (ms) return { afterMs: Number(ms) };
  if (kb) return { roomKb: Number(kb) };
  if (!at) throw new Error(`${name} is not like 37:half, 37:EIO!, 250ms or 96kb.`);
  return { at: Number(at), how: how as Harm['how'], ...(forGood && { forGood: true }) };
}

/** What came of a case. */
export interface Played {
  name: string;
  kills: number;
  /** The operations that came to harm, by name. */
  harmed: string[];
  breaches: Breach[];
}

/** Plays cases on copies of the same two beginnings: a fresh workspace, and one whose run is over. */
export class Stage {
  private readonly folder = mkdtempSync(path.join(tmpdir(), 'towpath-kills-'));
  private readonly child = path.join(testOut, 'kills', `${process.pid}.mjs`);

  static async open(): Promise<Stage> {
    const stage = new Stage();
    await buildChild('child.ts', stage.child);
    await stage.prepare();
    return stage;
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
    rmSync(this.child, { force: true });
  }

  /** The operations of a window that comes to no harm. */
  async operations(job: Job): Promise<string[]> {
    const folder = this.begin(job);
    const reports = await this.window(folder, job, undefined);
    rmSync(folder, { recursive: true });
    return reports.flatMap((report) => ('operations' in report ? report.operations : []));
  }

  async allOperations(): Promise<Record<Job, string[]>> {
    return {
      work: await this.operations('work'),
      undo: await this.operations('undo'),
      say: await this.operations('say'),
      ask: await this.operations('ask'),
    };
  }

  async play(one: Case): Promise<Played> {
    const folder = this.begin(one.job);
    const witness = new Witness(folder, one);
    let kills = 0;
    const store = path.join(folder, 'store');
    const isSmall = one.blows.some((blow) => 'roomKb' in blow);
    for (const blow of one.blows) {
      if ('roomKb' in blow) mountSmall(store, blow.roomKb);
      const reports = await this.window(folder, one.job, blow);
      if ('roomKb' in blow) growDisk(store);
      if (!reports.some((report) => 'ended' in report)) kills++;
      await witness.afterBlow(reports, blow);
    }
    const reports: Report[] = [];
    const window = openWindow(folder, (report) => reports.push(report));
    const result = await window[one.job]();
    reports.push({ ended: result });
    await witness.atRest(window, reports);
    if (isSmall) unmount(store);
    rmSync(folder, { recursive: true });
    return { name: nameOf(one), kills, harmed: witness.harmed, breaches: witness.breaches };
  }

  /** A copy of one of the two beginnings. */
  begin(job: Job): string {
    const folder = mkdtempSync(path.join(this.folder, 'case-'));
    cpSync(path.join(this.folder, job === 'undo' ? job : 'work'), folder, { recursive: true });
    return folder;
  }

  /** Resolves when the process is gone. */
  private async window(folder: string, job: Job, blow: Blow | undefined): Promise<Report[]> {
    const file = path.join(folder, 'reports.jsonl');
    const fd = openSync(file, 'w');
    const harm = blow && 'at' in blow ? [JSON.stringify(blow)] : [];
    const child = spawn(process.execPath, [this.child, folder, job, ...harm], {
      cwd: projectRoot,
      stdio: ['ignore', 'inherit', 'inherit', fd],
    });
    const gone = new Promise((resolve) => child.once('exit', resolve));
    const killing = setTimeout(() => child.kill('SIGKILL'), blow && 'afterMs' in blow ? blow.afterMs : 60_000);
    await gone;
    clearTimeout(killing);
    closeSync(fd);
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line) as Report);
  }

  private async prepare(): Promise<void> {
    const [work, undo] = [path.join(this.folder, 'work'), path.join(this.folder, 'undo')];
    for (const [file, content] of Object.entries(initialFiles)) {
      mkdirSync(path.join(work, 'ws', path.dirname(file)), { recursive: true });
      writeFileSync(path.join(work, 'ws', file), content);
    }
    const { store } = openWindow(work, () => {});
    const other = await store.create(otherRun);
    await other.append({ type: 'title', title: 'Another run', runId: otherRun, seq: 1, at: 1 });
    await other.close();
    cpSync(work, undo, { recursive: true });
    await openWindow(undo, () => {}).work();
  }
}

/** Builds the program of a window that is killed. */
export async function buildChild(entry: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [path.join(import.meta.dirname, entry)],
    outfile,
    bundle: true,
    platform: 'node',
    mainFields: ['module', 'main'], // jsonc-parser's `main` cannot be bundled
    format: 'esm',
    external: ['@vscode/ripgrep'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'warning',
    plugins: await gatePlugins(),
  });
}
