import os from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { checksAsJson, checksAsMarkdown, modelCheckEndReason, modelCheckTaskTitle } from '../../check/report.ts';
import { suitableUses } from '../../check/suitability.ts';
import { type CheckResult, passedTaskCount, userReportLanguage } from '../../check/taskResult.ts';
import { lazyImport } from '../../protocol/panel/lazyImport.ts';
import type { RunEvent } from '../../protocol/run/events.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localize, messageOf } from '../../protocol/text/localized.ts';
import { withCancellation } from '../dialogs/cancellable.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { diskFolders } from '../dialogs/folders.ts';
import { notify, notifyWithActions } from '../dialogs/notify.ts';
import { showMarkdown } from '../dialogs/showMarkdown.ts';
import { demoModelId, describeModelOption, providerById, splitModelId } from '../providers/modelIds.ts';
import type { MoneyLimits } from '../providers/moneyLimits.ts';
import { redactForSharing } from '../settings/redactSettings.ts';
import type { SelectableModels } from './models.ts';
import type { StoredModelCheckResults } from './storedChecks.ts';
import { showConnectionProblem } from './testConnection.ts';

const scheme = 'towpath-checks';
const page = () => vscode.Uri.from({ scheme, path: `/${t('Model Check Results')}.md` });
const formats = { markdown: 'md', json: 'json' } as const;
type Format = keyof typeof formats;

interface ActiveCheck {
  stop: AbortController;
  /** Sentence with the name of the model and the present task. */
  status: string;
}

interface Dependencies {
  models: SelectableModels;
  checks: StoredModelCheckResults;
  limits: Pick<MoneyLimits, 'of'>;
  modals: Dialogs;
  workspace: { readonly ripgrep: string | undefined };
  audit: { keep(event: RunEvent): Promise<void>; onEvent(event: RunEvent): void };
  version: string;
}

const checking = lazyImport(
  () => Promise.all([import('../../check/checkModel.ts'), import('../../check/estimate.ts')]),
  ([check, estimate]) => ({ ...check, ...estimate }),
);

/** *Check This Model*, *Checked Models* and their export. */
export class ModelCheckCommands implements vscode.TextDocumentContentProvider {
  private readonly shownAgain = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.shownAgain.event;
  private readonly over = new AbortController();
  private active?: ActiveCheck;
  private isShown = false;
  /** Newest check, including an aborted check, which is not stored. */
  private newest?: CheckResult;

  constructor(private readonly parts: Dependencies) {}

  register(): vscode.Disposable {
    const { tabGroups } = vscode.window;
    return vscode.Disposable.from(
      tabGroups.onDidChangeTabs(() => this.updateShownContext()),
      tabGroups.onDidChangeTabGroups(() => this.updateShownContext()),
      this.shownAgain,
      vscode.workspace.registerTextDocumentContentProvider(scheme, this),
      new vscode.Disposable(() => this.over.abort()),
    );
  }

  provideTextDocumentContent(): string {
    return checksAsMarkdown(this.results, userReportLanguage());
  }

  /** Runs the check: a confirmation with the expected cost, the tasks until done or stopped, and the results. */
  async check(id = this.parts.models.currentId): Promise<void> {
    const name = describeModelOption(id).label;
    if (id === demoModelId)
      return notify('info', t('The demo model only follows its script. Pick another model, then check it.'));
    if (this.active) return this.offerToStop(this.active);
    this.active = { stop: new AbortController(), status: t('Towpath is checking {0}', name) };
    try {
      const result = await this.run(id, name, this.active);
      if (!result) return;
      this.newest = result;
      if (result.ended === undefined) await this.parts.checks.keep(result);
      await this.show();
      const end = modelCheckEndReason(result);
      if (end) notify('warning', t('{0} was not checked to the end. {1}', name, end));
      else notify('info', doneBy(name, result));
    } catch (error) {
      const { code } = error as Error & { code?: string };
      void showConnectionProblem(
        localize(messageOf(error)),
        code === 'LLM_AUTH_FAILED' ? providerById(splitModelId(id).provider)?.id : undefined,
      );
    } finally {
      this.active = undefined;
    }
  }

  /** Offers to stop the active check, whose progress notification may have been dismissed. */
  private async offerToStop({ stop, status }: ActiveCheck): Promise<void> {
    const button = t('Stop Check');
    if ((await notifyWithActions('info', status, button)) === button) stop.abort();
  }

