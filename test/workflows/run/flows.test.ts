import assert from 'node:assert/strict';
import { appendFileSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as z from 'zod';
import { ExecutionEngine } from '../../../src/engine/run/engine.ts';
import type { LLMAdapter } from '../../../src/llm/adapter/adapter.ts';
import type { RunEvent } from '../../../src/protocol/run/events.ts';
import { isStoredEvent } from '../../../src/protocol/run/fold.ts';
import type { WorkflowGraphState } from '../../../src/protocol/run/graph.ts';
import { interruptedWork } from '../../../src/protocol/run/interruptions.ts';
import type { Run } from '../../../src/protocol/run/run.ts';
import { readJournal } from '../../../src/runs/readJournal.ts';
import { RunStore } from '../../../src/runs/store.ts';
import { createSideEffectTool } from '../../../src/tools/core/tool.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { createToolHost } from '../../../src/tools/host/host.ts';
import type { WorkflowFile } from '../../../src/workflows/plan/schema.ts';
import { loadWorkflow } from '../../../src/workflows/read/validate.ts';
import { graphWorkflow } from '../../../src/workflows/run/runGraph.ts';
import { type Random, randomFrom } from '../../support/random.ts';
import { workspaceIn } from '../../support/workspace.ts';
import { type RandomFlow, randomFlow } from './randomFlow.ts';

/** How many are made up; `npm run flows` for all of them. Each is made from its number alone. */
const flows = Number(process.env.TOWPATH_FLOWS ?? 20);
const first = Number(process.env.TOWPATH_FLOW ?? 0);
/** Thousands of files that need no disk. */
const memory = '/dev/shm';
const runId = 'run-flow';

/** Answers what it is asked, and nothing else. */
const model: LLMAdapter = {
  complete: async ({ messages }) => ({
    success: true,
    message: { role: 'assistant', content: `Answer to ${messages.at(-1)!.content}` },
    attempts: 1,
    delayMs: 0,
  }),
};

const tools = builtinTools();
const toolNames = [...tools.map(({ definition }) => definition.name), 'test.append'];

/** Copies a folder in which other threads finish what they have begun: a file beside the one that it becomes may be gone meanwhile. */
function copyWhole(folder: string, to: string): void {
  for (let tries = 100; ; tries--)
    try {
      cpSync(folder, to, { recursive: true, filter: (name) => path.basename(name) !== 'lock' });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === 0) throw error;
      rmSync(to, { recursive: true });
    }
}

/** One window: from where the folder stands to the end, or to its kill, of which the next folder is what was left. */
class Window {
  private readonly workspace;
  private readonly engine: ExecutionEngine;
  readonly store: RunStore;
  private points = 0;
  /** What the run in memory was when the window was killed. */
  killed?: WorkflowGraphState | undefined;
  isKilled = false;
  /** Reason why this window was not killed as it should have been. */
  private failure: unknown;

  /** @param killAt whether it is killed at this point: after an event, or before or after an effect */
  constructor(
    private readonly folder: string,
    private readonly next: string,
    file: WorkflowFile,
    private readonly killAt: (point: number, event?: RunEvent) => boolean,
  ) {
    const workspace = workspaceIn(folder, { ripgrep: undefined });
    this.workspace = workspace;
    const appends = createSideEffectTool(
      { name: 'test.append', description: 'Appends.', arguments: { name: z.string() } },
      'execute',
      async ({ name }) => ({
        what: 'Append',
        where: workspace.root,
        why: 'It appends.',
        run: async () => {
          this.at();
          appendFileSync(path.join(folder, 'log'), `append ${name}\n`);
          this.at();
          return { name };
        },
      }),
    );
    for (const method of ['writeText', 'move', 'delete'] as const) {
      const change = workspace[method] as (...args: unknown[]) => Promise<unknown>;
      Object.assign(workspace, {
        [method]: async (...args: unknown[]) => {
          this.at();
          const result = await change(...args);
          appendFileSync(path.join(folder, 'log'), `${method} ${path.relative(workspace.root, String(args[0]))}\n`);
          this.at();
          return result;
        },
      });
    }
    this.store = new RunStore(path.join(folder, 'store'));
    this.engine = new ExecutionEngine({
      store: this.store,
      host: createToolHost({ workspace, tools: [...tools, appends], approve: async () => ({ decision: 'allow' }) }),
      workflow: async (id) => graphWorkflow({ id, file, agents: new Map() }),
      model: async () => ({ id: 'made/up', model: 'up', adapter: model }),
      workspace: async () => ({ names: ['ws'] }),
      onEvent: (event) => {
        if (isStoredEvent(event)) this.at(event);
      },
      onListenerError: (error) => {
        this.failure ??= error;
      },
    });
  }

