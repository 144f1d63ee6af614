import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { EngineResult } from '../../src/engine/core/runResult.ts';
import { ExecutionEngine } from '../../src/engine/run/engine.ts';
import { type AdapterLimits, createAdapter } from '../../src/llm/adapter/adapter.ts';
import { createResponseCache } from '../../src/llm/adapter/responseCache.ts';
import { createLLMClient } from '../../src/llm/createClient.ts';
import type { Price } from '../../src/llm/models/prices.ts';
import { type ApprovalPreset, defaultApprovalPolicy } from '../../src/protocol/content/policy.ts';
import type { RunEvent } from '../../src/protocol/run/events.ts';
import { interruptedWork } from '../../src/protocol/run/interruptions.ts';
import type { Run } from '../../src/protocol/run/run.ts';
import { RunStore } from '../../src/runs/store.ts';
import type { ApprovalAnswer, ApprovalRequester, Tool } from '../../src/tools/core/tool.ts';
import { builtinTools } from '../../src/tools/host/builtinTools.ts';
import { createToolHost } from '../../src/tools/host/host.ts';
import { loadNestedWorkflows } from '../../src/workflows/action/nested.ts';
import type { AgentFile } from '../../src/workflows/plan/schema.ts';
import { loadAgent, loadWorkflow } from '../../src/workflows/read/validate.ts';
import { graphWorkflow } from '../../src/workflows/run/runGraph.ts';
import { type Provider, type ProviderScript, startProvider } from '../support/provider.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../support/workspace.ts';

export const toolNames = builtinTools().map((tool) => tool.definition.name);

/** A workflow at work on a real folder, with a provider on this machine and a real journal. */
export class Stage {
  readonly events: RunEvent[] = [];
  readonly questions: string[] = [];
  /** The commands that were asked about. */
  readonly commands: string[] = [];
  answers: (ApprovalAnswer | 'wait')[] = [];
  /** What a person chose for a run, by its id. */
  readonly presets = new Map<string, ApprovalPreset>();
  readonly runId = RunStore.newId();
  readonly folder = mkdtempSync(path.join(tmpdir(), 'flow-'));
  readonly store = new RunStore(this.folder);
  /** Beside those that come with Towpath, as servers have them. */
  tools: Tool[] = [];
  readonly agents = new Map<string, AgentFile>();
  /** Milliseconds that a workflow's clock is ahead. */
  ahead = 0;
  /** Other files of `.towpath/workflows`, by their names. */
  others: Record<string, string> = {};
  contextWindow?: number;
  price?: Price;
  /** A person has the run before them. */
  isAttended = true;
  /** US dollars that the run may spend. */
  /** `towpath.temperature`. */
  temperature?: number;
  runLimit = 0;
  private heard?: (event: RunEvent) => void;
  /** Hears every event when it is told. */
  told?: (event: RunEvent) => void;
  private readonly cache = createResponseCache();
  engine: ExecutionEngine;

  private constructor(
    readonly workspace: TemporaryWorkspace,
    readonly provider: Provider,
    public yaml: string,
    private readonly limits: Partial<AdapterLimits>,
  ) {
    this.engine = this.build();
  }

  static async of(
    yaml: string,
    script: ProviderScript = [],
    { files = {}, limits = {} }: { files?: Record<string, string>; limits?: Partial<AdapterLimits> } = {},
  ): Promise<Stage> {
    const [workspace, provider] = [await temporaryWorkspace(files), await startProvider(script)];
    return new Stage(workspace, provider, yaml, limits);
  }

  agent(name: string, yaml: string): void {
    const { value, problems } = loadAgent(yaml, { tools: toolNames });
    assert.deepEqual(problems, []);
    this.agents.set(name, value!);
  }

  /** As a reload of the window would, after the file was written anew. */
  rewrite(yaml: string): void {
    this.yaml = yaml;
    this.build();
  }

