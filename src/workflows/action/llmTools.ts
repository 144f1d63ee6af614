import * as z from 'zod';
import { RunSuspendedError } from '../../engine/core/abortReason.ts';
import type { SeparateConversationLog, TurnOptions } from '../../engine/core/workflow.ts';
import { lostOutcome } from '../../engine/notices/interruptedCalls.ts';
import { isUnansweredQuestion } from '../../protocol/content/askTool.ts';
import type { Message } from '../../protocol/content/messages.ts';
import { type ToolOutcome, toToolResult } from '../../protocol/content/tools.ts';
import { isCallEffectUnknown } from '../../protocol/run/interruptions.ts';
import { isSpendingLimitError } from '../../protocol/run/money.ts';
import { recordedOutcome } from '../../protocol/run/outcomes.ts';
import { pendingCalls } from '../../protocol/run/pending.ts';
import { message } from '../../protocol/text/l10n.ts';
import { toErrorInfo } from '../../protocol/text/localized.ts';
import { limitOutcomeSize } from '../../tools/core/outcome.ts';
import { toolSpecSchema } from '../plan/schema.ts';
import { type WorkflowAction, type WorkflowActionContext, WorkflowActionError } from './action.ts';
import { llmRequestFromParameters, parseWorkflowActionParameters, splitSystemPrompt } from './llm.ts';
import { llmCallShape } from './llmParameters.ts';
import { resolveToolList } from './toolSpecs.ts';

const { response_format: _, cache: __, ...shape } = llmCallShape;
const toolsSchema = z.strictObject({
  ...shape,
  tools: z
    .array(z.union([z.string(), toolSpecSchema]))
    .describe('Names of tools (`fs.read`, `fs.*`, one of the file’s `tools`), or tools of your own.'),
  tool_choice: z
    .string()
    .min(1)
    .default('auto')
    .describe('`auto`, `none`, `required`, or the name of the one tool that has to be called.'),
  max_tool_rounds: z
    .number()
    .int()
    .min(1)
    .max(100)
    .default(10)
    .describe('How often the model may call tools: 10 without it.'),
});

export const llmToolsAction: WorkflowAction = {
  parameters: toolsSchema,
  gives: z.strictObject({
    content: z.string().describe('The answer.'),
    tool_calls: z
      .array(z.strictObject({ id: z.string(), name: z.string(), arguments: z.record(z.string(), z.unknown()) }))
      .describe('What the model called.'),
    tool_results: z
      .array(
        z.strictObject({
          tool_call_id: z.string(),
          name: z.string(),
          result: z.unknown().optional(),
          error: z.string().optional(),
          code: z.string().optional(),
        }),
      )
      .describe('What each call gave: `result`, or `error` with its `code`.'),
    rounds: z.number().describe('How often it called tools.'),
    warning: z.string().optional().describe('When the rounds were used up before it was done.'),
  }),
  async run(given, context) {
    const params = parseWorkflowActionParameters(toolsSchema, given, 'llm.tools');
    const { systemPrompt, messages: asked } = splitSystemPrompt(params.messages);
    const { node, approval, defaults, run } = context;
    const model = params.model ?? defaults.model;
    const offered = chosenTools(params, context);
    const recorded = context.conversation?.(context.callId);
    await recorded?.begin(asked);
    const apart: SeparateConversationLog = recorded?.apart ?? {
      node,
      messages: [...asked],
      callPrefix: `${context.callId}:`,
      bare: true,
    };
    const begun = recorded?.given ?? asked.length;
    await answerPending(apart, offered, context);
    const messages = () => apart.messages.slice(begun);
    if (isAnswered(messages())) return resultOf(messages());
    const stop = await run.turns({
      agent: { id: node, name: node, instructions: '', ...(model && { model }), ...(approval && { approval }) },
      ...offered,
      isComplete: () => true,
      maxTurns: params.max_tool_rounds - messages().filter(isReply).length,
      request: {
        ...llmRequestFromParameters({ ...params, cache: false }, context),
        ...(systemPrompt && { systemPrompt }),
        ...choiceOf(params.tool_choice),
      },
      apart,
    });
    if (run.signal.aborted) throw run.signal.reason;
    const result = resultOf(messages());
    if (stop.error?.code === 'ENGINE_MAX_TURNS_EXCEEDED')
      return { ...result, warning: `The limit of ${params.max_tool_rounds} tool rounds is reached.` };
    if (isSpendingLimitError(stop.error)) throw new RunSuspendedError(stop);
    if (stop.error) throw new WorkflowActionError(stop.error);
    if (stop.phase !== 'Completed' && run.pausing) throw new RunSuspendedError(stop);
    if (apart.messages.at(-1)?.role === 'tool') throw new WorkflowActionError(deniedAgain);
    return result;
  },
};

