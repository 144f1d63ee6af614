import { localizedRunTitle } from '../../protocol/run/run.ts';
import { escapeInvisibleInProseLine } from '../../protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../protocol/text/l10n.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import { type LiveRunStatus, stateLabel } from '../runs/runStates.ts';

interface Now {
  working: number;
  approvals: number;
  questions: number;
  /** Commands that wait for input. */
  inputs?: number;
  runs: readonly LiveRunStatus[];
}

/** Text and action of the status bar item. A click handles this window; runs of other windows are listed. */
export function statusBarContent({ working, approvals, questions, inputs = 0, runs }: Now): {
  text: string;
  tooltip: string;
  command: string;
  warns: boolean;
} {
  const are = (state: LiveRunStatus['state']) => runs.filter((run) => run.state === state).length;
  const asking = approvals + questions;
  const asks = Math.max(asking, are('asking'));
  const isWorking = working > 0 || are('working') > 0;
  const unseen = are('failed') + are('ended');
  const number = (count: number) => (count > 1 ? ` (${count})` : '');
  const input = asking === 0 && inputs > 0 ? t('Towpath: a command waits for input') : undefined;
  const approval = approvals > 0 ? t('Towpath: {0} waiting', localizedCount(approvals, 'approval')) : undefined;
  const text =
    asks > 0
      ? `$(question) ${input ?? approval ?? t('Towpath has a question') + number(asks)}`
      : isWorking
        ? `$(sync~spin) ${t('Towpath: working…')}${number(are('working'))}`
        : unseen > 0
          ? `$(bell-dot) Towpath${number(unseen)}`
          : '$(comment-discussion) Towpath';
  const [command, click] =
    asking > 0
      ? ['towpath.answer', t('Click to answer.')]
      : asks === 0 && working > 0
        ? ['towpath.stop', t('Click to stop.')]
        : runs.length > 0
          ? ['towpath.runsNow', t('Click to list them.')]
          : ['towpath.showChat', ''];
  const statusText =
    asks > 0
      ? (input ?? t('Towpath is waiting for your approval.'))
      : isWorking
        ? t('Towpath is working…')
        : unseen > 0
          ? ''
          : t('Towpath: open the chat');
  const lines = linesOf(runs);
  return {
    text,
    tooltip: [statusText, ...lines, click].filter(Boolean).join(lines.length > 0 ? '\n' : ' '),
    command,
    warns: asks > 0,
  };
}

/** Badge of the view: number of runs that wait for the user; undefined: none. */
export function waitingRunsBadge(runs: readonly LiveRunStatus[]): { value: number; tooltip: string } | undefined {
  const value = runs.filter(({ state }) => state !== 'working').length;
  return value === 0 ? undefined : { value, tooltip: linesOf(runs).join('\n') };
}

function linesOf(runs: readonly LiveRunStatus[]): string[] {
  const lines = runs
    .slice(0, maxLines)
    .map((run) =>
      t(
        '“{0}”: {1}',
        truncateWithEllipsis(escapeInvisibleInProseLine(localizedRunTitle(run.title)), 60) || t('New run'),
        stateLabel(run),
      ),
    );
  return runs.length > maxLines ? [...lines, t('and {0} more', runs.length - maxLines)] : lines;
}

const maxLines = 8;
