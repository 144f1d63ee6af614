import path from 'node:path';
import * as vscode from 'vscode';
import type { ExecutionEngine } from '../../engine/run/engine.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t, withDigitGrouping } from '../../protocol/text/l10n.ts';
import { storedLocalizableText } from '../../protocol/text/localized.ts';
import type { RunStore } from '../../runs/store.ts';
import { packageRunId, parsePackageRunId } from '../../workflows/package/ids.ts';
import type { WorkflowPackage } from '../../workflows/package/load.ts';
import { matchAgentMenuItems } from '../../workflows/package/menu.ts';
import type { PackageAgent, PackageAgentMenuItem } from '../../workflows/package/packageAgents.ts';
import type { PackageRegistry } from '../../workflows/package/packageRegistry.ts';
import { PackageError } from '../../workflows/package/problem.ts';
import { showActionMenu } from '../dialogs/actionMenu.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { isVirtualWorkspace, virtualUnsupportedMessage } from '../dialogs/folders.ts';
import { notify, notifyWithActions } from '../dialogs/notify.ts';
import type { PanelConversation } from '../runs/conversation.ts';

interface Usable {
  key: string;
  source: WorkflowPackage;
}

interface Choice extends vscode.QuickPickItem {
  run(): Promise<unknown>;
}

/** Commands for workflow packages: opening and forgetting a package, workflows and agents. Escape changes nothing. */
export class WorkflowPackageCommands {
  constructor(
    private readonly shelf: PackageRegistry,
    private readonly conversation: PanelConversation,
    private readonly runs: { engine: ExecutionEngine; store: RunStore },
    private readonly modals: Dialogs,
  ) {}

  /** *Packages…*: everything that can be done with packages. Without a package, only one can be opened. */
  async menu(): Promise<void> {
    if (isVirtualWorkspace()) return notify('info', virtualUnsupportedMessage('Packages are'));
    if (!vscode.workspace.isTrusted) return notifyUntrusted();
    const packages = await this.shelf.list();
    const open = { label: t('Open Package…'), detail: t('A .bmad archive, or the folder of a bmad.json') };
    await showActionMenu(
      t('Towpath: packages'),
      [
        ...(packages.length === 0
          ? []
          : [
              { label: t('Run Package Workflow…'), run: () => this.runWorkflow() },
              { label: t('Chat with Package Agent…'), run: () => this.talk() },
            ]),
        { ...open, run: () => this.open() },
        ...(packages.some(({ opened }) => opened) ? [{ label: t('Remove Package…'), run: () => this.forget() }] : []),
      ],
      packages.length === 0 ? t('There are no packages in this workspace yet') : undefined,
    );
  }

  async runWorkflow(): Promise<void> {
    await this.pick(t('Towpath: a workflow to run'), ({ key, source }) =>
      source.workflows.map(({ id, title, description }) => ({
        label: title,
        description: source.title,
        detail: description,
        run: () => this.begin(packageRunId({ key, workflowId: id }), title),
      })),
    );
  }

  async talk(): Promise<void> {
    await this.pick(t('Towpath: select an agent'), (usable) =>
      usable.source.agents.map((agent) => ({
        label: agent.name,
        description: agent.title ?? '',
        detail: usable.source.title,
        run: () => this.talkTo(usable, agent),
      })),
    );
  }

  /** @param file archive or `bmad.json`; absent: a dialog asks */
  async open(file?: string): Promise<void> {
    const chosen = file ?? (await askFile());
    if (!chosen) return;
    try {
      const { source } = await this.shelf.open(chosen);
      const run = t('Run a Workflow…');
      const message = t('The package {0} can be used in this workspace.', source.title);
      if ((await notifyWithActions('info', message, run)) === run) await this.runWorkflow();
    } catch (error) {
      if (!(error instanceof PackageError)) throw error;
      notify('error', t('This package cannot be used: {0}.', storedLocalizableText(error)));
    }
  }

  async forget(): Promise<void> {
    if (isVirtualWorkspace()) return notify('info', virtualUnsupportedMessage('Packages are'));
    if (!vscode.workspace.isTrusted) return notifyUntrusted();
    const opened = (await this.shelf.list()).filter((one) => one.opened);
    if (opened.length === 0) {
      notify('info', t('No package was opened in this workspace.'));
      return;
    }
    const items = opened.map((shelved) => {
      const label = 'source' in shelved ? shelved.source.title : path.basename(shelved.place);
      return { label, description: shelved.place, shelved };
    });
    const title = t('Towpath: select a package to remove');
    const chosen = await vscode.window.showQuickPick(items, { title, matchOnDescription: true });
    if (chosen && (await this.mayForget(chosen.shelved.key, chosen.label))) await this.shelf.forget(chosen.shelved.key);
  }