const isReply = (message: Message): boolean => message.role === 'assistant' && !message.incomplete;

/** Returns true if the model has answered but the editor exited before the node received the answer. */
function isAnswered(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  return last?.role === 'assistant' && !last.incomplete && !last.toolCalls?.length;
}

/**
 * Completes calls without a result in a recorded conversation: uses a recorded outcome, or requests approval for a call that never started.
 * Calls with an unknown outcome suspend the node earlier.
 */
async function answerPending(
  apart: SeparateConversationLog,
  { allows, extraTools }: OfferedTools,
  context: WorkflowActionContext,
) {
  const { run, approval } = context;
  for (const { id: ownId, ...call } of pendingCalls(apart.messages)) {
    const id = apart.callIds?.[ownId] ?? apart.callPrefix + ownId;
    const state = run.run.calls[id];
    const own = extraTools?.find(({ definition }) => definition.name === call.name);
    const isOffered =
      own !== undefined || run.tools.some((tool) => tool.name === call.name && (allows?.(tool) ?? true));
    const recorded = recordedOutcome(run.run, { id, ...call });
    const isDenied = state?.decision === 'deny' && state.startedAt === undefined;
    const isReported = isDenied || (state?.ok && !recorded) || !isOffered;
    const perform = async () =>
      isReported
        ? lostOutcome(run.run, id)
        : own
          ? limitOutcomeSize(await own.run({ id, ...call }))
          : run.execute({ id, ...call }, approval);
    const outcome = recorded && run.run.outcomes?.[id]?.byPerson ? recorded : await perform();
    if (isUnansweredQuestion(outcome)) throw run.signal.reason;
    const after = run.run.calls[id];
    if (after && isCallEffectUnknown(run.run, id, after)) throw new WorkflowActionError(deniedAgain); // the user denied the repetition
    await apart.add?.({ role: 'tool', content: '', toolResults: [toToolResult(ownId, outcome)] });
    if (run.signal.aborted) throw run.signal.reason;
  }
}

/** Error if all calls of two turns were denied, after which the loop returns without an answer. */
const deniedAgain = {
  code: 'TOOL_DENIED',
  ...toErrorInfo(message('You did not allow the model’s call or its next one. Continue to ask it again.')),
};

type OfferedTools = Pick<TurnOptions, 'allows' | 'extraTools'>;

function chosenTools(
  { tools, tool_choice: choice }: z.output<typeof toolsSchema>,
  context: WorkflowActionContext,
): OfferedTools {
  if (['auto', 'none', 'required'].includes(choice)) return resolveToolList(tools, context);
  const chosen = tools.filter((tool) => (typeof tool === 'string' ? tool : tool.name) === choice);
  if (chosen.length > 0) return resolveToolList(chosen, context);
  throw new WorkflowActionError({
    code: 'TOOL_NOT_AVAILABLE',
    ...toErrorInfo(message('tool_choice names {0}, which is not among the tools.', choice)),
  });
}

function choiceOf(choice: string): { toolChoice?: 'none' | 'required' } {
  if (choice === 'auto') return {};
  return { toolChoice: choice === 'none' ? 'none' : 'required' };
}

function resultOf(messages: readonly Message[]) {
  const replies = messages.filter((message) => message.role === 'assistant');
  const calls = replies.flatMap((reply) => reply.toolCalls ?? []);
  const results = messages.flatMap((message) => (message.role === 'tool' ? message.toolResults : []));
  return {
    content: replies.at(-1)?.content ?? '',
    tool_calls: calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args })),
    tool_results: results.map(({ toolCallId, content }) => {
      const outcome = JSON.parse(content) as ToolOutcome;
      const name = calls.find(({ id }) => id === toolCallId)?.name ?? '';
      const messages = outcome.ok
        ? { result: outcome.data }
        : { error: outcome.error.message, code: outcome.error.code };
      return { tool_call_id: toolCallId, name, ...messages };
    }),
    rounds: replies.filter((reply) => (reply.toolCalls?.length ?? 0) > 0).length,
  };
}
