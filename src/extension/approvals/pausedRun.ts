import { t } from '../../protocol/text/l10n.ts';
import { nameOfRun } from '../dialogs/approvalText.ts';
import { notifyWithActions } from '../dialogs/notify.ts';

/**
 * Says that a run that is not shown is held by a denial, and shows it if the user wants. The draft in the message box is not of that run:
 * it is not shown by itself.
 */
export async function offerHeldRun(title: string, show: () => Promise<void>): Promise<void> {
  const open = t('Open Run');
  const text = t('“{0}” is waiting for your instructions', nameOfRun(title));
  if ((await notifyWithActions('info', text, open)) === open) await show();
}
