import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';
import { localize } from '../../protocol/text/localized.ts';
import type { AgentServices } from '../agents/agentServices.ts';
import { agentItem, untrustedAgentsMessage } from '../agents/agentText.ts';
import type { LoadedAgent } from '../agents/loadedAgent.ts';
import { isVirtualWorkspace, virtualUnsupportedMessage } from '../dialogs/folders.ts';
import { notify, notifyWithActions } from '../dialogs/notify.ts';
import type { PanelConversation } from '../runs/conversation.ts';

/** Agents of the repository as the user picks them: listed with their origin, and used after consent. */
export class RepositoryAgentCommands {
  constructor(
    private readonly services: Pick<AgentServices, 'agents' | 'consent'>,
    private readonly conversation: PanelConversation,
  ) {}

  /** *Run Agent…*: resolves to true if started; undefined: cancelled. */
  async run(id?: string, text?: string): Promise<boolean | undefined> {
    const agent = await this.pick(id);
    if (!agent) return undefined;
    if (!(await this.mayUse(agent))) return agent.definition ? undefined : false;
    const title = `Towpath: ${agent.name}`;
    const prompt = t('What do you want to do?');
    const userInput = text ?? (await vscode.window.showInputBox({ title, prompt, ignoreFocusOut: true }));
    if (!userInput?.trim()) return undefined;
    await vscode.commands.executeCommand('towpath.showChat');
    void this.conversation.begin({ workflowId: agent.id, userInput: userInput.trim() });
    return true;
  }

  /** Asks for consent to a picked agent, or says why it cannot be used. */
  async mayUse(agent: LoadedAgent): Promise<boolean> {
    const { definition } = agent;
    if (definition) return this.services.consent.agree({ ...agent, definition }, 'asked');
    void this.showProblem(agent);
    return false;
  }

  private async showProblem({ uri, id, problem }: LoadedAgent): Promise<void> {
    const open = t('Open File');
    const text = t('The agent {0} cannot be used: {1}', id, problem ? localize(problem) : '');
    if ((await notifyWithActions('error', text, open)) === open) await vscode.window.showTextDocument(uri);
  }

  private async pick(id: string | undefined): Promise<LoadedAgent | undefined> {
    if (isVirtualWorkspace()) return void notify('info', virtualUnsupportedMessage('Agents from files are'));
    if (!vscode.workspace.isTrusted) return void notify('info', localize(untrustedAgentsMessage));
    if (typeof id === 'string') return this.services.agents.find(id);
    const all = await this.services.agents.list();
    if (all.length === 0) {
      const text =
        'There are no agents here yet. An agent is a YAML file in .towpath/agents with `instructions`, or a Markdown file in .github/agents, .claude/agents or .opencode/agent.';
      return void notify('info', t(text));
    }
    const items = all.map((agent) => ({ ...agentItem(agent), agent }));
    const options = { title: t('Towpath: run an agent'), matchOnDescription: true };
    return (await vscode.window.showQuickPick(items, options))?.agent;
  }
}
