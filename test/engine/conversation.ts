import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemPrompt } from '../../src/engine/context/systemPrompt.ts';
import type { SpendingBudget } from '../../src/engine/core/budget.ts';
import type { EngineResult } from '../../src/engine/core/runResult.ts';
import { promptPrefixTokens } from '../../src/engine/core/tokenCount.ts';
import type { Workflow } from '../../src/engine/core/workflow.ts';
import { ExecutionEngine } from '../../src/engine/run/engine.ts';
import type { TaskOptions } from '../../src/engine/tasks/taskOptions.ts';
import { createAdapter } from '../../src/llm/adapter/adapter.ts';
import type { LLMClient } from '../../src/llm/core/client.ts';
import type { Price } from '../../src/llm/models/prices.ts';
import { defaultApprovalPolicy } from '../../src/protocol/content/policy.ts';
import { removeRedundantTools } from '../../src/protocol/content/tools.ts';
import type { RunEvent } from '../../src/protocol/run/events.ts';
import { pendingCalls } from '../../src/protocol/run/pending.ts';
import type { Run } from '../../src/protocol/run/run.ts';
import type { ThinkingEffort } from '../../src/protocol/values/thinkingEffort.ts';
import { RunStore } from '../../src/runs/store.ts';
import type { ApprovalAnswer, ApprovalRequester } from '../../src/tools/core/tool.ts';
import { BackgroundRecordings } from '../../src/tools/host/backgroundRecordings.ts';
import { builtinTools } from '../../src/tools/host/builtinTools.ts';
import { createToolHost } from '../../src/tools/host/host.ts';
import type { WorkspaceInstructions } from '../../src/tools/instructions/instructions.ts';
import { BackgroundCommands } from '../../src/tools/shell/background.ts';
import type { OrphanedCommands } from '../../src/tools/shell/orphanedCommands.ts';
import type { DelayScheduler } from '../../src/tools/shell/outputSilence.ts';
import { compareSnapshot } from '../../src/tools/snapshot/compareSnapshot.ts';
import { createFileRecorder, type FileRecorder } from '../../src/tools/snapshot/fileRecorder.ts';
import { removeSnapshot } from '../../src/tools/snapshot/snapshotFile.ts';
import { takeSnapshot } from '../../src/tools/snapshot/takeSnapshot.ts';
import { defaultChatWorkflow } from '../../src/workflows/run/chatWorkflow.ts';
import { type ScriptedReply, scriptedClient } from '../support/scriptedClient.ts';
import { transcript } from '../support/transcript.ts';
import type { TemporaryWorkspace } from '../support/workspace.ts';

const modelOf = (
  id: string,
  client: LLMClient,
  { contextWindow, windowNow, currentWindow, price, budget, onThisMachine }: Terms = {},
) => ({
  id,
  model: id.slice(id.indexOf('/') + 1),
  adapter: createAdapter(client, { retries: 1, baseDelayMs: 1, maxDelayMs: 1 }, { priceOf: () => price }),
  contextWindow,
  windowNow,
  ...(currentWindow && { currentWindow }),
  ...(budget && { budget }),
  ...(onThisMachine && { onThisMachine }),
});

/** On which a model is had. */
interface Terms {
  contextWindow?: number;
  windowNow?: number;
  currentWindow?: (() => number | undefined) | undefined;
  price?: Price;
  budget?: SpendingBudget;
  onThisMachine?: true;
}

