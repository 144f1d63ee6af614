import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { ToolCall } from '../protocol/messages.ts';
import { decisionSchema, type EventBody, type KeptChange } from '../protocol/run.ts';
import { failure, type ToolDefinition, type ToolOutcome } from '../protocol/tools.ts';
import { checkArguments } from './arguments.ts';
import { didYouMean } from './nearest.ts';
import { bounded, toFailure } from './outcome.ts';
import { type Approve, type CallContext, type Plan, type Tool, type ToolContext, ToolError } from './tool.ts';
import type { Workspace } from './workspace.ts';

/** The gate: the one place where a tool runs. Find → check arguments → ask → run. */
export interface ToolHost {
  /** Before a run: tools that must be started or asked about first. Resolves at once when the signal is aborted. */
  prepare(signal: AbortSignal, say: (text: string) => void): Promise<void>;
  /**
   * What the model may use now, in an order and form that never change; in an untrusted workspace only what reads.
   * `contextWindow` (tokens, when known): a small one is not filled with tools that a model can do without.
   */
  getVisibleTools(context: { agentId: string; contextWindow?: number }): ToolDefinition[];
  /** The call only reads: it may start while the model is still writing, and beside others. */
  isFree(call: ToolCall): boolean;
  /** Never throws. The outcome can be stored as JSON and is at most 64 KiB of it. */
  executeToolCall(call: ToolCall, context: CallContext): Promise<ToolOutcome>;
}

export interface ToolHostOptions {
  workspace: Workspace;
  /** Always these, or what gives them as they are now. */
  tools: readonly Tool[] | (() => readonly Tool[]);
  approve: Approve;
  prepare?: ToolHost['prepare'];
  /** A monotonic clock in milliseconds. */
  now?: () => number;
}

/** Tokens; below this a window is small. */
const smallWindow = 12_000;

