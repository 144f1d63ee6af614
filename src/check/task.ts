import type { LocalizedMessage } from '../protocol/text/l10n.ts';
import type { ApprovalAnswer, ApprovalRequest } from '../tools/core/tool.ts';
import type { TaskFolder } from './folderWorkspace.ts';
import type { SeenCalls } from './seen.ts';

/** One small task, and how it is known whether a model has done it. */
export interface Task {
  id: string;
  /** What it is about, for people. */
  title: string;
  /** What lies in its folder before, by path. */
  files: Readonly<Record<string, string>>;
  asks: string;
  /** Replies that it takes when nothing goes wrong, for the estimate. */
  replies: number;
  /** What the person would answer; undefined: as always (`usualAnswer`). */
  answers?(request: ApprovalRequest, folder: TaskFolder): ApprovalAnswer | undefined;
  /** Why it is not done, in a sentence about the model; undefined: it is. */
  judge(seen: SeenCalls): LocalizedMessage | undefined;
}

/**
 * Files of the folder may be made and changed; nothing else is allowed: no command, no page, no deletion. So nothing that a model can
 * think of reaches anything outside.
 */
export function usualAnswer({ plan }: Pick<ApprovalRequest, 'plan'>): ApprovalAnswer {
  const isOfTheFolder = plan.change !== undefined && plan.change.after !== null && plan.command === undefined;
  return isOfTheFolder ? { decision: 'allow' } : { decision: 'deny', words: 'No, that is not needed for this.' };
}
