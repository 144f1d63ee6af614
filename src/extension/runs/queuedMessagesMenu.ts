import * as vscode from 'vscode';
import type { MessageDeliveryTiming } from '../../protocol/run/events.ts';
import type { QueuedMessage } from '../../protocol/run/run.ts';
import { t } from '../../protocol/text/l10n.ts';
import { notify } from '../dialogs/notify.ts';
import type { ChatView } from '../view/chatView.ts';
import type { PanelConversation } from './conversation.ts';

interface Dependencies {
  conversation: PanelConversation;
  view: Pick<ChatView, 'post'>;
}

const times = [
  { label: 'Next Step', detail: 'Calls that have not started are not run', when: 'turn' },
  { label: 'When Finished', detail: 'The step finishes before this takes effect', when: 'done' },
  { label: 'Send Now', detail: 'Running work is stopped', when: 'now' },
] as const satisfies readonly { label: string; detail: string; when: MessageDeliveryTiming }[];

const timeRow = ({ label, detail, when }: (typeof times)[number]) => ({ label: t(label), detail: t(detail), when });

/** Sends a message to the running displayed run, at a selected time. With arguments, no dialog opens. */
export async function sendToRun({ conversation }: Dependencies, text?: unknown, when?: unknown): Promise<void> {
  await conversation.restored;
  if (!conversation.working) {
    notify('info', t('The shown run is not in progress. Send the message in the panel.'));
    return;
  }
  const title = t('Towpath: queue a message');
  const sentence =
    typeof text === 'string' ? text : await vscode.window.showInputBox({ title, prompt: t('Enter a message') });
  if (!sentence?.trim()) return;
  const given = times.find((one) => one.when === when);
  const time =
    given ??
    (await vscode.window.showQuickPick(times.map(timeRow), { title, placeHolder: t('When should it be sent?') }));
  if (time) void conversation.send(sentence.trim(), undefined, undefined, time.when);
}

export async function showQueuedMessages({ conversation, view }: Dependencies): Promise<void> {
  await conversation.restored;
  const { runId } = conversation;
  const waiting = runId ? await conversation.waitingIn(runId) : [];
  if (!runId || waiting.length === 0) {
    notify('info', t('No queued messages.'));
    return;
  }
  const title = t('Towpath: queued messages');
  const labelOf = ({ text, when, queued }: QueuedMessage) => ({
    label: text.trim().split('\n', 1)[0]!.slice(0, 100),
    description: t(times.find((one) => one.when === when)!.label),
    queued,
    when,
  });
  const one = await vscode.window.showQuickPick(waiting.map(labelOf), { title });
  if (!one) return;
  const acts = [
    ...times.filter(({ when }) => when !== one.when).map(timeRow),
    { label: t('Edit'), detail: t('In the message box'), when: undefined },
    { label: t('Remove'), detail: t('The message is not sent'), when: undefined },
  ];
  const act = await vscode.window.showQuickPick(acts, { title, placeHolder: one.label });
  if (act?.when) await conversation.changeWaiting(runId, one.queued, { when: act.when });
  else if (act?.label === t('Remove')) await conversation.takeBack(runId, one.queued);
  else if (act) {
    await vscode.commands.executeCommand('towpath.showChat');
    view.post({ type: 'edit-waiting', queued: one.queued });
  }
}