  /** Nothing that comes after a kill is in the folder that is gone on with. */
  private at(event?: RunEvent): void {
    this.points++;
    if (this.isKilled || !this.killAt(this.points, event)) return;
    this.isKilled = true;
    this.killed = event && structuredClone(this.engine.live(runId)?.graph);
    copyWhole(this.folder, this.next);
    void this.engine.close();
  }

  /** As a person would, who looks what became of each call that was interrupted, and lets it run again only if it did not run. */
  private async decide(): Promise<void> {
    const run = await this.store.read(runId);
    for (const { calls } of interruptedWork(run))
      for (const id of calls) {
        const name = run.calls[id]!.about?.name;
        const wasDone = name !== undefined && this.log.includes(`append ${name}`);
        const choice = wasDone ? { choice: 'after' as const, result: { name } } : { choice: 'again' as const };
        assert.equal(await this.engine.chooseAfterInterruption(runId, { toolCallIds: [id], ...choice }), undefined);
      }
  }

  /** As a person would, who continues whatever was interrupted. */
  async work(kept?: Run): Promise<void> {
    let isHeard = Boolean(kept?.messages.length);
    for (let times = 0; times < 100; times++) {
      const words = isHeard ? {} : { userInput: 'go' };
      const result = await (kept || times > 0
        ? this.engine.continue({ runId, ...words })
        : this.engine.start({ runId, workflowId: 'flow', userInput: 'go' }));
      isHeard = true;
      if (this.isKilled) break;
      if (result.phase === 'Completed') return;
      assert.equal(result.error?.code, 'TOOL_INTERRUPTED', JSON.stringify(result));
      await this.decide();
      if (this.isKilled) break;
    }
    if (this.failure) throw this.failure;
    assert.ok(this.isKilled, 'it comes to its end');
    await this.engine.close();
  }

  async close(): Promise<number> {
    await this.engine.close();
    return this.points;
  }

  /** Effects that were had, each as often as it was; one may be missing where the kill came right after it. */
  get log(): string[] {
    const file = path.join(this.folder, 'log');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').sort() : [];
  }

  get files(): string[] {
    const all = readdirSync(this.workspace.root, { recursive: true, encoding: 'utf8' }).sort();
    return all.map((one) => (/\.txt$/.test(one) ? `${one}: ${this.workspace.read(one)}` : one));
  }

  /** How often each node came to its end, and how often a call was told to be in doubt. */
  async said(): Promise<{ ends: Record<string, number>; doubts: number }> {
    const { entries } = await readJournal(path.join(this.folder, 'store', 'runs', runId, 'journal.jsonl'));
    const ends: Record<string, number> = {};
    let doubts = 0;
    for (const { event } of entries) {
      if (event?.type === 'interruption-choice') doubts++;
      if (event?.type === 'node' && event.status === 'end') ends[event.node] = (ends[event.node] ?? 0) + 1;
    }
    return { ends, doubts };
  }
}

/** Where a run stands, without when, and without what is only shown. */
const standing = (graph: WorkflowGraphState | undefined) =>
  graph && JSON.parse(JSON.stringify(graph, (key, value) => (key === 'live' ? undefined : value)));

const stateOf = (run: Run) => run.graph!.main.state;

class Life {
  readonly counts = { kills: 0, doubts: 0, events: 0, effects: 0, reloads: 0 };
  private readonly folder = mkdtempSync(path.join(existsSync(memory) ? memory : tmpdir(), 'flows-'));
  private lives = 0;

  private readonly file: WorkflowFile;

