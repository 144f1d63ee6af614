import { untrustedWorkspaceMessage } from '../../engine/core/runResult.ts';
import type { Notice } from '../../protocol/panel/panelMessages.ts';
import { t } from '../../protocol/text/l10n.ts';

export const untrustedNotice = (): Notice => ({
  level: 'warning',
  text: t(untrustedWorkspaceMessage),
  action: { label: t('Manage Trust'), action: 'manage-trust' },
});

export const takeOverNoticeAction = (): Notice['action'] => ({ label: t('Take Over'), action: 'take-over' });