  /** Confirms if runs depend on the package; refuses while one is running. */
  private async mayForget(key: string, title: string): Promise<boolean> {
    const { engine, store } = this.runs;
    const isOf = (id: string | undefined) => id !== undefined && parsePackageRunId(id)?.key === key;
    if (engine.liveIds.some((runId) => isOf(engine.live(runId)?.workflowId))) {
      notify('warning', t('A run of {0} is in progress. Stop it, then remove the package.', title));
      return false;
    }
    const count = (await store.workflowIds()).filter(isOf).length;
    if (count === 0) return true;
    const yes = t('Remove');
    const detail =
      count === 1
        ? t('1 run was started with it. You can read it; it continues only after you open the package again.')
        : t(
            '{0} runs were started with it. You can read them; they continue only after you open the package again.',
            withDigitGrouping(count),
          );
    const text = t('Remove {0}?', escapeInvisibleInLine(title));
    return (await this.modals.ask({ text, detail, buttons: [yes] })) === yes;
  }

  private async talkTo({ key, source }: Usable, agent: PackageAgent): Promise<void> {
    const chosen = await askMenu(source, agent);
    if (!chosen) return;
    if (chosen.item?.workflow !== undefined) {
      const id = packageRunId({ key, workflowId: chosen.item.workflow, agentId: agent.id });
      return this.begin(id, chosen.item.title);
    }
    await this.send(packageRunId({ key, agentId: agent.id }), chosen.item?.prompt ?? chosen.text);
  }

  private async begin(id: string, title: string): Promise<void> {
    const text = await vscode.window.showInputBox({
      title: `Towpath: ${title}`,
      prompt: t('Initial information for the workflow (optional)'),
      ignoreFocusOut: true,
    });
    if (text !== undefined) await this.send(id, text.trim() || title);
  }

  private async send(workflowId: string, userInput: string): Promise<void> {
    await vscode.commands.executeCommand('towpath.showChat');
    void this.conversation.begin({ workflowId, userInput });
  }

  private async pick(title: string, choicesOf: (usable: Usable) => Choice[]): Promise<void> {
    if (isVirtualWorkspace()) return notify('info', virtualUnsupportedMessage('Packages are'));
    if (!vscode.workspace.isTrusted) return notifyUntrusted();
    const packages = await this.shelf.list();
    const choices = packages.flatMap((one): Choice[] => ('source' in one ? choicesOf(one) : [broken(one)]));
    const more = {
      label: `$(folder-opened) ${t('Open a package…')}`,
      detail: t('A .bmad archive, or the folder of a bmad.json'),
    };
    choices.push({ ...more, run: () => this.open() });
    const chosen = await vscode.window.showQuickPick(choices, { title, matchOnDescription: true, matchOnDetail: true });
    await chosen?.run();
  }
}

const notifyUntrusted = (): void =>
  notify(
    'warning',
    t('This workspace is not trusted, so no package is loaded. Trust it first (Manage Workspace Trust).'),
  );

const broken = ({ place, problem }: { place: string; problem: string }): Choice => ({
  label: `$(warning) ${vscode.workspace.asRelativePath(place)}`,
  detail: problem,
  run: async () => notify('error', t('This package cannot be used: {0}.', problem)),
});

async function askFile(): Promise<string | undefined> {
  const files = await vscode.window.showOpenDialog({
    title: t('A package: a .bmad archive, or the bmad.json of a folder'),
    openLabel: t('Open Package'),
    filters: { [t('Packages')]: ['bmad', 'json'] },
  });
  return files?.[0]?.fsPath;
}

function askMenu(
  source: WorkflowPackage,
  agent: PackageAgent,
): Promise<{ item?: PackageAgentMenuItem; text: string } | undefined> {
  const picker = vscode.window.createQuickPick<vscode.QuickPickItem & { item?: PackageAgentMenuItem }>();
  picker.title = `${source.title}: ${agent.name}`;
  picker.placeholder = t('A number, a menu entry, or your message');
  const itemsFor = (text: string) => {
    const chosen = matchAgentMenuItems(agent.menu, text);
    const all = text.trim() === '' ? agent.menu : [];
    const hits = chosen.kind === 'item' ? [chosen.item] : chosen.kind === 'several' ? chosen.items : all;
    const shown = hits.map((item) => ({
      label: `${agent.menu.indexOf(item) + 1}. ${item.title}`,
      description: item.trigger,
      alwaysShow: true,
      item,
    }));
    const sendRow = { label: `$(comment) ${t('Send “{0}” to {1}', text.trim(), agent.name)}`, alwaysShow: true };
    return text.trim() === '' ? shown : [...shown, sendRow];
  };
  picker.items = itemsFor('');
  return new Promise((resolve) => {
    picker.onDidChangeValue((text) => {
      picker.items = itemsFor(text);
    });
    picker.onDidAccept(() => {
      const chosen = picker.activeItems[0];
      if (!chosen) return;
      resolve({ item: chosen.item, text: picker.value.trim() });
      picker.hide();
    });
    picker.onDidHide(() => {
      resolve(undefined);
      picker.dispose();
    });
    picker.show();
  });
}
