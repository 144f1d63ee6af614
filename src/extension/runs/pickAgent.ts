import * as vscode from 'vscode';
import type { ExecutionEngine } from '../../engine/run/engine.ts';
import { agentName, chatWorkflowId, planAgent, workAgent } from '../../protocol/content/agents.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localizedErrorText } from '../../protocol/text/localized.ts';
import type { AgentServices } from '../agents/agentServices.ts';
import { agentItem } from '../agents/agentText.ts';
import type { LoadedAgent } from '../agents/loadedAgent.ts';
import { workflowNameOf } from '../language/workflowFiles.ts';
import type { PanelConversation } from './conversation.ts';

/** Agent of a conversation: built-in, or of a file with its own runs. */
interface Speaker {
  workflowId: string;
  agentId: string;
}

interface Dependencies {
  memory: vscode.Memento;
  engine: ExecutionEngine;
  conversation: PanelConversation;
  repositoryAgents(): Promise<Pick<AgentServices, 'agents'>>;
  /** Asks for consent to an agent of the repository. */
  mayUse(agent: LoadedAgent): Promise<boolean>;
  changed(): void;
}

type AgentItem = vscode.QuickPickItem & Partial<Speaker> & { agent?: LoadedAgent };

const key = 'towpath.agent';

const built = (agentId: string): Speaker => ({ workflowId: chatWorkflowId, agentId });

/** Agent of the next message: that of the displayed run, else the agent chosen last. */
export class AgentPicker {
  /** Agent of a file for new runs; not persisted, because files may disappear. */
  private ofFile?: Speaker;

  constructor(private readonly parts: Dependencies) {}

  get next(): Speaker {
    return this.ofFile ?? built(this.parts.memory.get(key) === planAgent ? planAgent : workAgent);
  }

  async now(): Promise<Speaker> {
    const run = await this.parts.conversation.run();
    return run && run.workflowId !== '' ? run : this.next;
  }

  /** Sets the agent from the next rest on. An agent that the displayed run cannot have starts a new run with the next message. */
  async choose(speaker: Speaker): Promise<void> {
    const { conversation, engine, changed } = this.parts;
    if (speaker.workflowId === chatWorkflowId) await this.remember(speaker.agentId);
    else this.ofFile = speaker;
    const run = await conversation.run();
    const isOther = run && (run.workflowId !== speaker.workflowId || run.agentId !== speaker.agentId);
    if (isOther && run.workflowId === chatWorkflowId && !this.ofFile) {
      const failure = await engine.chooseAgent(run.id, speaker.agentId);
      if (failure) conversation.notice({ level: 'error', text: localizedErrorText(failure) });
    } else if (isOther) await conversation.open(undefined);
    changed();
  }

  async remember(agentId: string): Promise<void> {
    this.ofFile = undefined;
    await this.parts.memory.update(key, agentId);
    this.parts.changed();
  }

  /** Turns plan mode on or off; undefined toggles. */
  async togglePlanMode(on?: boolean): Promise<void> {
    const { workflowId, agentId } = await this.now();
    const isOn = workflowId === chatWorkflowId && agentId === planAgent;
    await this.choose(built((on ?? !isOn) ? planAgent : workAgent));
  }

  async pick(): Promise<void> {
    const now = await this.now();
    const isNow = ({ workflowId, agentId }: Speaker) =>
      workflowId === now.workflowId && (workflowId !== chatWorkflowId || agentId === now.agentId);
    const marked = <Row extends Speaker & vscode.QuickPickItem>(rows: readonly Row[]) =>
      rows
        .toSorted((one, other) => Number(isNow(other)) - Number(isNow(one)))
        .map((row) => ({ ...row, label: `${isNow(row) ? '$(check)' : '$(blank)'} ${row.label}` }));
    const ofRepository = marked(
      (await (await this.parts.repositoryAgents()).agents.list()).map((agent) => {
        return { ...agentItem(agent), workflowId: agent.id, agentId: workflowNameOf(agent.uri), agent };
      }),
    );
    const groups = [marked(builtIn()), ofRepository];
    if (ofRepository.some(isNow)) groups.reverse(); // the current agent comes first
    const separator = { label: t('Agents of this repository'), kind: vscode.QuickPickItemKind.Separator };
    const items = groups.flatMap<AgentItem>((rows) =>
      rows === ofRepository && rows.length > 0 ? [separator, ...rows] : rows,
    );
    const placeholder = (await this.parts.conversation.run())
      ? t('For the shown run; an agent from a file starts a new run')
      : t('For the run that starts here');
    const chosen = await vscode.window.showQuickPick(items, {
      title: t('Towpath: select an agent'),
      placeHolder: placeholder,
    });
    if (chosen?.workflowId === undefined || chosen.agentId === undefined) return;
    const { workflowId, agentId, agent } = chosen;
    if (agent && !(await this.parts.mayUse(agent))) return;
    if (!isNow({ workflowId, agentId })) await this.choose({ workflowId, agentId });
  }
}

const builtIn = (): (Speaker & vscode.QuickPickItem)[] => [
  { ...built(workAgent), label: agentName(built(workAgent)), description: t('edits and runs commands, with approval') },
  {
    ...built(planAgent),
    label: agentName(built(planAgent)),
    description: t('read-only; ends with a plan that Work can implement'),
  },
];
