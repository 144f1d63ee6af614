import * as vscode from 'vscode';
import { sortRunsUnderParents } from '../../protocol/run/branches.ts';
import { localizedRunTitle } from '../../protocol/run/run.ts';
import type { RunSummary } from '../../protocol/run/summary.ts';
import { formatAge } from '../../protocol/text/ago.ts';
import { escapeInvisibleInProseLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { matchesSearchQuery } from '../../runs/searchRuns.ts';
import type { RunStore } from '../../runs/store.ts';
import { notify } from '../dialogs/notify.ts';
import { type LiveRunStatus, restingRunState, stateLabel } from './runStates.ts';
import type { WorktreeRunStatus } from './worktrees.ts';

interface PickedRun {
  run?: RunSummary;
  folder?: string;
}
type Item = vscode.QuickPickItem & PickedRun;

export async function pickRun(
  store: Pick<RunStore, 'search'>,
  states: { of(runId: string): LiveRunStatus | undefined },
  title: string,
  elsewhere: readonly WorktreeRunStatus[] = [],
): Promise<PickedRun | undefined> {
  const itemsFor = async (query: string): Promise<Item[]> => {
    const found = await store.search(query);
    const excerpts = new Map(found.map(({ run, excerpt }) => [run.id, excerpt]));
    const here = sortRunsUnderParents(found.map(({ run }) => run)).map(({ run, depth }) =>
      itemOf(run, depth, states.of(run.id), excerpts.get(run.id)),
    );
    return [...here, ...inWorktrees(elsewhere, query)];
  };
  const all = await itemsFor('');
  if (all.length === 0) {
    notify('info', t('There are no runs in this workspace yet.'));
    return undefined;
  }
  const picker = vscode.window.createQuickPick<Item>();
  picker.title = title;
  picker.placeholder = t('Words of its title or messages');
  picker.items = all;
  let asked = '';
  picker.onDidChangeValue(async (value) => {
    asked = value;
    const items = await itemsFor(value);
    if (asked === value) picker.items = items;
  });
  const chosen = await new Promise<PickedRun | undefined>((resolve) => {
    picker.onDidAccept(() => resolve(picker.selectedItems[0]));
    picker.onDidHide(() => resolve(undefined));
    picker.show();
  });
  picker.dispose();
  return chosen;
}

export async function pickCurrentRuns(
  runs: readonly LiveRunStatus[],
  title: string,
  all?: string,
): Promise<readonly LiveRunStatus[] | undefined> {
  const items = runs.map((run) => ({
    label: plainLabel(localizedRunTitle(run.title)),
    description: stateLabel(run),
    runs: [run] as readonly LiveRunStatus[],
  }));
  if (all !== undefined) items.push({ label: all, description: '', runs });
  return (await vscode.window.showQuickPick(items, { title }))?.runs;
}

function itemOf(run: RunSummary, depth: number, now: LiveRunStatus | undefined, excerpt: string | undefined): Item {
  const shown = now ?? restingRunState(run);
  const state = shown ? stateLabel(shown) : run.pinned ? t('Pinned') : '';
  const from = run.imported && t('Imported');
  const detail = run.damaged ? t('Damaged: {0}', run.damagedSaid ?? run.damaged) : excerpt;
  return {
    run,
    label: `${'\u2003'.repeat(depth)}${plainLabel(localizedRunTitle(run.title))}`,
    description: [state, from, formatAge(run.updatedAt, Date.now())].filter(Boolean).join(' · '),
    ...(detail && { detail: plainLabel(detail) }),
    ...(depth > 0 && { iconPath: new vscode.ThemeIcon('git-branch') }),
    alwaysShow: true, // rows found by text have no match in the label
  };
}

function inWorktrees(elsewhere: readonly WorktreeRunStatus[], query: string): Item[] {
  const found = elsewhere.filter(({ title, branch }) => matchesSearchQuery(`${title} ${branch}`, query));
  if (found.length === 0) return [];
  const items = found.map(({ folder, branch, title, run, state, awaitsApproval }) => ({
    label: plainLabel(title),
    description: run
      ? [state && stateLabel({ state, awaitsApproval, elsewhere: true }), formatAge(run.updatedAt, Date.now())]
          .filter(Boolean)
          .join(' · ')
      : t('not started'),
    detail: `$(git-branch) ${plainLabel(branch)}`,
    folder,
    alwaysShow: true,
  }));
  return [{ label: t('In worktrees'), kind: vscode.QuickPickItemKind.Separator }, ...items];
}

/** Prevents icons from `$(name)` in titles of models and users. */
const plainLabel = (text: string): string => escapeInvisibleInProseLine(text).replaceAll('$(', '$ (');