/** A whole Towpath without an editor: a scripted model, real tools on a real folder, a real journal. */
export class Conversation {
  readonly events: RunEvent[] = [];
  readonly questions: string[] = [];
  answers: (ApprovalAnswer | 'wait')[] = [];
  /** Answers approval requests in place of `answers`. */
  approve?: ApprovalRequester;
  private waiting: (() => void)[] = [];
  /** Undefined: the engine's own. */
  maxTurns?: number = 20;
  contextWindow?: number;
  windowNow?: number;
  currentWindow?: () => number | undefined;
  price?: Price;
  /** What may be spent in a day, and by the run. */
  budget?: SpendingBudget;
  runLimit = 0;
  /** The model has one thing at a time in this machine's memory. */
  onThisMachine?: true;
  /** What the workspace says to agents; without it nobody looks. */
  instructions?: WorkspaceInstructions;
  folderName = 'sample';
  /** In place of the script. */
  model?: LLMClient;
  /** Models that are asked for by name (`scripted/two`). */
  readonly others = new Map<string, { client: LLMClient } & Terms>();
  /** What the person has chosen last for a model. */
  readonly efforts = new Map<string, ThinkingEffort>();
  /** What there is for summaries, or why there is none. */
  small?: ({ client: LLMClient } & Terms) | Error;
  /** What names the run, or why nothing does. */
  naming?: LLMClient | Error;
  workflow: Workflow = defaultChatWorkflow;
  preset = defaultApprovalPolicy.preset;
  rules = defaultApprovalPolicy.rules;
  tools = builtinTools();
  /** Records what commands do to files. */
  recorder?: FileRecorder;
  backgroundRecordings?: BackgroundRecordings;
  /** Delegation; absent: none. */
  tasks?: TaskOptions;
  left?: OrphanedCommands;
  background?: BackgroundCommands;
  /** Hears every event when it is told. */
  told?: (event: RunEvent) => void;
  /** Why there is no workflow any more. */
  lost?: Error;
  /** Why the tools cannot be loaded. */
  unloaded?: Error;
  readonly runId = RunStore.newId();
  readonly folder = mkdtempSync(path.join(tmpdir(), 'engine-'));
  readonly store = new RunStore(this.folder);
  readonly client;
  engine: ExecutionEngine;

  constructor(
    readonly workspace: TemporaryWorkspace,
    replies: ScriptedReply[],
  ) {
    this.client = scriptedClient(replies);
    this.engine = this.build();
  }

  /** Tokens before the conversation. */
  get promptTokens(): number {
    const tools = this.tools.filter(({ delegates }) => !delegates || this.tasks).map(({ definition }) => definition);
    return promptPrefixTokens({
      model: 'one',
      systemPrompt: systemPrompt(defaultChatWorkflow.agent, { names: [this.folderName] }),
      tools: removeRedundantTools(tools),
    });
  }

  /** Sends the same number of tokens before the conversation, whatever becomes of prompt and tools, for windows that fit to it. */
  padPrompt(): void {
    while (this.promptTokens < 1196) this.folderName += ' Always.';
  }

  /** As a reload of the window would. */
  build(): ExecutionEngine {
    const approve: ApprovalRequester = (request, signal) => {
      this.questions.push(request.plan.what);
      if (this.approve) return this.approve(request, signal);
      const answer = this.answers.shift() ?? { decision: 'allow' };
      if (answer !== 'wait') return Promise.resolve(answer);
      return new Promise((resolve) => {
        const allow = () => resolve({ decision: 'allow' });
        signal.addEventListener('abort', allow);
        this.waiting.push(allow);
      });
    };
    const host = createToolHost({
      workspace: this.workspace,
      tools: this.tools,
      ...(this.recorder && { recorder: this.recorder }),
      ...(this.backgroundRecordings && { backgroundRecordings: this.backgroundRecordings }),
      approve,
      policy: () => ({ ...defaultApprovalPolicy, preset: this.preset, rules: this.rules }),
    });
    this.engine = new ExecutionEngine({
      store: this.store,
      host: async () => {
        if (this.unloaded) throw this.unloaded;
        return host;
      },
      workflow: async () => {
        if (this.lost) throw this.lost;
        return this.workflow;
      },
      model: async ({ id = 'scripted/one' }: { id?: string } = {}) => {
        const { contextWindow, windowNow, currentWindow, price, budget, onThisMachine } = this;
        const { client = this.model ?? this.client, ...terms } = this.others.get(id) ?? {};
        return modelOf(id, client, { contextWindow, windowNow, currentWindow, price, budget, onThisMachine, ...terms });
      },
      small: async () => {
        if (this.small instanceof Error) throw this.small;
        return this.small && modelOf('scripted/small', this.small.client, { budget: this.budget, ...this.small });
      },
      naming: async () => {
        if (this.naming instanceof Error) throw this.naming;
        return this.naming && modelOf('scripted/small', this.naming, { budget: this.budget, price: this.price });
      },
      modelId: () => 'scripted/one',
      effortOf: (id) => this.efforts.get(id),
      workspace: async () => ({ names: [this.folderName] }),
      ...(this.instructions && { instructions: this.instructions }),
      ...(this.maxTurns !== undefined && { maxTurns: () => this.maxTurns! }),
      runLimit: () => this.runLimit,
      ...(this.tasks && { tasks: this.tasks }),
      left: this.left,
      background: this.background,
      onEvent: (event) => {
        this.events.push(event);
        this.backgroundRecordings?.onEvent(event);
        this.told?.(event);
      },
    });
    return this.engine;
  }

