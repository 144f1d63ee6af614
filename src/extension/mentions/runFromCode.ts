import * as vscode from 'vscode';
import { redact } from '../../llm/transport/redact.ts';
import { chatWorkflowId, reviewAgent, workAgent } from '../../protocol/content/agents.ts';
import type { Mention } from '../../protocol/content/mention.ts';
import { maxMentions, mentionTextOf } from '../../protocol/content/mentionText.ts';
import { t } from '../../protocol/text/l10n.ts';
import type { RunStore } from '../../runs/store.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { showActionMenu } from '../dialogs/actionMenu.ts';
import { notify, notifyFailure } from '../dialogs/notify.ts';
import { plainLabel } from '../dialogs/plainLabel.ts';
import type { LocatedFinding } from '../review/locateFindings.ts';
import type { PanelConversation } from '../runs/conversation.ts';
import type { ChatView } from '../view/chatView.ts';
import { codePromptTemplates, fixFindingPrompt } from './codePrompts.ts';
import { requireActiveEditor, requireWorkspacePath } from './editorTarget.ts';
import { isTestFailure, type TestFailure, testFailureText } from './failure.ts';
import { leaveBusyRun } from './leaveBusyRun.ts';
import type { Mentions } from './mentions.ts';
import { selectedLines } from './selectedLines.ts';
import type { TerminalOutput, TerminalOutputs } from './terminals.ts';

const maxProblems = 5;

interface CodeProblem {
  uri: vscode.Uri;
  line: number;
}

interface Dependencies {
  workspace: Workspace;
  conversation: PanelConversation;
  store: Pick<RunStore, 'isElsewhere'>;
  view: ChatView;
  terminals: TerminalOutputs;
  mentions(): Promise<Mentions>;
  secrets(): Promise<readonly string[]>;
}

/**
 * Commands that add code to the message box, or send a message about the code, by the same mentions as `@`. An unsupported target is
 * reported in a message.
 */
export class CodeContextCommands {
  constructor(private readonly parts: Dependencies) {}

  /** Adds files and folders of the explorer, else the active file. */
  addToChat = (args: unknown[]): Promise<void> => this.add(() => this.meant(args, 'whole'));
  addSelection = (): Promise<void> => this.add(() => this.inEditor());
  addProblem = (): Promise<void> => this.add(() => this.problemsAtCursor());
  addChange = (args: unknown[]): Promise<void> => this.add(() => this.meant(args));
  addTestFailure = (args: unknown[]): Promise<void> => this.add(() => this.meant(args));
  addTerminal = ([terminal]: unknown[]): Promise<void> =>
    this.add(async () =>
      inTerminal(await this.parts.terminals.lastCommand(isTerminal(terminal) ? terminal : undefined)),
    );
  addTerminalSelection = (): Promise<void> => this.add(async () => inTerminal(await this.parts.terminals.selection()));

  /** *Add to Chat…*: a menu of what can be added now. */
  async addContext(): Promise<void> {
    const { document } = vscode.window.activeTextEditor ?? {};
    const path = document && (await this.pathOf(document.uri).catch(() => undefined));
    const code = path === undefined ? [] : await this.codeActions(path);
    const line = this.parts.terminals.lastLine;
    const terminal = {
      label: `$(terminal) ${t('Last Terminal Command')}`,
      description: plainLabel(line ?? ''),
      run: () => this.addTerminal([]),
    };
    const all = line === undefined ? code : [...code, terminal];
    if (all.length > 0) return showActionMenu(t('Towpath: add to chat'), all);
    if (document) return this.addToChat([]); // reports why the file cannot be added
    notify('info', t('There is nothing to add. Open a file, or run a command in a terminal.'));
  }