  constructor(private readonly flow: RandomFlow) {
    const { value, problems } = loadWorkflow(flow.yaml, { tools: toolNames });
    assert.deepEqual(problems, []);
    this.file = value!;
  }

  async live(random: Random): Promise<void> {
    const { counts } = this;
    const whole = this.window('whole', () => false);
    await whole.work();
    const points = await whole.close();
    const expected = await whole.store.read(runId);
    counts.events = expected.seq;
    counts.effects = whole.log.length;
    this.checkRoom(expected);

    const everyNode = random.chance(0.06);
    const kills = everyNode ? [] : Array.from({ length: 1 + random.upTo(3) }, () => 1 + random.upTo(points));
    let last = this.window('0', this.killer(everyNode, kills.shift()));
    for (let kept: Run | undefined; ; ) {
      await last.work(kept);
      if (!last.isKilled) break;
      counts.kills++;
      if (everyNode) counts.reloads++;
      kept = await this.store()
        .read(runId)
        .catch(() => undefined);
      if (last.killed) assert.deepEqual(standing(last.killed), standing(kept?.graph), 'in memory is what is on disk');
      if (kept?.graph) this.checkRoom(kept);
      last = this.window(String(this.lives), this.killer(everyNode, kills.shift()));
    }
    await last.close();

    const end = await last.store.read(runId);
    assert.deepEqual(stateOf(end), stateOf(expected), 'the values are those of a run that nobody killed');
    assert.deepEqual(last.files, whole.files, 'and so are the files');
    const { ends, doubts } = await last.said();
    counts.doubts = doubts;
    assert.deepEqual(ends, (await whole.said()).ends, 'each node ended as often');
    const again = last.log;
    for (const line of whole.log) if (again.includes(line)) again.splice(again.indexOf(line), 1);
    assert.deepEqual(again, [], `had again; in doubt: ${doubts}`);
    this.checkRoom(end);
  }

  end(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** At a point, or at every node: once where it begins and once where it ends. */
  private killer(everyNode: boolean, at: number | undefined) {
    if (!everyNode) return (point: number) => point === at;
    let nodes = 0;
    return (_: number, event?: RunEvent) => event?.type === 'node' && ++nodes === 2;
  }

  private window(name: string, killAt: (point: number, event?: RunEvent) => boolean): Window {
    if (name !== 'whole') this.lives++;
    return new Window(path.join(this.folder, name), path.join(this.folder, String(this.lives)), this.file, killAt);
  }

  /** Of the folder that a kill has left. */
  private store = () => new RunStore(path.join(this.folder, String(this.lives), 'store'));

  private checkRoom({ graph }: Run): void {
    const room = JSON.stringify(graph).length;
    assert.ok(room <= this.flow.mostRoom, `it takes ${room} characters, and may take ${this.flow.mostRoom}`);
  }
}

describe('made-up workflows, killed at any event and before and after any effect, or at every node', () => {
  const sums: Record<string, number> = {};
  const each = 10;
  for (let begin = first; begin < first + flows; begin += each)
    it(`end as if nobody had killed them, with nothing done twice (${begin} to ${begin + each - 1})`, async () => {
      for (let number = begin; number < begin + each; number++) {
        const random = randomFrom(number);
        const flow = randomFlow(random);
        const life = new Life(flow);
        try {
          await life.live(random);
        } catch (error) {
          (error as Error).message = `flow ${number}: ${(error as Error).message}\n${flow.yaml}`;
          throw error;
        } finally {
          life.end();
        }
        for (const [name, count] of Object.entries(life.counts)) sums[name] = (sums[name] ?? 0) + count;
        for (const kind of flow.kinds) sums[kind] = (sums[kind] ?? 0) + 1;
      }
    });

  it('were of all kinds', () => {
    const kinds = ['kills', 'reloads', 'rounds', 'each', 'back', 'parallel', 'effects', 'ask'];
    for (const kind of kinds) assert.ok(sums[kind]! > flows / 40, `${kind}: ${sums[kind]}`);
    if (process.env.TOWPATH_FLOWS) console.log(JSON.stringify(sums));
  });
});
