import * as vscode from 'vscode';
import { untrustedWorkspaceMessage } from '../../engine/core/runResult.ts';
import type { ExecutionEngine } from '../../engine/run/engine.ts';
import type { Mention } from '../../protocol/content/mention.ts';
import { mentionTextOf } from '../../protocol/content/mentionText.ts';
import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { RunEvent } from '../../protocol/run/events.ts';
import { escapeInvisibleInLine, escapeInvisibleProse } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localizedErrorText } from '../../protocol/text/localized.ts';
import { shortenText } from '../../protocol/text/shorten.ts';
import type { RunStore } from '../../runs/store.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { isVirtualWorkspace, virtualUnsupportedMessage } from '../dialogs/folders.ts';
import { notifyFailure } from '../dialogs/notify.ts';
import { codeQuestionPrompt } from '../mentions/codePrompts.ts';
import { requireActiveEditor, requireWorkspacePath } from '../mentions/editorTarget.ts';
import { leaveBusyRun } from '../mentions/leaveBusyRun.ts';
import type { Mentions } from '../mentions/mentions.ts';
import { selectedLines } from '../mentions/selectedLines.ts';
import type { PanelConversation } from '../runs/conversation.ts';
import { OpenQuestions } from './openQuestions.ts';

interface Dependencies {
  workspace: Workspace;
  conversation: PanelConversation;
  engine: Pick<ExecutionEngine, 'liveIds'>;
  store: RunStore;
  mentions(): Promise<Mentions>;
  failed(error: unknown): void;
}

interface AskedThread {
  runId: string;
  /** Label of the thread while the run is at rest. */
  label: string | undefined;
}

interface SentMessage {
  runId: string;
  isQueued: boolean;
  /** Settles when the work on the message ends; for a queued message at once. */
  done: Promise<void>;
}

/** Ids in the `when` conditions of `package.json`. */
const [controllerId, askedContext] = ['towpath.ask', 'asked'];

/** Maximum characters of an answer in a thread. */
const answerCharacters = 1500;

/** Milliseconds until an empty thread is used without the focus. */
const inputMs = 3000;

/**
 * Threads of *Ask Towpath Here…*: comments of the editor, each with the messages to one run and the last text of its replies. Threads are not
 * stored. Stable API opens no thread with the focus in its input, so that commands of the editor move the focus once the input exists.
 */
export class AskThreads implements vscode.Disposable {
  private controller?: vscode.CommentController;
  /** Threads with a message. */
  private readonly asked = new Map<vscode.CommentThread, AskedThread>();
  private readonly questions = new OpenQuestions<vscode.CommentThread>();
  /** Thread without a message; the editor disposes it with Escape. */
  private draft?: { thread: vscode.CommentThread; input?: vscode.TextDocument } | undefined;
  private inputOpened = () => {};
  private readonly watches: vscode.Disposable[];

  constructor(private readonly parts: Dependencies) {
    this.watches = [
      vscode.workspace.onDidOpenTextDocument((document) => {
        if (!isInput(document) || !this.draft || this.draft.input) return;
        this.draft.input = document;
        this.inputOpened();
      }),
      vscode.workspace.onDidCloseTextDocument((document) => this.inputClosed(document)),
    ];
  }

  dispose(): void {
    for (const watch of this.watches) watch.dispose();
    this.controller?.dispose();
  }

  /** Opens a thread below the selected lines, with the focus in its input. The lines of a thread lead to that thread. */
  open(): Promise<void> {
    return notifyFailure(async () => {
      if (isVirtualWorkspace()) throw new Error(virtualUnsupportedMessage('Asking in the editor is'));
      if (!vscode.workspace.isTrusted) throw new Error(t(untrustedWorkspaceMessage));
      const editor = requireActiveEditor();
      const { document } = editor;
      const path = await requireWorkspacePath(this.parts.workspace, document.uri);
      const lines = selectedLines(editor.selection);
      const range = new vscode.Range(lines.from - 1, 0, lines.to - 1, document.lineAt(lines.to - 1).text.length);
      const label = escapeInvisibleInLine(mentionTextOf({ kind: 'lines', path, ...lines }));
      const hasInput = await this.showThread(document.uri, range, label);
      // The editor finds a thread by the last line of the selection.
      if (editor.selection.end.line !== range.end.line) editor.selection = new vscode.Selection(range.start, range.end);
      if (hasInput) await focusThreadInput();
    });
  }

  /** Sends the text of an input: to the run of the thread, else to the shown run, or to a new run if that is busy. */
  async send(reply: unknown): Promise<void> {
    const { thread, text } = reply as vscode.CommentReply;
    if (text.trim() === '') return;
    await notifyFailure(async () => {
      const known = this.asked.get(thread);
      const sent = known ? await this.continue(known.runId, text) : await this.ask(thread, text);
      if (this.draft?.thread === thread) this.draft = undefined;
      const { label } = known ?? thread;
      this.asked.set(thread, { runId: sent.runId, label });
      addComment(thread, t('You'), text);
      thread.contextValue = askedContext;
      thread.label = `${label} · ${t('Working')}`;
      this.watch(thread, sent);
      await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
    });
  }

