import * as vscode from 'vscode';
import { sortRunsUnderParents } from '../../protocol/run/branches.ts';
import { localizedRunTitle } from '../../protocol/run/run.ts';
import type { RunSummary } from '../../protocol/run/summary.ts';
import { formatAge } from '../../protocol/text/ago.ts';
import { t } from '../../protocol/text/l10n.ts';
import { matchesSearchQuery } from '../../runs/searchRuns.ts';
import type { RunStore } from '../../runs/store.ts';
import { notify } from '../dialogs/notify.ts';
import { plainLabel } from '../dialogs/plainLabel.ts';
import { type LiveRunStatus, restingRunState, stateLabel } from './runStates.ts';
import type { WorktreeRunStatus } from './worktrees.ts';

interface PickedRun {
  run?: RunSummary;
  folder?: string;
}

/** Action on a run or on the list. The list is shown again after `run`, unless the action leaves the list. */
export interface RunListAction {
  icon: string;
  label: string;
  leaves?: true;
  run(): Promise<unknown>;
}

interface RunListOptions {
  elsewhere?: readonly WorktreeRunStatus[];
  /** Buttons of a row. */
  actionsOf?(run: RunSummary, now: LiveRunStatus | undefined): readonly RunListAction[];
  /** Buttons of a row in a worktree. */
  actionsOfWorktree?(worktree: WorktreeRunStatus): readonly RunListAction[];
  /** Rows below the runs. */
  more?(): Promise<readonly RunListAction[]>;
}

interface Item extends vscode.QuickPickItem, PickedRun {
  /** Actions of the buttons, in order. */
  actions?: readonly RunListAction[];
  action?: RunListAction;
}

export async function pickRun(
  store: Pick<RunStore, 'search'>,
  states: { of(runId: string): LiveRunStatus | undefined },
  title: string,
  { elsewhere = [], actionsOf = () => [], actionsOfWorktree = () => [], more = async () => [] }: RunListOptions = {},
): Promise<PickedRun | undefined> {
  let rows = await more();
  const itemsFor = async (query: string): Promise<Item[]> => {
    const found = await store.search(query);
    const excerpts = new Map(found.map(({ run, excerpt }) => [run.id, excerpt]));
    const here = sortRunsUnderParents(found.map(({ run }) => run)).map(({ run, depth }) => {
      const now = states.of(run.id);
      return withButtons(itemOf(run, depth, now, excerpts.get(run.id)), actionsOf(run, now));
    });
    return [...here, ...inWorktrees(elsewhere, query, actionsOfWorktree), ...actionRows(rows, query)];
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
  /** Shows the list again at the row of the action, or at the row that took its place. */
  const showAgain = async (item: Item) => {
    const index = picker.items.indexOf(item);
    rows = await more();
    const items = await itemsFor(asked);
    picker.keepScrollPosition = true;
    picker.items = items;
    picker.show();
    const same = items.find(({ run }) => run !== undefined && run.id === item.run?.id);
    const active = same ?? items[Math.min(index, items.length - 1)];
    if (active) picker.activeItems = [active];
  };
  const chosen = new Promise<PickedRun | undefined>((resolve, reject) => {
    const end = () => resolve(undefined);
    let onHidden = end;
    /** Performs an action without the list, because a row that is replaced loses the focus. */
    const perform = async (item: Item, action: RunListAction | undefined) => {
      if (!action || onHidden !== end) return;
      await new Promise<void>((hidden) => {
        onHidden = hidden;
        picker.hide();
      });
      await action.run();
      if (action.leaves) return end();
      await showAgain(item);
      onHidden = end;
    };
    picker.onDidAccept(() => {
      const [item] = picker.selectedItems;
      if (item?.action) perform(item, item.action).catch(reject);
      else resolve(item);
    });
    picker.onDidTriggerItemButton(({ item, button }) => {
      perform(item, item.actions?.[item.buttons?.indexOf(button) ?? -1]).catch(reject);
    });
    picker.onDidHide(() => onHidden());
    picker.show();
  });
  return chosen.finally(() => picker.dispose());
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

const withButtons = (item: Item, actions: readonly RunListAction[]): Item => ({
  ...item,
  actions,
  buttons: actions.map(({ icon, label }) => ({ iconPath: new vscode.ThemeIcon(icon), tooltip: label })),
});

function actionRows(actions: readonly RunListAction[], query: string): Item[] {
  const found = actions.filter(({ label }) => matchesSearchQuery(label, query));
  if (found.length === 0) return [];
  const items = found.map((action) => ({ label: `$(${action.icon}) ${action.label}`, action, alwaysShow: true }));
  return [{ label: '', kind: vscode.QuickPickItemKind.Separator }, ...items];
}

function inWorktrees(
  elsewhere: readonly WorktreeRunStatus[],
  query: string,
  actionsOf: (worktree: WorktreeRunStatus) => readonly RunListAction[],
): Item[] {
  const found = elsewhere.filter(({ title, branch }) => matchesSearchQuery(`${title} ${branch}`, query));
  if (found.length === 0) return [];
  const items = found.map((worktree) => withButtons(itemOfWorktree(worktree), actionsOf(worktree)));
  return [{ label: t('In worktrees'), kind: vscode.QuickPickItemKind.Separator }, ...items];
}

function itemOfWorktree({ folder, branch, title, run, state, awaitsApproval }: WorktreeRunStatus): Item {
  const now = state && stateLabel({ state, awaitsApproval, elsewhere: true });
  return {
    label: plainLabel(title),
    description: run ? [now, formatAge(run.updatedAt, Date.now())].filter(Boolean).join(' · ') : t('not started'),
    detail: `$(git-branch) ${plainLabel(branch)}`,
    folder,
    alwaysShow: true,
  };
}
