import path from 'node:path';
import * as vscode from 'vscode';
import { RunError } from '../../engine/core/errorInfo.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localizedErrorText, storedLocalizableText } from '../../protocol/text/localized.ts';
import { createDictionary } from '../../protocol/values/dictionary.ts';
import { createRequestedFile } from '../../tools/sandbox/writeFile.ts';
import { inputProblem, requiredWorkflowInputs } from '../../workflows/plan/inputs.ts';
import type { WorkflowFile } from '../../workflows/plan/schema.ts';
import type { YamlProblem } from '../../workflows/read/yaml.ts';
import { disableCommandLinks } from '../dialogs/approvalText.ts';
import { diskFolders, isVirtualWorkspace, virtualUnsupportedMessage } from '../dialogs/folders.ts';
import { notify, notifyWithActions } from '../dialogs/notify.ts';
import { type WorkflowFiles, workflowNameOf, workspaceRelativeId } from '../language/workflowFiles.ts';
import type { PanelConversation } from '../runs/conversation.ts';

export class WorkflowCommands {
  constructor(
    private readonly files: WorkflowFiles,
    private readonly conversation: PanelConversation,
    private readonly templates: vscode.Uri,
  ) {}

  /**
   * Runs a workflow, with dialogs for missing id and input values; `typedText` is the first value. Resolves to true if started; undefined:
   * cancelled.
   */
  async runWorkflow(id?: string, given?: Record<string, unknown>, typedText?: string): Promise<boolean | undefined> {
    const uri = await this.pick(id);
    if (!uri) return undefined;
    const { value: file, problems } = await this.files.load(uri, 'workflow');
    if (!file) return showProblem(uri, problems[0]);
    const values = given ?? (await askFor(file, file.name ?? workflowNameOf(uri), typedText));
    if (!values) return undefined;
    const lines = Object.entries(values).map(([key, value]) => `${key}: ${value}`);
    const userInput = [file.name ?? workflowNameOf(uri), ...lines].join('\n');
    return this.begin({ workflowId: workspaceRelativeId(uri), userInput, values });
  }

  async newWorkflow(template?: string): Promise<void> {
    if (isVirtualWorkspace()) return void notify('info', virtualUnsupportedMessage('Workflows are'));
    const [folder] = diskFolders();
    if (!folder) return void notify('info', t('Open a folder first. A workflow is a file in it.'));
    const chosen = template ?? (await this.pickTemplate());
    if (!chosen) return;
    const source = vscode.Uri.joinPath(this.templates, `${path.basename(chosen)}.yaml`);
    const content = await vscode.workspace.fs.readFile(source);
    const uri = await freeName(vscode.Uri.joinPath(folder.uri, '.towpath', 'workflows'), chosen);
    await createRequestedFile(uri.fsPath, content);
    await vscode.window.showTextDocument(uri);
  }

  private async pickTemplate(): Promise<string | undefined> {
    const names = (await vscode.workspace.fs.readDirectory(this.templates)).map(([name]) => name);
    const items = names.map(async (name) => {
      const text = new TextDecoder().decode(
        await vscode.workspace.fs.readFile(vscode.Uri.joinPath(this.templates, name)),
      );
      const [, label = name] = /^name: (.*)$/m.exec(text) ?? [];
      const [, detail = ''] = /^description: (.*)$/m.exec(text) ?? [];
      return { label, detail, name: path.parse(name).name };
    });
    const chosen = await vscode.window.showQuickPick(Promise.all(items), { title: t('Towpath: a new workflow') });
    return chosen?.name;
  }

  private async pick(id: string | undefined): Promise<vscode.Uri | undefined> {
    if (isVirtualWorkspace()) {
      notify('info', virtualUnsupportedMessage('Workflows are'));
      return undefined;
    }
    if (!vscode.workspace.isTrusted) {
      notify(
        'info',
        t('This workspace is not trusted, so its workflows are not read. Trust it first (Manage Workspace Trust).'),
      );
      return undefined;
    }
    const uris = await this.files.find('workflow');
    if (typeof id === 'string') {
      const found = uris.find((uri) => workspaceRelativeId(uri) === id || workflowNameOf(uri) === id);
      if (!found) throw new RunError('UNKNOWN', t('There is no workflow {0}.', id));
      return found;
    }
    if (uris.length === 0) return this.offerNone();
    const items = uris.map(async (uri) => {
      const { value, problems } = await this.files.load(uri, 'workflow');
      const detail = value ? value.description : `$(error) ${problems[0] ? localizedErrorText(problems[0]) : ''}`;
      return {
        label: value?.name ?? workflowNameOf(uri),
        description: workspaceRelativeId(uri),
        ...(detail && { detail }),
        uri,
      };
    });
    const options = { title: t('Towpath: run a workflow'), matchOnDescription: true };
    return (await vscode.window.showQuickPick(Promise.all(items), options))?.uri;
  }

  private async offerNone(): Promise<undefined> {
    const button = t('New Workflow…');
    const text = t('There are no workflows in .towpath/workflows yet.');
    if ((await notifyWithActions('info', text, button)) === button) await this.newWorkflow();
  }

  private async begin(start: Parameters<PanelConversation['begin']>[0]): Promise<true> {
    await vscode.commands.executeCommand('towpath.showChat');
    void this.conversation.begin(start);
    return true;
  }
}

async function askFor(file: WorkflowFile, title: string, typedText = ''): Promise<Record<string, string> | undefined> {
  const keys = requiredWorkflowInputs(file);
  const values = createDictionary<string>();
  for (const [index, key] of keys.entries()) {
    if (index === 0 && typedText !== '' && inputProblem(file, key, typedText) === undefined) {
      values[key] = typedText;
      continue;
    }
    const value = await vscode.window.showInputBox({
      title: `${title}${keys.length > 1 ? ` (${t('{0} of {1}', index + 1, keys.length)})` : ''}`,
      prompt: disableCommandLinks(key),
      ignoreFocusOut: true,
      validateInput: (text) => inputProblem(file, key, text),
      ...(key === 'file' && { value: activeFile() }),
    });
    if (value === undefined) return undefined;
    values[key] = value;
  }
  return values;
}

function activeFile(): string {
  const uri = vscode.window.activeTextEditor?.document.uri;
  return uri && vscode.workspace.getWorkspaceFolder(uri) ? vscode.workspace.asRelativePath(uri) : '';
}

function showProblem(uri: vscode.Uri, problem: YamlProblem | undefined): false {
  void offerProblem(uri, problem);
  return false;
}

async function offerProblem(uri: vscode.Uri, problem: YamlProblem | undefined): Promise<void> {
  const { line = 1, column = 1 } = problem ?? {};
  const typedText = problem ? storedLocalizableText(problem) : t('It cannot be read.');
  const show = t('Show');
  const text = t('{0}, line {1}: {2}', workspaceRelativeId(uri), line, typedText);
  if ((await notifyWithActions('error', text, show)) !== show) return;
  const at = new vscode.Position(line - 1, column - 1);
  await vscode.window.showTextDocument(uri, { selection: new vscode.Range(at, at) });
}

async function freeName(folder: vscode.Uri, name: string): Promise<vscode.Uri> {
  for (let count = 1; ; count++) {
    const uri = vscode.Uri.joinPath(folder, `${name}${count > 1 ? `-${count}` : ''}.yaml`);
    const existing = await vscode.workspace.fs.stat(uri).then(
      () => true,
      () => false,
    );
    if (!existing) return uri;
  }
}