  onEvent(event: RunEvent): void {
    for (const { thread, text, error } of this.questions.receive(event)) this.answer(thread, text, error);
  }

  /** Returns the run of a thread that the editor passes to a command. */
  runOf(thread: unknown): string | undefined {
    return this.asked.get(thread as vscode.CommentThread)?.runId;
  }

  close(given: unknown): void {
    const thread = [...this.asked.keys()].find((one) => one === given);
    if (!thread) return;
    this.asked.delete(thread);
    this.questions.remove(thread);
    thread.dispose();
  }

  /** Removes the threads of deleted runs. A run that begins may not be stored yet. */
  async removeDeleted(): Promise<void> {
    const { engine, store } = this.parts;
    for (const [thread, { runId }] of this.asked) {
      if (engine.liveIds.includes(runId) || this.questions.hasRun(runId)) continue;
      if (!(await store.has(runId))) this.close(thread);
    }
  }

  /** Resolves to false if the input of a new thread did not open in time. */
  private async showThread(uri: vscode.Uri, range: vscode.Range, label: string): Promise<boolean> {
    const known = [...this.asked.keys()].find(
      (one) => one.uri.toString() === uri.toString() && one.range?.end.line === range.end.line,
    );
    if (known) known.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
    if (known) return true;
    this.draft?.thread.dispose();
    const opened = new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), inputMs);
      this.inputOpened = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
    this.controller ??= createController();
    const thread = this.controller.createCommentThread(uri, range, []);
    this.draft = { thread };
    thread.label = label;
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
    return opened;
  }

  /** An input closes with its empty thread, or with the editor of the file, which shows the thread again later. */
  private inputClosed(document: vscode.TextDocument): void {
    if (!this.draft || document !== this.draft.input) return;
    const file = this.draft.thread.uri.toString();
    const isFileVisible = vscode.window.visibleTextEditors.some((editor) => editor.document.uri.toString() === file);
    this.draft = isFileVisible ? undefined : { thread: this.draft.thread };
  }

  private async ask({ uri, range }: vscode.CommentThread, text: string): Promise<SentMessage> {
    const { conversation, workspace, mentions } = this.parts;
    const { start, end } = range ?? new vscode.Range(0, 0, 0, 0);
    const path = await requireWorkspacePath(workspace, uri);
    const lines: Mention = { kind: 'lines', path, from: start.line + 1, to: end.line + 1 };
    const reader = await mentions();
    await leaveBusyRun(this.parts);
    const runId = conversation.id;
    const attachments = reader.read([lines], runId);
    const prompt = codeQuestionPrompt(mentionTextOf(lines), text);
    return {
      runId,
      isQueued: false,
      done: conversation.send(prompt, undefined, undefined, undefined, attachments),
    };
  }

  /** Continues the run of a thread. A message to a run at work waits for its end. */
  private async continue(runId: string, text: string): Promise<SentMessage> {
    const { conversation, engine } = this.parts;
    if (conversation.runId !== runId) await conversation.open(runId);
    const isQueued = engine.liveIds.includes(runId);
    return { runId, isQueued, done: conversation.sendTo(runId, { userInput: text }, isQueued ? 'done' : undefined) };
  }

  private watch(thread: vscode.CommentThread, { runId, isQueued, done }: SentMessage): void {
    const withdraw = this.questions.add(thread, runId, isQueued);
    const ended = () => {
      if (isQueued || !withdraw()) return;
      this.add(thread, t('The message was not sent. Show Log says why.'));
    };
    done.then(ended, (error) => {
      this.parts.failed(error);
      ended();
    });
  }

  private answer(thread: vscode.CommentThread, text: string, error?: ErrorInfo): void {
    const shown = shortenText(text.trim(), answerCharacters, `…\n\n${t('The whole answer is in the run.')}`);
    const parts = [shown, error ? localizedErrorText(error) : ''].filter((part) => part !== '');
    this.add(thread, parts.length > 0 ? parts.join('\n\n') : t('The model gave no answer.'));
  }

  private add(thread: vscode.CommentThread, text: string): void {
    const known = this.asked.get(thread);
    if (!known) return;
    addComment(thread, 'Towpath', text);
    if (!this.questions.hasThread(thread)) thread.label = known.label;
  }
}

function createController(): vscode.CommentController {
  const controller = vscode.comments.createCommentController(controllerId, 'Towpath');
  controller.options = { prompt: t('Reply'), placeHolder: t('Ask a question or describe a change') };
  return controller;
}

const isInput = ({ uri }: vscode.TextDocument): boolean => uri.scheme === 'comment' && uri.authority === controllerId;

/** Focuses the thread at the cursor, and from there its input. */
async function focusThreadInput(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.focusCommentOnCurrentLine');
  await vscode.commands.executeCommand('widgetNavigation.focusNext');
}

/** A string is shown as it is: text of a model is neither Markdown nor HTML. */
function addComment(thread: vscode.CommentThread, name: string, text: string): void {
  const mode = vscode.CommentMode.Preview;
  thread.comments = [...thread.comments, { body: escapeInvisibleProse(text), mode, author: { name } }];
}