  private async codeActions(path: string) {
    const selected = (await this.inEditor()).filter(({ kind }) => kind === 'lines');
    const problems = await this.problems();
    const row = (icon: string, label: string, mentions: Mention[], run: () => Promise<void>) =>
      mentions.length === 0
        ? []
        : [{ label: `$(${icon}) ${label}`, description: plainLabel(mentions.map(mentionTextOf).join(' ')), run }];
    return [
      ...row('file', t('File'), [{ kind: 'file', path }], () => this.addToChat([])),
      ...row('list-selection', t('Selection'), selected, this.addSelection),
      ...row('warning', t('Problem'), problems, this.addProblem),
    ];
  }

  /** Sends a message to the shown run, or to a new run if the shown run is busy. */
  async ask(template: keyof typeof codePromptTemplates, args: unknown[]): Promise<void> {
    await notifyFailure(async () => this.send(template, await this.meant(args, template)));
  }

  async askTerminalSelection(template: 'explain' | 'fix'): Promise<void> {
    await notifyFailure(async () => this.send(template, inTerminal(await this.parts.terminals.selection())));
  }

  /** *Review My Changes*: a run of the reviewer about the uncommitted changes. */
  async reviewChanges(): Promise<void> {
    const changes: Mention = { kind: 'changes' };
    await notifyFailure(() =>
      this.begin(reviewAgent, codePromptTemplates.reviewChanges(mentionTextOf(changes)), [changes]),
    );
  }

  /** Sends a finding of a review to the shown run, or to a new one if that is not a run of *Work*. */
  async fixFinding(finding: LocatedFinding | undefined): Promise<void> {
    if (!finding) return;
    const { path, line, endLine: to = line, text } = finding;
    const place: Mention = line === undefined ? { kind: 'file', path } : { kind: 'lines', path, from: line, to: to! };
    const userInput = fixFindingPrompt(mentionTextOf(place), text);
    await notifyFailure(async () => {
      const run = await this.parts.conversation.run();
      if (run?.workflowId !== chatWorkflowId || run.agentId !== workAgent)
        return this.begin(workAgent, userInput, [place]);
      await this.sendToShownRun(userInput, [place]);
    });
  }

  /** Starts a run of a built-in agent. */
  private async begin(agentId: string, userInput: string, mentions: Mention[]): Promise<void> {
    const { conversation, view } = this.parts;
    await vscode.commands.executeCommand('towpath.showChat');
    await conversation.restored;
    const attachments = await (await this.parts.mentions()).read(mentions, conversation.id);
    void conversation.begin({ agentId, userInput, ...(attachments.length > 0 && { attachments }) });
    await view.focus();
  }

  private async send(template: keyof typeof codePromptTemplates, mentions: Mention[]): Promise<void> {
    await leaveBusyRun(this.parts);
    await this.sendToShownRun(codePromptTemplates[template](mentions.map(mentionTextOf).join(', ')), mentions);
  }

  private async sendToShownRun(text: string, mentions: Mention[]): Promise<void> {
    const { conversation, view } = this.parts;
    await vscode.commands.executeCommand('towpath.showChat');
    await conversation.restored;
    const read = (await this.parts.mentions()).read(mentions, conversation.id);
    void conversation.send(text, undefined, undefined, undefined, read);
    await view.focus();
  }

  private async add(find: () => Mention[] | Promise<Mention[]>): Promise<void> {
    await notifyFailure(async () => {
      const mentions = await find();
      if (mentions.length > maxMentions)
        notify('info', t('A message can mention at most {0} items. The others were left out.', maxMentions));
      await this.parts.view.give({ type: 'mention', mentions: mentions.slice(0, maxMentions) });
    });
  }

