import type { ToolCall } from '../protocol/content/messages.ts';
import type { CallState, Run } from '../protocol/run/run.ts';
import { callWithCorrectedArguments } from '../protocol/run/understoodArguments.ts';
import type { ToolCallPlan } from '../tools/core/tool.ts';
import type { CheckTaskFolderAccess } from './folderWorkspace.ts';

/** Call of the model with its result. `reply`: number of the reply. `onlyReads`: the tool only reads or updates the plan. */
interface SeenCall extends Pick<ToolCall, 'name' | 'arguments'> {
  ok: boolean;
  exitCode?: CallState['exitCode'];
  reply: number;
  onlyReads: boolean;
}

export interface CheckTaskObservations {
  run: Run;
  folder: CheckTaskFolderAccess;
  answer: string;
  calls: readonly SeenCall[];
  questions: readonly ToolCallPlan[];
}

export function collectCheckTaskObservations(
  run: Run,
  folder: CheckTaskFolderAccess,
  questions: readonly ToolCallPlan[],
  onlyReads: (name: string) => boolean,
): CheckTaskObservations {
  const replies = run.messages.filter((message) => message.role === 'assistant');
  const calls = replies.flatMap(({ toolCalls = [] }, reply) =>
    toolCalls.map((call): SeenCall => {
      const { ok = false, exitCode } = run.calls[call.id] ?? {};
      const { name, arguments: given } = callWithCorrectedArguments(call, run.calls[call.id]);
      return {
        name,
        arguments: given,
        ok,
        reply,
        onlyReads: onlyReads(name),
        ...(exitCode !== undefined && { exitCode }),
      };
    }),
  );
  return { run, folder, answer: replies.at(-1)?.content.trim() ?? '', calls, questions };
}

/** Tells whether a text contains the number, with any thousands separator. */
export const textContainsNumber = (text: string, number: number): boolean =>
  new RegExp(`(?<![\\d.,])${String(number).replace(/\B(?=(\d{3})+$)/g, "[,.'\\s\u00a0\u202f]?")}(?!\\d)`).test(text);

export const trimmedEnd = (text: string | undefined): string | undefined => text?.replace(/\s+$/, '');
