import * as vscode from 'vscode';
import type { Attachment } from '../../protocol/content/messages.ts';
import type { MessageDeliveryTiming } from '../../protocol/run/events.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localize, UserFacingError } from '../../protocol/text/localized.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { builtInTaskAgents } from '../../workflows/agents/taskAgents.ts';
import { agentItem } from '../agents/agentText.ts';
import type { LoadedAgent } from '../agents/loadedAgent.ts';
import { disableCommandLinks } from '../dialogs/approvalText.ts';
import { isVirtualWorkspace, virtualUnsupportedMessage } from '../dialogs/folders.ts';
import { notify } from '../dialogs/notify.ts';
import type { PanelConversation } from '../runs/conversation.ts';
import type { AgentPicker } from '../runs/pickAgent.ts';
import { type TaskAgentEntry, type TaskAgentList, taskAgentWord } from './taskAgentList.ts';
import { delegationRefusal, parseTaskCommand, taskCommandText, taskRequestOf } from './taskCommand.ts';

interface Dependencies {
  list: TaskAgentList;
  agents: Pick<AgentPicker, 'now'>;
  conversation: PanelConversation;
  workspace: Pick<Workspace, 'trusted'>;
  parallel(): number;
  /** Asks for consent to an agent of the repository, or says why it cannot be used. */
  mayUse(agent: LoadedAgent): Promise<boolean>;
  /** Context window of the selected model in tokens, if known. */
  window(): number | undefined;
}

/** Rest of a typed message: its attachments, its mentions, which are read when it is sent, and its delivery time. */
interface MessageRest {
  attachments?: Attachment[];
  named?(): Promise<Attachment[]> | undefined;
  when?: MessageDeliveryTiming;
}

/** Agent that was selected. `word`: its name in the message of the user. */
type Choice = TaskAgentEntry & { word: string };

/** *Delegate Task…* and `/task`: the user gives a task of the shown run, or of a new one, to an agent. */
export class TaskDelegation {
  constructor(private readonly parts: Dependencies) {}

  /** Asks for what is not given. Resolves to true if sent; undefined: cancelled or refused. */
  async delegate(agent?: unknown, prompt?: unknown): Promise<boolean | undefined> {
    const refusal = await this.refusal();
    if (refusal !== undefined) return void notify('info', refusal);
    const chosen =
      typeof agent === 'string' ? { ...(await this.parts.list.find(agent)), word: agent } : await this.pick();
    return chosen && this.give(chosen, typeof prompt === 'string' ? prompt : undefined);
  }

  /** Handles the text after `/task`. Throws a `UserFacingError` with the reason of a refusal, so that the text is not lost. */
  async delegateTyped(text: string, rest: MessageRest): Promise<boolean | undefined> {
    const refusal = await this.refusal();
    if (refusal !== undefined) throw new UserFacingError(refusal);
    const { agent, prompt } = parseTaskCommand(text);
    const chosen = agent === undefined ? await this.pick() : { ...(await this.parts.list.find(agent)), word: agent };
    return chosen && this.give(chosen, prompt, rest);
  }

  private async refusal(): Promise<string | undefined> {
    if (isVirtualWorkspace()) return virtualUnsupportedMessage('Tasks for other agents are');
    const { agents, conversation, workspace, parallel, window } = this.parts;
    const run = await conversation.run();
    const size = window();
    const refusal = delegationRefusal({
      parallel: parallel(),
      isTrusted: workspace.trusted,
      speaker: await agents.now(),
      ...(size !== undefined && { window: size }),
      ...(run?.outline && { hasNodes: true }),
    });
    return refusal && localize(refusal);
  }

  private async give(
    { word, builtIn, loaded }: Choice,
    given: string | undefined,
    { attachments, named, when }: MessageRest = {},
  ): Promise<boolean | undefined> {
    const { mayUse, conversation } = this.parts;
    if (loaded && !(await mayUse(loaded))) return undefined;
    const { id, name } = builtIn ?? loaded;
    const prompt = (given ?? (await askForTask(name)))?.trim();
    if (!prompt) return undefined;
    await vscode.commands.executeCommand('towpath.showChat');
    void conversation.send(
      taskCommandText(word, prompt),
      attachments,
      undefined,
      when,
      named?.(),
      taskRequestOf(id, prompt),
    );
    return true;
  }

  private async pick(): Promise<Choice | undefined> {
    const all = await this.parts.list.ofRepository();
    const rows = all.map((loaded) => ({
      ...agentItem(loaded),
      choice: { loaded, word: taskAgentWord(loaded, all) },
    }));
    const separator = { label: t('Agents of this repository'), kind: vscode.QuickPickItemKind.Separator };
    const items: (vscode.QuickPickItem & { choice?: Choice })[] = [
      ...builtInRows(),
      ...(rows.length > 0 ? [separator, ...rows] : []),
    ];
    const options = { title: t('Towpath: delegate a task'), matchOnDescription: true };
    return (await vscode.window.showQuickPick(items, options))?.choice;
  }
}

function builtInRows(): (vscode.QuickPickItem & { choice: Choice })[] {
  const { explorer, worker, reviewer } = builtInTaskAgents;
  const rows = [
    [explorer, t('read-only; finds code and answers questions')],
    [worker, t('edits and runs commands, with approval')],
    [reviewer, t('read-only; looks for errors')],
  ] as const;
  return rows.map(([builtIn, description]) => ({
    label: builtIn.name,
    description,
    choice: { builtIn, word: builtIn.id },
  }));
}

const askForTask = (name: string): Thenable<string | undefined> =>
  vscode.window.showInputBox({
    title: disableCommandLinks(`Towpath: ${name}`),
    prompt: t('What should it do? It does not see this conversation.'),
    ignoreFocusOut: true,
  });
