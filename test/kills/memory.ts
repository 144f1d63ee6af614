import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  watch,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import type { ChatRequest } from '../../src/llm/core/client.ts';
import type { LocalModelClientOptions } from '../../src/llm/local/host/client.ts';
import { trimSequenceStates } from '../../src/llm/local/worker/stateFiles.ts';
import { buildWorker } from '../llm/local/setup.ts';
import { projectRoot, testOut } from '../support/editor/project.ts';
import { writeRandomModel } from '../support/randomModel.ts';
import type { Played } from './case.ts';
import { canBeHalf, type Harm } from './disk.ts';
import type { Breach } from './invariants.ts';
import type { Doing, Said } from './memoryHost.ts';
import { randomOf } from './random.ts';

/** When a process is killed from outside: as soon as that begins, and so many milliseconds later. */
const moments = ['remembers', 'grows', 'saves'] as const;
type Moment = (typeof moments)[number];

export type MemoryCase = { harm: Harm } | { who: 'model' | 'editor'; moment: Moment; afterMs: number };

export const nameOfMemory = (one: MemoryCase): string =>
  'harm' in one ? `memory/${one.harm.at}:${one.harm.how}` : `memory/${one.who}/${one.moment}/${one.afterMs}ms`;

export function memoryCaseOf(name: string): MemoryCase {
  const [, at, how] = /^memory\/(\d+):(before|half|after)$/.exec(name) ?? [];
  if (at) return { harm: { at: Number(at), how: how as Harm['how'] } };
  const [, who, moment, ms] = /^memory\/(model|editor)\/(remembers|grows|saves)\/(\d+)ms$/.exec(name) ?? [];
  if (!who) throw new Error(`${name} is not like memory/12:half or memory/model/grows/5ms.`);
  return { who: who as 'model', moment: moment as Moment, afterMs: Number(ms) };
}

const progress: Record<'remembers' | 'grows', RegExp> = {
  remembers: /^Restoring the state/,
  grows: /^Extending the context/,
};
const runId = 'run-1';

const words = Array.from({ length: 400 }, (_, index) => `${String.fromCharCode(97 + (index % 26))}${index}`);

/** A letter is a token of the model, and what it says depends on all of them. */
const letters = (tokens: number, from: number): string => {
  let at = from;
  const next = () => {
    at = (at * 75 + 74) % 65_537;
    return String.fromCharCode(97 + (at % 26));
  };
  return Array.from({ length: tokens }, next).join('');
};

/**
 * A run of a local model, whose memory is on disk: it is taken from there, kept, and taken along into a larger context; the process of the
 * model, or of the editor, is killed at it. After that the same is asked again, and has to be answered as by who has read all of it at once.
 */
export class MemoryStage {
  private readonly folder = mkdtempSync(path.join(tmpdir(), 'towpath-kills-memory-'));
  private readonly host = path.join(testOut, 'kills', `memory-host-${process.pid}.mjs`);
  /** Beside the worker, whose engine it takes. */
  private readonly harmed = path.join(testOut, `memory-worker-${process.pid}.mjs`);
  private readonly options: LocalModelClientOptions;
  private turns: readonly ChatRequest[] = [];
  private replies: readonly string[] = [];

  private constructor(private readonly worker: string) {
    this.options = {
      workerPath: this.harmed,
      modelPath: path.join(this.folder, 'random.gguf'),
      threads: 1,
      gpu: false,
      chatWrapper: 'qwen',
    };
  }

  static async open(): Promise<MemoryStage> {
    const stage = new MemoryStage(await buildWorker());
    await stage.prepare();
    return stage;
  }

  close(): void {
    for (const one of [this.folder, this.host, this.harmed]) rmSync(one, { recursive: true, force: true });
  }

  /** At each operation of a run that comes to no harm, and `count` times while it remembers, grows and saves. */
  async cases(seed: number, count: number): Promise<MemoryCase[]> {
    const folder = this.begin();
    await this.ask(folder, this.turns);
    const operations = readFileSync(path.join(folder, 'log'), 'utf8').split('\n').filter(Boolean);
    rmSync(folder, { recursive: true });
    const harms = operations.flatMap((operation, index) =>
      (['before', 'half', 'after'] as const)
        .filter((how) => how !== 'half' || canBeHalf(operation))
        .map((how): MemoryCase => ({ harm: { at: index + 1, how } })),
    );
    const random = randomOf(seed);
    const kills = Array.from({ length: count }, (_, index): MemoryCase => {
      const who = index % 2 === 0 ? 'model' : 'editor';
      return { who, moment: moments[index % 3]!, afterMs: random(3) === 0 ? 0 : random(40) };
    });
    return [...kills, ...harms];
  }

  async play(one: MemoryCase): Promise<Played> {
    const folder = this.begin();
    const breaches: Breach[] = [];
    const expect = (said: readonly string[], when: string) => {
      for (const [index, reply] of said.entries())
        if (reply !== this.replies[index])
          breaches.push({ invariant: 'believed', what: `reply ${index + 1} ${when} is another` });
    };
    const { replies, kills } = await this.ask(folder, this.turns, one);
    expect(replies, 'of who was killed');
    const after = await this.ask(folder, this.turns);
    expect(after.replies, 'after the kill');
    if (after.replies.length < this.turns.length) breaches.push({ invariant: 'end', what: 'it is not answered again' });
    for (const name of await leftIn(path.join(folder, 'states'))) breaches.push({ invariant: 'left', what: name });
    const log = readFileSync(path.join(folder, 'log'), 'utf8');
    const harmed = [...log.matchAll(/^harmed (.*)$/gm)].map(([, operation]) => operation!);
    rmSync(folder, { recursive: true });
    return { name: nameOfMemory(one), kills: kills + harmed.length, harmed, breaches };
  }