  /** Returns the target of a command from a menu, a code action, or (without arguments) a key or the palette. */
  private async meant(args: unknown[], template?: keyof typeof codePromptTemplates | 'whole'): Promise<Mention[]> {
    const [first, second] = args;
    if (isTestFailure(first)) return [await this.failure(first)];
    if (isTerminal(first)) return inTerminal(await this.parts.terminals.lastCommand(first));
    if (isTrouble(first)) return [{ kind: 'problem', path: await this.pathOf(first.uri), line: first.line }];
    const changes = args.flat().filter(isResource);
    if (changes.length > 0)
      return Promise.all(
        changes.map(async ({ resourceUri }) => ({ kind: 'change' as const, path: await this.pathOf(resourceUri) })),
      );
    if (Array.isArray(second) && second.length > 0)
      return Promise.all(second.filter(isUri).map((uri) => this.file(uri)));
    if (template === 'whole') {
      const uri = isUri(first) ? first : vscode.window.activeTextEditor?.document.uri;
      if (!uri) throw new Error(t('No file is open in the editor.'));
      return [await this.file(uri)];
    }
    if (template === 'fix') return this.wrongInEditor();
    return this.inEditor();
  }

  private async inEditor(): Promise<Mention[]> {
    const { document, selection } = requireActiveEditor();
    const path = await this.pathOf(document.uri);
    if (selection.isEmpty) return [{ kind: 'file', path }];
    return [{ kind: 'lines', path, ...selectedLines(selection) }];
  }

  /**
   * Returns the problems in the selection or at the cursor, together with the selected lines. Returns the selection or the file if there
   * are no problems.
   */
  private async wrongInEditor(): Promise<Mention[]> {
    const [problems, all] = [await this.problems(), await this.inEditor()];
    if (problems.length === 0) return all;
    return [...problems, ...all.filter(({ kind }) => kind === 'lines')];
  }

  private async problemsAtCursor(): Promise<Mention[]> {
    const problems = await this.problems();
    if (problems.length === 0) throw new Error(t('No problems on the current line.'));
    return problems;
  }

  private async problems(): Promise<Mention[]> {
    const { document, selection } = requireActiveEditor();
    const path = await this.pathOf(document.uri);
    const here = vscode.languages
      .getDiagnostics(document.uri)
      .filter(({ severity }) => severity <= vscode.DiagnosticSeverity.Information)
      .filter(({ range }) => range.start.line <= selection.end.line && range.end.line >= selection.start.line)
      .sort((one, other) => one.severity - other.severity)
      .map(({ range }) => range.start.line + 1);
    return [...new Set(here)].slice(0, maxProblems).map((line) => ({ kind: 'problem', path, line }));
  }

  private async file(uri: vscode.Uri): Promise<Mention> {
    const path = await this.pathOf(uri);
    const { type } = await vscode.workspace.fs.stat(uri);
    return { kind: type & vscode.FileType.Directory ? 'folder' : 'file', path };
  }

  private async failure(failed: TestFailure): Promise<Mention> {
    const { uri, range } = failed.test;
    const at = failed.message.location?.range.start.line ?? range?.start.line;
    const where = failed.message.location?.uri ?? uri;
    const path = where && (await this.pathOf(where).catch(() => undefined));
    const { name, text } = testFailureText(failed, (file) => vscode.workspace.asRelativePath(file));
    return {
      kind: 'test',
      name,
      text: redact(text, await this.parts.secrets()),
      ...(path !== undefined && { path, ...(at !== undefined && { line: at + 1 }) }),
    };
  }

  private pathOf(uri: vscode.Uri): Promise<string> {
    return requireWorkspacePath(this.parts.workspace, uri);
  }
}

const inTerminal = ({ name, text }: TerminalOutput): Mention[] => [{ kind: 'terminal', name, text }];

const isUri = (value: unknown): value is vscode.Uri => value instanceof vscode.Uri;
const isTerminal = (value: unknown): value is vscode.Terminal =>
  vscode.window.terminals.some((terminal) => terminal === value);
const isResource = (value: unknown): value is vscode.SourceControlResourceState =>
  typeof value === 'object' && value !== null && 'resourceUri' in value && isUri(value.resourceUri);
const isTrouble = (value: unknown): value is CodeProblem =>
  typeof value === 'object' && value !== null && 'uri' in value && 'line' in value && isUri(value.uri);
