import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { currentLocale, t } from '../../protocol/text/l10n.ts';
import { localizedErrorText } from '../../protocol/text/localized.ts';
import { StoreError } from '../../runs/journal.ts';
import type { RunStore } from '../../runs/store.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { notify } from '../dialogs/notify.ts';
import type { PanelConversation } from './conversation.ts';

interface Dependencies {
  store: RunStore;
  conversation: PanelConversation;
  modals: Dialogs;
}

/** Takes the displayed run from another window after a confirmation with its holder, and repeats the prevented work. */
export async function takeOverRun({ store, conversation, modals }: Dependencies): Promise<void> {
  await conversation.restored;
  const { runId } = conversation;
  if (!runId || conversation.working) {
    notify('info', t('No other window has this run.'));
    return;
  }
  const found = await store.holder(runId);
  const take = t('Take Over');
  if (found) {
    const text = t('Take this run over from another window?');
    if ((await modals.ask({ text, detail: holderText(found, Date.now()), buttons: [take] })) !== take) return;
    try {
      await store.takeOver(runId);
    } catch (error) {
      conversation.notice({ level: 'error', text: localizedErrorText(StoreError.from(error)) });
      return;
    }
  }
  const isDone = await conversation.goOnWithRefused(runId);
  if (!found && !isDone) notify('info', t('No other window has this run.'));
}

type Found = NonNullable<Awaited<ReturnType<RunStore['holder']>>>;

function holderText({ holder, beatAt }: Found, now: number): string {
  const location = [holder?.machine && t('on {0}', holder.machine), holder && t('process {0}', holder.pid)]
    .filter(Boolean)
    .join(', ');
  const since = holder?.since ? t('Running since {0}', new Date(holder.since).toLocaleTimeString(currentLocale())) : '';
  const lines = [
    t('Window: {0}', `${holder?.window ?? t('unknown')}${location ? ` (${location})` : ''}`),
    since,
    t('Last sign of life: {0}', ago(now - beatAt)),
  ];
  const means = t(
    'That window records nothing more of this run. What it does at this moment may still take effect, so stop it there if you can. This window continues from the recorded state.',
  );
  return `${lines.filter(Boolean).map(escapeInvisibleInLine).join('\n')}\n\n${means}`;
}

function ago(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 90) return t('{0} s ago', seconds);
  return seconds < 5400 ? t('{0} min ago', Math.round(seconds / 60)) : t('{0} h ago', Math.round(seconds / 3600));
}
