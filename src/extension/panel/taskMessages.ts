import type { UserInput } from '../../engine/input/questionQueue.ts';
import type { Notice, ViewMessage } from '../../protocol/panel/panelMessages.ts';
import { t } from '../../protocol/text/l10n.ts';

interface Dependencies {
  engine: { sayToTask(runId: string, task: string, input: UserInput): Promise<boolean> };
  conversation: { notice(notice: Notice): void };
}

/** Gives a message of the user to a task. Resolves to false, with a notice, if the task cannot receive the message. */
export async function sendToTask(
  { runId, task, text }: Extract<ViewMessage, { type: 'say-to-task' }>,
  { engine, conversation }: Dependencies,
): Promise<boolean> {
  const isReceived = await engine.sayToTask(runId, task, { userInput: text });
  if (!isReceived)
    conversation.notice({
      level: 'info',
      text: t('The task has ended. Your message is in the message box of the run.'),
    });
  return isReceived;
}