  /** As a reload of the window would. */
  build(): ExecutionEngine {
    const load = (yaml: string) => {
      const { value, problems } = loadWorkflow(yaml, { tools: toolNames });
      assert.deepEqual(problems, []);
      return value!;
    };
    const file = load(this.yaml);
    const nested = () => loadNestedWorkflows('flow', file, async (name) => load(this.others[name]!));
    const approve: ApprovalRequester = (request, signal) => {
      this.questions.push(request.plan.what);
      if (request.plan.command !== undefined) this.commands.push(request.plan.command);
      const answer = this.answers.shift() ?? { decision: 'allow' };
      if (answer !== 'wait') return Promise.resolve(answer);
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve({ decision: 'deny' })));
    };
    const client = createLLMClient({ provider: 'openai-compatible', baseUrl: this.provider.url, model: 'chosen' });
    const adapter = createAdapter(
      client,
      { retries: 0, ...this.limits },
      { cache: { replies: this.cache, provider: this.provider.url }, priceOf: () => this.price },
    );
    const policy = (runId: string) => ({
      ...defaultApprovalPolicy,
      preset: this.presets.get(runId) ?? defaultApprovalPolicy.preset,
    });
    this.engine = new ExecutionEngine({
      store: this.store,
      host: createToolHost({ workspace: this.workspace, tools: [...builtinTools(), ...this.tools], approve, policy }),
      workflow: async (id) =>
        graphWorkflow({ id, file, agents: this.agents, workflows: await nested(), now: () => Date.now() + this.ahead }),
      model: async ({ id = 'chosen' }: { id?: string } = {}) => ({
        id: `openai-compatible/${id}`,
        model: id,
        adapter,
        contextWindow: this.contextWindow,
      }),
      workspace: async () => ({ names: ['ws'] }),
      maxTurns: () => 20,
      temperature: () => this.temperature,
      runLimit: () => this.runLimit,
      isAttended: () => this.isAttended,
      onEvent: (event) => {
        this.events.push(event);
        this.heard?.(event);
        this.told?.(event);
      },
    });
    return this.engine;
  }

  /** As a crash would: what is on disk now is all there is. */
  async crash(running: Promise<unknown>): Promise<void> {
    const copy = this.copied();
    await this.engine.close();
    await running;
    this.goBackTo(copy);
  }

  /** As a crash would right after the next change of this kind, of which nothing is on record yet. */
  async crashAfter(change: 'writeText' | 'move' | 'delete', begin: () => Promise<unknown>): Promise<void> {
    const { workspace, engine } = this;
    const real = workspace[change] as (...args: unknown[]) => Promise<unknown>;
    let copy: string | undefined;
    const stand = async (...args: unknown[]) => {
      const result = await real(...args);
      copy ??= this.copied();
      void engine.close();
      return result;
    };
    Object.assign(workspace, { [change]: stand });
    try {
      await begin();
    } finally {
      Object.assign(workspace, { [change]: real });
    }
    await engine.close();
    assert.ok(copy, 'there was such a change');
    this.goBackTo(copy);
  }

  /** As a crash would right after the first event of this kind. */
  async crashAt(isIt: (event: RunEvent) => boolean): Promise<void> {
    this.heard = (event) => {
      if (!isIt(event)) return;
      this.heard = undefined;
      copy = this.copied();
    };
    let copy: string | undefined;
    await this.start();
    await this.engine.close();
    assert.ok(copy, 'there was such an event');
    this.goBackTo(copy);
  }

  private copied(): string {
    const copy = `${this.folder}-copy`;
    cpSync(this.folder, copy, { recursive: true, filter: (name) => path.basename(name) !== 'lock' });
    return copy;
  }

  private goBackTo(copy: string): void {
    rmSync(this.folder, { recursive: true });
    renameSync(copy, this.folder);
    this.build();
  }

  start(words = 'go', values?: Record<string, unknown>): Promise<EngineResult> {
    return this.engine.start({ runId: this.runId, workflowId: 'flow', userInput: words, ...(values && { values }) });
  }

  continue(words?: string, model?: string): Promise<EngineResult> {
    const said = words !== undefined && { userInput: words };
    return this.engine.continue({ runId: this.runId, ...said, ...(model !== undefined && { model }) });
  }

  /** Decides about the interrupted work that is shown first, as a person does, and continues. */
  async choose(choice: 'after' | 'again', result?: unknown): Promise<EngineResult> {
    const [work] = interruptedWork(await this.kept());
    assert.ok(work, 'something was interrupted');
    const { calls: toolCallIds } = work;
    assert.equal(await this.engine.chooseAfterInterruption(this.runId, { toolCallIds, choice, result }), undefined);
    return this.continue();
  }

  kept(): Promise<Run> {
    return this.store.read(this.runId);
  }

  /** The values at the end, without what was said at the start. */
  async state(): Promise<Record<string, unknown>> {
    const { input: _, ...state } = (await this.kept()).graph!.main.state;
    return state;
  }

  /** What happened at the nodes, in order: `start a`, `end a`. */
  get steps(): string[] {
    return this.events.flatMap((event) => (event.type === 'node' ? [`${event.status} ${event.node}`] : []));
  }

  async end(): Promise<void> {
    await this.engine.close();
    await this.provider.close();
    rmSync(this.folder, { recursive: true });
    this.workspace.cleanup();
  }
}
