import type { ToolCall } from '../protocol/content/messages.ts';
import type { CallState, Run } from '../protocol/run/run.ts';
import { understoodCall } from '../protocol/run/understoodArguments.ts';
import type { CallPlan } from '../tools/core/tool.ts';
import type { TaskFolder } from './folderWorkspace.ts';

/** A call that the model made, and what became of it. */
interface SeenCall extends Pick<ToolCall, 'name' | 'arguments'> {
  ok: boolean;
  /** How the command ended that it has run. */
  exitCode?: CallState['exitCode'];
  /** The number of the reply that asks for it. */
  reply: number;
  /** Nothing was changed by it or for it: its tool only reads, or keeps the plan. */
  onlyReads: boolean;
}

/** What a model has made of a task. */
export interface SeenCalls {
  run: Run;
  folder: TaskFolder;
  /** Its last words. */
  answer: string;
  calls: readonly SeenCall[];
  /** What the person was asked. */
  questions: readonly CallPlan[];
}

export function seenOf(
  run: Run,
  folder: TaskFolder,
  questions: readonly CallPlan[],
  onlyReads: (name: string) => boolean,
): SeenCalls {
  const replies = run.messages.filter((message) => message.role === 'assistant');
  const calls = replies.flatMap(({ toolCalls = [] }, reply) =>
    toolCalls.map((call): SeenCall => {
      const { ok = false, exitCode } = run.calls[call.id] ?? {};
      const { name, arguments: given } = understoodCall(call, run.calls[call.id]);
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

/** Whether a text has this number, however its thousands are parted. */
export const hasNumber = (text: string, number: number): boolean =>
  new RegExp(`(?<![\\d.,])${String(number).replace(/\B(?=(\d{3})+$)/g, "[,.'\\s\u00a0\u202f]?")}(?!\\d)`).test(text);

/** A text without what editors and models add at its end. */
export const trimmedEnd = (text: string | undefined): string | undefined => text?.replace(/\s+$/, '');
