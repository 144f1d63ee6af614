import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineResult } from '../../src/engine/core/runResult.ts';
import { ExecutionEngine } from '../../src/engine/run/engine.ts';
import { createAdapter } from '../../src/llm/adapter/adapter.ts';
import type { RunEvent } from '../../src/protocol/run/events.ts';
import { pendingApprovalIds } from '../../src/protocol/run/pending.ts';
import { RunStore } from '../../src/runs/store.ts';
import { undoableCallIds } from '../../src/runs/undoSteps.ts';
import { builtinTools } from '../../src/tools/host/builtinTools.ts';
import { createToolHost } from '../../src/tools/host/host.ts';
import { defaultChatWorkflow } from '../../src/workflows/run/chatWorkflow.ts';
import { workspaceIn } from '../support/workspace.ts';
import { person } from './person.ts';
import { scriptedModel, task } from './script.ts';

/** What a window says while it is at work; a kill loses nothing of it. */
export type Report =
  | { told: RunEvent }
  /** These paths were changed, by a tool or by Undo. */
  | { effect: string }
  | { unpaired: string[] }
  /** The model was asked while a call that an earlier window had put to the user waited for the answer. */
  | { early: string[] }
  /** The harm has been done, at this operation. */
  | { harmed: string }
  | { operations: string[] }
  | { ended: EngineResult | { undone: string[]; left: { path: string; why: string }[] } | { code: string } };

/** A run that lies beside the one that is killed, and must stay as it is. */
export const otherRun = 'run-other';

/** `say`: the work, and a person who speaks meanwhile; `ask`: the work, and a person who takes their time to approve each call. */
export type Job = 'work' | 'undo' | 'say' | 'ask';

/** Milliseconds until an approval is answered: most of the time of a window that asks. */
const answerMs = 40;

/** A window without its editor: the engine, its store and its tools on the folders `store` and `ws` of a case. */
export function openWindow(folder: string, report: (what: Report) => void) {
  const workspace = workspaceIn(folder, { ripgrep: undefined });
  for (const method of ['writeText', 'move', 'delete'] as const) {
    const change = workspace[method] as (...args: unknown[]) => Promise<unknown>;
    Object.assign(workspace, {
      [method]: async (...args: unknown[]) => {
        const result = await change(...args);
        const paths = args.slice(0, method === 'move' ? 2 : 1).map((one) => path.relative(workspace.root, String(one)));
        for (const effect of paths) report({ effect });
        return result;
      },
    });
  }
  const store = new RunStore(path.join(folder, 'store'));
  let answersAfterMs = 0;
  /** Calls that an earlier window had put to the user, and that this one has not settled. */
  let open: string[] = [];
  const model = scriptedModel((unpaired) => report({ unpaired }));
  const { chatStream } = model;
  model.chatStream = (request) => {
    if (open.length > 0) report({ early: open });
    return chatStream(request);
  };
  const engine = new ExecutionEngine({
    store,
    host: createToolHost({
      workspace,
      tools: builtinTools(),
      async approve({ call }) {
        if (answersAfterMs > 0) await sleep(answersAfterMs);
        open = open.filter((id) => id !== call.id);
        return { decision: 'allow' };
      },
    }),
    workflow: async () => defaultChatWorkflow,
    model: async () => ({
      id: 'scripted/one',
      model: 'one',
      adapter: createAdapter(model, { retries: 1, baseDelayMs: 1, maxDelayMs: 1 }),
    }),
    workspace: async () => ({ names: ['ws'] }),
    maxTurns: () => 50,
    onEvent: (told) => {
      report({ told });
      speaker?.hears(told);
    },
  });
  let speaker: ReturnType<typeof person> | undefined;
  const own = async () => (await store.list()).map(({ id }) => id).filter((id) => id !== otherRun);

  /** Goes on with the run that is there, as a person would: with the words again where they are lost. */
  async function work(): Promise<EngineResult> {
    for (const runId of await own()) {
      const run = await store.read(runId).catch(() => undefined);
      const words = run?.messages.length ? {} : { userInput: task };
      const result = await engine.continue({ runId, ...words });
      if (!['STORE_DAMAGED', 'ENGINE_RUN_NOT_FOUND'].includes(result.error?.code ?? '')) return result;
    }
    return engine.start({ runId: RunStore.newId(), userInput: task });
  }

  return {
    store,
    work,
    /** The same; what is to be said now stops it, and then it goes on. */
    async say(): Promise<EngineResult> {
      speaker = person(engine);
      for (;;) {
        const result = await work();
        await speaker.done();
        if (result.error?.code !== 'ENGINE_ABORTED') return result;
      }
    },
    /** The same, with somebody who takes their time: what waited when the window before this one ended is answered first. */
    async ask(): Promise<EngineResult> {
      answersAfterMs = answerMs;
      for (const runId of await own()) {
        const run = await store.read(runId).catch(() => undefined);
        if (run) open = pendingApprovalIds(run);
        if (run && open.length > 0) await engine.continue({ runId, onlyApprovals: true });
      }
      return work();
    },
    /** Takes all of it back, whatever else is there now. */
    async undo() {
      const [runId] = await own();
      const toolCallIds = undoableCallIds(await store.read(runId!), 'run');
      return engine.undo(runId!, { toolCallIds }, workspace, async () => 'all');
    },
    async undoable() {
      const [runId] = await own();
      const run = runId && (await store.read(runId).catch(() => undefined));
      return run ? undoableCallIds(run, 'run') : [];
    },
    /** The run's own folder and record; undefined before there is one. */
    async run() {
      for (const id of await own()) {
        const run = await store.read(id).catch(() => undefined);
        if (run) return run;
      }
      return undefined;
    },
  };
}
