import type { ToolCall } from '../../src/protocol/content/messages.ts';
import { type ApprovalPolicy, defaultApprovalPolicy } from '../../src/protocol/content/policy.ts';
import type { UserQuestionAnswer, UserQuestions } from '../../src/protocol/content/questions.ts';
import type { ToolOutcome } from '../../src/protocol/content/tools.ts';
import type { RunEventBody } from '../../src/protocol/run/events.ts';
import type { Localizer } from '../../src/protocol/text/localized.ts';
import type {
  ApprovalAnswer,
  ApprovalRequest,
  ApprovalRequester,
  CallContext,
  Tool,
} from '../../src/tools/core/tool.ts';
import type { Workspace } from '../../src/tools/core/workspace.ts';
import { builtinTools } from '../../src/tools/host/builtinTools.ts';
import { createToolHost, type ToolHost } from '../../src/tools/host/host.ts';
import { sha256 } from '../../src/tools/sandbox/fileText.ts';

/** A host on a real workspace, a person with prepared answers, and everything that was said. */
export interface Conversation {
  host: ToolHost;
  /** What the person was asked, in order. */
  asked: ApprovalRequest[];
  events: RunEventBody[];
  /** What the model's own questions were. */
  questioned: (readonly UserQuestions[])[];
  kept: Map<string, string>;
  stop: AbortController;
  grants: Set<string>;
  call(name: string, args?: unknown, more?: Partial<ToolCall>): Promise<ToolOutcome>;
  /** Calls of one reply that are asked about, one after the other; ids `call-1`, `call-2`, … */
  reply(...calls: [name: string, args: unknown][]): Promise<ToolOutcome[]>;
}

export interface ConversationOptions {
  runId?: string;
  tools?: readonly Tool[];
  /** The answer to every question, or what gives it. Default: allow. */
  answer?: ApprovalAnswer['decision'] | ApprovalAnswer | ApprovalRequester;
  policy?: Partial<ApprovalPolicy>;
  /** The agent's own. */
  agentPolicy?: Partial<ApprovalPolicy>;
  /** Called before an event is kept; what it throws is the store's failure. */
  beforeEvent?: (event: RunEventBody) => void;
  now?: () => number;
  /** How the person is told what they are asked. Default: in English. */
  tell?: Localizer;
  /** What the person says to the model's own questions. Default: the first answer of each. */
  says?: UserQuestionAnswer;
  /** In place of a disk that takes everything. */
  keep?: CallContext['keep'];
}

export function conversation(workspace: Workspace, options: ConversationOptions = {}): Conversation {
  const { answer = 'allow', beforeEvent, now } = options;
  const asked: ApprovalRequest[] = [];
  const events: RunEventBody[] = [];
  const kept = new Map<string, string>();
  const stop = new AbortController();
  const grants = new Set<string>();
  const questioned: (readonly UserQuestions[])[] = [];
  const approve: ApprovalRequester = async (request, signal) => {
    asked.push(request);
    if (typeof answer === 'function') return answer(request, signal);
    return typeof answer === 'string' ? { decision: answer } : answer;
  };
  const { tools = builtinTools(), policy, agentPolicy, tell } = options;
  const whole = { ...defaultApprovalPolicy, ...policy };
  const host = createToolHost({
    workspace,
    tools,
    approve,
    policy: () => whole,
    now,
    ...(tell && { localizer: tell }),
  });
  let count = 0;
  const made = (name: string, args: unknown): ToolCall => {
    count += 1;
    return { id: `call-${count}`, name, arguments: args as ToolCall['arguments'] };
  };
  const keepInMemory = async (content: string | Uint8Array) => {
    kept.set(sha256(content), Buffer.from(content as string).toString());
    return sha256(content);
  };
  const context: CallContext = {
    runId: options.runId ?? 'run',
    agentId: 'default',
    signal: stop.signal,
    grants,
    ...(agentPolicy && { policy: { ...defaultApprovalPolicy, ...agentPolicy } }),
    async emit(event) {
      beforeEvent?.(event);
      events.push(event);
    },
    newPack: () => Promise.reject(new Error('nothing is recorded here')),
    keep: options.keep ?? keepInMemory,
    keepOutput: options.keep ?? keepInMemory,
    storedOutput: async (id) => [...kept].find(([whole]) => whole.startsWith(id))?.[1],
    ask: async (_, questions) => {
      questioned.push(questions);
      return options.says ?? { choices: questions.map(() => ({ chosen: [0] })) };
    },
  };
  const run = async (call: ToolCall, later?: readonly ToolCall[]) => {
    const outcome = await host.executeToolCall(call, context, later);
    return asTold(
      outcome,
      tools.find(({ definition }) => definition.name === call.name),
    );
  };
  return {
    host,
    asked,
    events,
    questioned,
    kept,
    stop,
    grants,
    call: (name, args = {}, more = {}) => run({ ...made(name, args), ...more }),
    async reply(...calls) {
      const all = calls.map(([name, args]) => made(name, args));
      const outcomes: ToolOutcome[] = [];
      for (const [index, call] of all.entries()) outcomes.push(await run(call, all.slice(index + 1)));
      return outcomes;
    },
  };
}

/** Throws when the tool gave what it does not tell people that it gives. What the person changed, the host adds to any. */
export function asTold(outcome: ToolOutcome, tool: Tool | undefined): ToolOutcome {
  if (!outcome.ok || !tool?.gives) return outcome;
  const { changedByPerson, ...data } = Object(outcome.data);
  tool.gives.parse(changedByPerson === undefined ? outcome.data : (data.value ?? data));
  return outcome;
}

/** The data of a call that went well. */
export async function data<Data = Record<string, unknown>>(outcome: Promise<ToolOutcome>): Promise<Data> {
  const settled = await outcome;
  if (!settled.ok) throw new Error(`${settled.error.code}: ${settled.error.message}`);
  return settled.data as Data;
}

/** The error of a call that failed. */
export async function error(outcome: Promise<ToolOutcome>) {
  const settled = await outcome;
  if (settled.ok) throw new Error(`expected a failure, got ${JSON.stringify(settled.data)}`);
  return { ...settled.error, reason: (settled.error.details as { reason?: string } | undefined)?.reason };
}