  async show(): Promise<void> {
    this.shownAgain.fire(page()); // an open document shows the earlier page
    await showMarkdown(page());
  }

  async export(given?: { format?: Format; to?: vscode.Uri }): Promise<void> {
    const { results } = this;
    if (results.length === 0) return notify('info', t('No model has been checked yet. Run *Check This Model*.'));
    const format = given?.format ?? (await askFormat());
    if (!format) return;
    const to = given?.to ?? (await askTarget(formats[format]));
    if (!to) return;
    const text = format === 'json' ? checksAsJson(results) : checksAsMarkdown(results);
    const shared = redactForSharing(text, { secrets: [], home: os.homedir() });
    try {
      await vscode.workspace.fs.writeFile(to, Buffer.from(shared));
      notify('info', t('Exported to {0}.', to.fsPath));
    } catch (error) {
      notify('error', t('The results could not be exported. {0}', messageOf(error)));
    }
  }

  /** Shows *Export* in the title bar of the results. The editor gives a preview no address, so its title tells. */
  private updateShownContext(): void {
    const { label = '' } = vscode.window.tabGroups.activeTabGroup.activeTab ?? {};
    const isShown = label.includes(t('Model Check Results'));
    if (isShown === this.isShown) return;
    this.isShown = isShown;
    void vscode.commands.executeCommand('setContext', 'towpath.modelChecksShown', isShown);
  }

  private get results(): CheckResult[] {
    const { all } = this.parts.checks;
    const newest = this.newest;
    return newest?.ended === undefined ? all : [newest, ...all];
  }

  private async run(id: string, name: string, active: ActiveCheck): Promise<CheckResult | undefined> {
    const { models, checks, limits, modals, workspace, audit, version: towpath } = this.parts;
    const { runModelCheckTasks, estimateModelCheck, modelCheckEstimateText } = await checking();
    const model = await models.current({ id });
    const estimate = estimateModelCheck(id.startsWith('local/'), checks.of(id));
    const detail = [
      ...modelCheckEstimateText(estimate, model.adapter.leastCost?.(model.model, estimate.prompt)),
      t('It works in its own temporary folder. Nothing in your workspace is read, changed or sent.'),
    ].join('\n');
    const yes = t('Check');
    if ((await modals.ask({ text: t('Check what {0} can do?', name), detail, buttons: [yes] })) !== yes)
      return undefined;
    const title = active.status;
    return withCancellation(title, (signal, progress) => {
      let shown = 0;
      return runModelCheckTasks({
        model,
        towpath,
        ripgrep: workspace.ripgrep,
        runLimit: () => limits.of('run'),
        signal: AbortSignal.any([signal, active.stop.signal, this.over.signal]),
        record: audit,
        progress({ done, of, task, text }) {
          const percent = (done / of) * 100;
          const now = t('{0} of {1}, {2}', done + 1, of, modelCheckTaskTitle(task));
          active.status = `${title}: ${now}`;
          progress([now, text].filter(Boolean).join(': '), percent - shown);
          shown = percent;
        },
      });
    });
  }
}

function doneBy(name: string, result: CheckResult): string {
  const done = passedTaskCount(result);
  const tasks =
    done === result.of
      ? t('{0} was given {1} tasks and completed all of them.', name, result.of)
      : t('{0} was given {1} tasks and completed {2} of them.', name, result.of, done);
  const uses = suitableUses(result);
  return uses ? `${tasks} ${localize(uses)}` : tasks;
}

async function askFormat(): Promise<Format | undefined> {
  const items = [
    { label: 'Markdown', detail: t('To read: a table of the models, and what failed'), format: 'markdown' },
    { label: 'JSON', detail: t('For comparison by programs'), format: 'json' },
  ] as const;
  return (await vscode.window.showQuickPick(items, { title: t('Towpath: export model check results') }))?.format;
}

const askTarget = (ending: string): Thenable<vscode.Uri | undefined> => {
  const folder = diskFolders()[0]?.uri.fsPath ?? os.homedir();
  const defaultUri = vscode.Uri.file(path.join(folder, `checked-models.${ending}`));
  const title = t('Export Model Check Results');
  return vscode.window.showSaveDialog({ defaultUri, title, filters: { [ending]: [ending] } });
};
