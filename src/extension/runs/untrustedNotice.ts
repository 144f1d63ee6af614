import { untrustedMessage } from '../../engine/core/runResult.ts';
import type { Notice } from '../../protocol/panel/panelMessages.ts';
import { t } from '../../protocol/text/l10n.ts';

/** Notice that an approval cannot be answered in an untrusted workspace. */
export const untrustedNotice = (): Notice => ({
  level: 'warning',
  text: t(untrustedMessage),
  action: { label: t('Manage Trust'), action: 'manage-trust' },
});

/** Returns the button of a notice about a run that is open in another window. */
export const takeOverAction = (): Notice['action'] => ({ label: t('Take Over'), action: 'take-over' });
