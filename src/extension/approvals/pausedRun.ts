import { t } from '../../protocol/text/l10n.ts';
import { safeRunTitle } from '../dialogs/approvalText.ts';
import { notifyWithActions } from '../dialogs/notify.ts';

/**
 * Notifies about a hidden run held by a denial, and shows the run on request. Never shown automatically, because the draft in the message
 * box belongs to another run.
 */
export async function notifyRunHeldByDenial(title: string, show: () => Promise<void>): Promise<void> {
  const open = t('Open Run');
  const text = t('“{0}” is waiting for your instructions', safeRunTitle(title));
  if ((await notifyWithActions('info', text, open)) === open) await show();
}