export function createToolHost({
  workspace,
  tools,
  approve,
  prepare = async () => {},
  now = () => performance.now(),
}: ToolHostOptions): ToolHost {
  const all = typeof tools === 'function' ? tools : () => tools;
  const byName = (name: string) => all().find((tool) => tool.definition.name === name);
  const visible = () => all().filter((tool) => !tool.hidden && (workspace.trusted || tool.risk === 'read'));

  return {
    prepare,
    getVisibleTools: ({ contextWindow = smallWindow }) =>
      visible()
        .filter((tool) => !tool.extra || contextWindow >= smallWindow)
        .map((tool) => tool.definition),
    isFree: (call) => call.malformed === undefined && byName(call.name)?.risk === 'read',

    async executeToolCall(call, context) {
      let started = now();
      let change: KeptChange | undefined;
      let outputId: string | undefined;
      const outcome = bounded(await execute(call, context).catch((error) => toFailure(error, context.signal)));
      const end: EventBody = {
        type: 'tool-end',
        toolCallId: call.id,
        name: call.name,
        ok: outcome.ok,
        ms: Math.max(0, Math.round(now() - started)),
        ...(!outcome.ok && { code: outcome.error.code }),
        ...(outcome.ok && change && { changes: [change] }),
        ...(outputId && { outputId }),
      };
      // The effect is done and told: a store that fails here fails for the next event too, where it stops the run.
      await stored(context, end).catch(() => undefined);
      return outcome;

      async function execute(call: ToolCall, context: CallContext): Promise<ToolOutcome> {
        stopIfAborted(context.signal);
        const tool = find(call.name);
        const args = checkArguments(call, tool);
        const toolContext = contextOf(call, context, async (text) => {
          outputId = await context.keep(text);
          return outputId;
        });
        const planned = await beforeStop(context.signal, Promise.resolve(tool.plan?.(args, toolContext)));
        const plan = planned && Object.freeze(planned);
        if (plan) {
          const words = await ask({ ...call, arguments: args as ToolCall['arguments'] }, plan, context);
          if (words !== undefined) return denied(words);
          find(call.name); // trust may have been taken back while the question was open
          change = plan.change && (await keep(plan.change, context));
        }
        stopIfAborted(context.signal);
        await stored(context, { type: 'tool-start', toolCallId: call.id, name: call.name });
        started = now(); // the time it takes is not the time people think about it
        stopIfAborted(context.signal);
        const running = plan ? plan.run(toolContext) : tool.run!(args, toolContext);
        // What changes something is waited for: a write finishes, a command ends with its children. What reads is left.
        const data = await (tool.risk === 'read' ? beforeStop(context.signal, running) : running);
        return { ok: true, data: data ?? null };
      }
    },
  };

  function find(name: string): Tool {
    const tool = byName(name);
    if (!tool) {
      const names = visible().map(({ definition }) => definition.name);
      const hint = didYouMean(name, names) || ` There are: ${names.join(', ')}.`;
      throw new ToolError('TOOL_NOT_AVAILABLE', `There is no tool ${JSON.stringify(name.slice(0, 100))}.${hint}`);
    }
    if (!workspace.trusted && tool.risk !== 'read') {
      const message = `${name} is not available: this workspace is not trusted, so nothing may be changed or run.`;
      throw new ToolError('TOOL_NOT_AVAILABLE', message);
    }
    return tool;
  }

  /** Undefined: allowed. Text: denied, with the person's words or none. */
  async function ask(call: ToolCall, plan: Plan, context: CallContext): Promise<string | undefined> {
    const event = { type: 'approval', toolCallId: call.id } as const;
    if (plan.grant !== undefined && context.grants.has(plan.grant)) {
      const automatic = `Allowed earlier in this run: ${plan.grant}.`;
      await stored(context, { ...event, decision: 'allow', waitedMs: 0, automatic });
      return undefined;
    }
    const id = randomUUID();
    const { what, where, why, command } = plan;
    const question = { id, what, where, why, ...(command !== undefined && { command }) };
    await stored(context, { type: 'question', toolCallId: call.id, question });
    const asked = now();
    const request = Object.freeze({ id, runId: context.runId, call: Object.freeze(call), plan });
    // An exception is a no, and so is anything that is not clearly a yes.
    const answering = Promise.resolve()
      .then(() => approve(request, context.signal))
      .catch(() => undefined);
    const answer = await beforeStop(context.signal, answering);
    const decision = decisionSchema.safeParse(answer?.decision).data ?? 'deny';
    const words = typeof answer?.words === 'string' ? answer.words.trim() : '';
    const waitedMs = Math.max(0, Math.round(now() - asked));
    await stored(context, { ...event, decision, waitedMs, ...(words && { words }) });
    if (decision === 'deny') return words;
    if (decision === 'allow-run' && plan.grant !== undefined) context.grants.add(plan.grant);
    return undefined;
  }

  function contextOf(call: ToolCall, context: CallContext, keepOutput: ToolContext['keepOutput']): ToolContext {
    return {
      runId: context.runId,
      workspace,
      signal: context.signal,
      output: (text) => {
        if (context.signal.aborted) return; // nothing arrives after a stop
        context.emit({ type: 'tool-output', toolCallId: call.id, text }).catch(() => undefined);
      },
      keepOutput,
      keptOutput: (id) => context.keptOutput(id),
    };
  }
}

/** Both contents are kept before the effect: what cannot be undone is not done. */
async function keep(change: NonNullable<Plan['change']>, context: CallContext): Promise<KeptChange> {
  const kept = async (content: string | null) => (content === null ? null : context.keep(content));
  try {
    return { path: change.path, before: await kept(change.before), after: await kept(change.after) };
  } catch (error) {
    throw storeError(error);
  }
}

async function stored(context: CallContext, event: EventBody): Promise<void> {
  try {
    await context.emit(event);
  } catch (error) {
    throw storeError(error);
  }
}

function storeError(error: unknown): ToolError {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  return new ToolError(
    typeof code === 'string' ? code : 'E_INTERNAL',
    `Nothing was run, because the run could not be kept: ${typeof message === 'string' ? message : 'unknown error'}`,
  );
}

function denied(words: string): ToolOutcome {
  if (words === '') return failure('TOOL_DENIED', 'The person did not allow this. Nothing was run.');
  return failure('TOOL_DENIED', `The person did not allow this and said: ${words}`, { words });
}

function stopIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw stopped();
}

const stopped = () => new ToolError('TOOL_INTERRUPTED', 'Stopped before it ran.');

/** The promise's value, or a stop as soon as the signal says so; what the promise gives later is ignored. */
function beforeStop<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(stopped());
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
