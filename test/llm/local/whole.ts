import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { EngineResult } from '../../../src/engine/core/runResult.ts';
import { ExecutionEngine } from '../../../src/engine/run/engine.ts';
import { createAdapter } from '../../../src/llm/adapter/adapter.ts';
import type { LLMClient } from '../../../src/llm/core/client.ts';
import { defaultApprovalPolicy } from '../../../src/protocol/content/policy.ts';
import type { RunEvent } from '../../../src/protocol/run/events.ts';
import type { Run } from '../../../src/protocol/run/run.ts';
import { RunStore } from '../../../src/runs/store.ts';
import type { ApprovalRequester } from '../../../src/tools/core/tool.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { createToolHost } from '../../../src/tools/host/host.ts';
import { loadNestedWorkflows } from '../../../src/workflows/action/nested.ts';
import { loadWorkflow } from '../../../src/workflows/read/validate.ts';
import { defaultChatWorkflow } from '../../../src/workflows/run/chatWorkflow.ts';
import { graphWorkflow } from '../../../src/workflows/run/runGraph.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';

/** `wait`: none until the run stops. */
export type Answer = 'allow' | 'deny' | 'wait' | Promise<'allow' | 'deny'>;

async function graphOf(id: string, yaml: string) {
  const file = loadWorkflow(yaml, { tools: [] }).value!;
  const workflows = await loadNestedWorkflows('flow', file, async () => file);
  return graphWorkflow({ id, file, agents: new Map(), workflows, now: Date.now });
}

/** All of Towpath but the editor: a client, the loop, real tools on a real folder, a real journal. */
export class Whole {
  readonly runId = RunStore.newId();
  readonly folder = mkdtempSync(path.join(tmpdir(), 'whole-'));
  readonly store = new RunStore(path.join(this.folder, 'store'));
  readonly events: RunEvent[] = [];
  /** What was asked, and how the folder was at that moment. */
  readonly questions: string[] = [];
  /** Told of every event, while it is being told. */
  onEvent: (event: RunEvent) => void = () => {};
  policy = defaultApprovalPolicy;
  /** Tokens that the model keeps in view, where that is known. */
  contextWindow?: number;
  /** YAML of a workflow; a chat without one. */
  workflow?: string;
  engine: ExecutionEngine;

  private constructor(
    readonly workspace: TemporaryWorkspace,
    public client: LLMClient,
    public answers: Answer[],
    readonly model: string,
  ) {
    this.engine = this.build();
  }

  static async begin(client: LLMClient, files: Record<string, string>, answers: Answer[] = [], model = 'test') {
    return new Whole(await temporaryWorkspace(files), client, answers, model);
  }

  /** As a reload of the window would. */
  build(): ExecutionEngine {
    const approve: ApprovalRequester = (request, signal) => {
      this.questions.push(request.plan.what);
      const answer = this.answers.shift() ?? 'allow';
      if (typeof answer !== 'string') return answer.then((decision) => ({ decision }));
      if (answer !== 'wait') return Promise.resolve({ decision: answer });
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve({ decision: 'allow' })));
    };
    this.engine = new ExecutionEngine({
      store: this.store,
      host: createToolHost({ workspace: this.workspace, tools: builtinTools(), approve, policy: () => this.policy }),
      workflow: async (id) => (this.workflow === undefined ? defaultChatWorkflow : graphOf(id, this.workflow)),
      model: async () => ({
        id: `local/${this.model}`,
        model: this.model,
        onThisMachine: true,
        ...(this.contextWindow !== undefined && { contextWindow: this.contextWindow }),
        adapter: createAdapter(this.client, { connectMs: 0, firstTokenMs: 0, retries: 0 }),
      }),
      workspace: async () => ({ names: ['sample'] }),
      maxTurns: () => 20,
      onEvent: (event) => {
        this.events.push(event);
        this.onEvent(event);
      },
    });
    return this.engine;
  }

  async start(text: string): Promise<EngineResult> {
    return this.engine.start({ runId: this.runId, userInput: text });
  }

  async continue(text?: string): Promise<EngineResult> {
    return this.engine.continue({ runId: this.runId, ...(text !== undefined && { userInput: text }) });
  }

  kept(): Promise<Run> {
    return this.store.read(this.runId);
  }

  /** Tokens that each turn so far evaluated of its prompt, and how long the prompt was. */
  get evaluated(): { evaluated: number; prompt: number }[] {
    return this.events.flatMap((event) =>
      event.type === 'usage'
        ? [
            {
              evaluated: event.usage.promptTokens - (event.usage.cachedTokens ?? 0),
              prompt: event.usage.promptTokens,
            },
          ]
        : [],
    );
  }

  async end(): Promise<void> {
    await this.engine.close();
    rmSync(this.folder, { recursive: true });
    this.workspace.cleanup();
  }
}