  /** Records what commands do, from the next turn on, as the extension does in a worker. `store`: folder for snapshots. */
  recordCommands(
    store: string,
    {
      budget = 2_500_000,
      isOn = (): boolean => true,
      take = takeSnapshot,
      after,
    }: { budget?: number; isOn?(): boolean; take?: typeof takeSnapshot; after?: DelayScheduler } = {},
  ): BackgroundCommands {
    const background: BackgroundCommands = new BackgroundCommands({
      ...(after && { after }),
      keep: (runId, text) => this.store.contents.keepOutput(runId, text),
      ended: async (key, end) => {
        await recordings.commandEnded(key);
        await this.engine.note(key.runId, { type: 'command-end', toolCallId: key.toolCallId, ...end });
      },
    });
    const recordings = new BackgroundRecordings({
      begin: (call) => recorder.begin(call),
      emit: (runId, body) => this.engine.note(runId, body),
      newPack: (runId) => this.store.contents.newPack(runId),
      atWork: (runId) => background.atWork.flatMap((one) => (one.runId === runId ? [one.toolCallId] : [])),
    });
    const recorder = createFileRecorder({
      workspace: this.workspace,
      store,
      isOn,
      budget: () => budget,
      isBusy: async (but) =>
        background.atWork.some(({ runId }) => runId !== but) || ((await this.left?.atWork()) ?? []).length > 0,
      take: async (request) => take(request),
      compare: compareSnapshot,
      discard: async ({ store: folder, id }) => removeSnapshot(folder, id),
    });
    this.recorder = recorder;
    this.backgroundRecordings = recordings;
    this.background = background;
    this.tools = builtinTools({ shell: { background, covers: (files) => recorder.covers(files) } });
    this.build();
    return background;
  }

  start(text = 'hi'): Promise<EngineResult> {
    return this.engine.start({ runId: this.runId, userInput: text });
  }

  /** @param model in place of the one that would be asked */
  continue(text?: string, model?: string): Promise<EngineResult> {
    const words = text !== undefined && { userInput: text };
    return this.engine.continue({ runId: this.runId, ...words, ...(model !== undefined && { model }) });
  }

  /** As the panel does: to the run at work, else to begin anew with it. */
  async say(text: string): Promise<void> {
    if (!(await this.engine.say({ runId: this.runId, userInput: text }))) await this.continue(text);
  }

  /** The person says yes to what waits for them. */
  allowWaiting(): void {
    for (const allow of this.waiting.splice(0)) allow();
  }

  /** Resolves when an event of this type has been told. */
  async seen(type: RunEvent['type']): Promise<void> {
    while (!this.events.some((event) => event.type === type)) await new Promise((resolve) => setTimeout(resolve, 1));
  }

  kept(): Promise<Run> {
    return this.store.read(this.runId);
  }

  file(name: string): string | undefined {
    return this.workspace.exists(name) ? this.workspace.read(name) : undefined;
  }

  /** What is on disk reads so, every call has its one result, and the lock is free. */
  async reads(expected: string): Promise<void> {
    const run = await this.kept();
    assert.equal(transcript(run), expected.trim());
    assert.deepEqual(pendingCalls(run.messages), []);
    await (await this.store.open(this.runId)).close();
  }

  async end(): Promise<void> {
    await this.engine.close();
    rmSync(this.folder, { recursive: true });
    this.workspace.cleanup();
  }
}