  /** A run whose first words were read, and are on disk. */
  private begin(): string {
    const folder = mkdtempSync(path.join(this.folder, 'case-'));
    cpSync(path.join(this.folder, 'begun'), folder, { recursive: true });
    return folder;
  }

  private ask(folder: string, turns: readonly ChatRequest[], one?: MemoryCase) {
    const states = path.join(folder, 'states');
    const keep = { folder: states, folders: [], runs: path.join(folder, 'runs'), bytes: 1e9, restMs: 1, share: 1e9 };
    const harm = one && 'harm' in one ? { harm: one.harm } : {};
    const given = { folder: states, log: path.join(folder, 'log'), worker: this.worker, ...harm };
    return this.run(
      { options: this.options, keep, turns },
      given,
      one && 'who' in one ? { ...one, states } : undefined,
    );
  }

  /** Resolves when the process is gone. */
  private async run(
    doing: Doing,
    forWorker: object,
    blow?: { who: string; moment: Moment; afterMs: number; states: string },
  ) {
    const host = spawn(process.execPath, [this.host, JSON.stringify(doing)], {
      cwd: projectRoot,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TOWPATH_KILLS: JSON.stringify(forWorker) },
    });
    const gone = new Promise((resolve) => host.once('close', resolve));
    const replies: string[] = [];
    let [model, kills] = [0, 0];
    const kill = () => {
      if (!blow || kills > 0) return;
      kills++;
      setTimeout(() => {
        if (blow.who === 'editor') host.kill('SIGKILL');
        else if (model > 0) endOf(model);
      }, blow.afterMs);
    };
    const watcher =
      blow?.moment === 'saves' ? watch(blow.states, (_, name) => name?.endsWith('.part') && kill()) : undefined;
    createInterface(host.stdout).on('line', (line) => {
      const said = JSON.parse(line) as Said;
      if ('reply' in said) return void replies.push(said.reply);
      model = said.pid ?? 0;
      if (blow && blow.moment !== 'saves' && progress[blow.moment].test(said.progress)) kill();
    });
    await gone;
    watcher?.close();
    return { replies, kills };
  }

  private async prepare(): Promise<void> {
    writeRandomModel(this.options.modelPath, { layers: 3, width: 128, words, focus: 16 });
    const bundles: [entry: string, outfile: string][] = [
      ['memoryHost.ts', this.host],
      ['memoryWorker.ts', this.harmed],
    ];
    for (const [entry, outfile] of bundles)
      await build({
        entryPoints: [path.join(import.meta.dirname, entry)],
        outfile,
        bundle: true,
        platform: 'node',
        format: 'esm',
        banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
        logLevel: 'warning',
      });
    const folder = path.join(this.folder, 'begun');
    mkdirSync(path.join(folder, 'runs', runId), { recursive: true });
    mkdirSync(path.join(folder, 'states'), { mode: 0o700 });
    const first = requestOf([{ role: 'user', content: letters(4000, 1) }]);
    const [said = ''] = (await this.ask(folder, [first])).replies;
    rmSync(path.join(folder, 'log'));
    await this.goOn(first, said);
  }

  /** One turn that goes on, and one that is too long for the context; what is said to both by who has read all of it at once. */
  private async goOn(first: ChatRequest, said: string): Promise<void> {
    const reading = { options: { ...this.options, workerPath: this.worker } };
    const replyTo = async (turn: ChatRequest) => (await this.run({ ...reading, turns: [turn] }, {})).replies[0] ?? '';
    const after = (before: ChatRequest, reply: string, more: string) =>
      requestOf([...before.messages, { role: 'assistant', content: reply }, { role: 'user', content: more }]);
    const next = after(first, said, letters(200, 2));
    const reply = await replyTo(next);
    const last = after(next, reply, letters(4500, 3));
    this.turns = [next, last];
    this.replies = [reply, await replyTo(last)];
    const other = requestOf([{ role: 'user', content: letters(4000, 4) }]);
    if (this.replies.includes('') || (await replyTo(after(other, said, letters(200, 2)))) === reply)
      throw new Error('It says the same, whatever was said long before: nothing would be noticed.');
  }
}

const requestOf = (messages: ChatRequest['messages']): ChatRequest => ({
  model: 'random',
  systemPrompt: 'Along the canal.',
  messages,
  cacheKey: runId,
  temperature: 0,
  maxTokens: 16,
});

function endOf(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it had come to its end
  }
}

/** What is no whole state, once all that kills have left behind is old enough to go. */
async function leftIn(states: string): Promise<string[]> {
  const parts = () => readdirSync(states).filter((name) => !isWhole(states, name));
  for (const name of parts()) utimesSync(path.join(states, name), 1, 1);
  await trimSequenceStates([states], Number.POSITIVE_INFINITY, { own: states, exists: async () => true });
  return parts();
}

function isWhole(states: string, name: string): boolean {
  const [, state] = /^(.*)\.(?:json|state)$/.exec(name) ?? [];
  return state !== undefined && ['json', 'state'].every((one) => existsSync(path.join(states, `${state}.${one}`)));
}
