import type { LocalizedMessage } from '../protocol/text/l10n.ts';
import type { ApprovalAnswer, ApprovalRequest } from '../tools/core/tool.ts';
import type { CheckTaskFolderAccess } from './folderWorkspace.ts';
import type { CheckTaskObservations } from './seen.ts';

/** Ability that a model shows by passing a task: text alone, a tool call, or a change of a file. */
type TaskAbility = 'text' | 'tool' | 'change';

/**
 * Task with its judge. `needs`: ability without which no model passes. `files`: initial content of the folder by path. `replies`: expected
 * replies without failures, for the estimate. `answers`: approval decision, `defaultCheckApproval` if undefined. `judge` returns the reason
 * of a failure as a sentence about the model; undefined: passed.
 */
export interface ModelCheckTask {
  id: string;
  title: string;
  needs: TaskAbility;
  files: Readonly<Record<string, string>>;
  asks: string;
  replies: number;
  answers?(request: ApprovalRequest, folder: CheckTaskFolderAccess): ApprovalAnswer | undefined;
  judge(seen: CheckTaskObservations): LocalizedMessage | undefined;
}

/** Default decision: allows to create and change files of the folder; denies everything else, so that no effect leaves the folder. */
export function defaultCheckApproval({ plan }: Pick<ApprovalRequest, 'plan'>): ApprovalAnswer {
  const isOfTheFolder = plan.change !== undefined && plan.change.after !== null && plan.command === undefined;
  return isOfTheFolder ? { decision: 'allow' } : { decision: 'deny', words: 'No, that is not needed for this.' };
}
