import type { ExecutionEngine } from '../../engine/run/engine.ts';
import { isSpendingLimitError, spendingLimitKindOfError } from '../../protocol/run/money.ts';
import { localizedRunTitle, runTitle } from '../../protocol/run/run.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localizedErrorText } from '../../protocol/text/localized.ts';
import type { RunStore } from '../../runs/store.ts';
import { notifyWithActions } from '../dialogs/notify.ts';
import type { MoneyLimits } from '../providers/moneyLimits.ts';
import type { PanelConversation } from './conversation.ts';

interface Dependencies {
  conversation: PanelConversation;
  engine: ExecutionEngine;
  store: RunStore;
  limits: MoneyLimits;
}

export async function raiseSpendingLimit({ conversation, engine, store, limits }: Dependencies): Promise<void> {
  await conversation.restored;
  const { runId } = conversation;
  const run = runId === undefined ? undefined : (engine.live(runId) ?? (await store.read(runId)));
  const of = spendingLimitKindOfError(run?.error);
  if (!run || run.phase === 'Running' || !isSpendingLimitError(run.error)) {
    const open = t('Settings');
    const chosen = await notifyWithActions(
      'info',
      t('The shown run is not at a spending limit. The limits are settings.'),
      open,
    );
    if (chosen === open) await limits.openSettings();
    return;
  }
  if (!of || Number.isNaN(limits.of(of))) return void (await limits.openSettings());
  if (limits.of(of) > 0) {
    const more = await limits.ask(
      of,
      escapeInvisibleInLine(localizedErrorText(run.error!)),
      escapeInvisibleInLine(localizedRunTitle(runTitle(run))),
    );
    if (more === undefined) return;
    const to = of === 'day' ? await limits.raiseDay(more) : Math.max(limits.of(of), run.allowed ?? 0) + more;
    const failure = await engine.raiseLimit(run.id, { of, more, to });
    if (failure && of === 'run') return conversation.notice({ level: 'error', text: localizedErrorText(failure) });
  }
  if (conversation.runId === run.id) await conversation.goOn();
}
