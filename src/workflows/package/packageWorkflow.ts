import type { StopPoint } from '../../engine/core/abortReason.ts';
import type { Agent, Workflow, WorkflowContext } from '../../engine/core/workflow.ts';
import { hasInterruptingMessage } from '../../engine/input/messageQueue.ts';
import { turnLimitStopPoint } from '../../engine/loop/loop.ts';
import { hasOnlyQuestionCalls } from '../../protocol/content/askTool.ts';
import type { Message } from '../../protocol/content/messages.ts';
import {
  beginsWithPromptBlock,
  joinPromptBlocks,
  lastPromptBlock,
  personaOfBrief,
} from '../../protocol/content/promptBlocks.ts';
import type { Run } from '../../protocol/run/run.ts';
import { message } from '../../protocol/text/l10n.ts';
import { messageOf, toErrorInfo } from '../../protocol/text/localized.ts';
import { ToolError } from '../../tools/core/tool.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { PackageRunStateDocument } from './document.ts';
import { emitPackageRunStateEvents, emitRestoredPackageRunStateEvents } from './follow.ts';
import type { PackageWorkflow, WorkflowPackage } from './load.ts';
import { createMountedWorkspace } from './mounts.ts';
import { allowsTool, type PackageAgent } from './packageAgents.ts';
import { packageWorkflowDiagram, packageWorkflowNodeById } from './packageGraph.ts';
import {
  agentPersonaPromptBlock,
  type PackageRunDirective,
  packageNodePromptBlock,
  packageRunDirectiveText,
  userInputPromptBlock,
} from './packagePrompt.ts';
import { packageStateUpdateReminder } from './packageReminder.ts';
import { createPackageRunStateText } from './state.ts';
import { isPackageWorkflowComplete } from './transitions.ts';

export interface PackageRunOptions {
  id: string;
  source: WorkflowPackage;
  workflow: PackageWorkflow;
  activeAgentId: string;
  project: Workspace;
  stateFolder(runId: string): string;
  autopilot(): boolean;
  now(): Date;
}

/** Creates a workflow of step files: the model moves between nodes, and the state document stores the position. */
export function createPackageStepWorkflow(options: PackageRunOptions): Workflow {
  return {
    id: options.id,
    agent: runner(options),
    outline: packageWorkflowDiagram(options.workflow.graph),
    async advance(context) {
      try {
        return await new PackageRun(options, context, await openDocument(options, context)).advance();
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        const text = message("The run's state document cannot be used: {0}", messageOf(error));
        return { phase: 'Failed', error: { code: error.code, ...toErrorInfo(text) } };
      }
    },
    async undoing(context) {
      const { workflow, project, source } = options;
      const document = await openDocument(options, context);
      const before = document.state;
      const landed = () => emitRestoredPackageRunStateEvents(context, workflow.graph, before, document.state);
      return createMountedWorkspace(project, source.folder, document, landed, { by: 'person' });
    },
  };
}

/**
 * Opens the document of a run. A run that has visited a node must have a document, because a new document would silently restart the run.
 */
function openDocument({ stateFolder, workflow, now }: PackageRunOptions, { run }: Pick<WorkflowContext, 'run'>) {
  const { graph, template } = workflow;
  const first = run.graph === undefined ? createPackageRunStateText(template, graph.entryNodeId, now()) : undefined;
  return PackageRunStateDocument.open(stateFolder(run.id), graph, first);
}

/** Returns the agent of all nodes, so that the prompt prefix stays constant; personas are part of the brief. */
function runner({ source, activeAgentId }: PackageRunOptions): Agent {
  const instructions = `
You carry out a workflow of the package ${JSON.stringify(source.title)} in VS Code, node by node.
- Paths are of the workspace (x, where a step file says @project/x); @pkg/… is the package (read only), @state/… the folder of this run.
- RUN_DIRECTIVE and NODE_BRIEF say where you are. Read the step file of the node and do what it says, as the agent of AGENT_PERSONA.
- The frontmatter of @state/workflow.md is the truth about the run. When a node is done, add its id to stepsCompleted, set currentNodeId to one of allowedNext, and update variables, decisionLog, artifacts and updatedAt (ISO 8601), in one fs.apply_patch with frontmatter. Give only what is new: maps merge, lists append; {"set": …} in a value's place replaces it, {"remove": […]} takes names or items away. Go one node at a time. A refused update tells what is allowed.
- Write what a node makes to the paths of its outputs, and list them in artifacts.
- When something is the person's to decide, ask and stop; USER_INPUT says which node their answer is for. With autopilot: true decide yourself what can be decided, and log it.
- The run is over when its end node is in stepsCompleted. Then say shortly what was made.`;
  return { id: activeAgentId, name: source.title, instructions: instructions.trim() };
}

class PackageRun {
  private readonly workspace: Workspace;
  private briefed?: { nodeId: string; agentId: string; place: number };

  constructor(
    private readonly options: PackageRunOptions,
    private readonly context: WorkflowContext,
    private readonly document: PackageRunStateDocument,
  ) {
    const landed = () => this.follow();
    this.workspace = createMountedWorkspace(options.project, options.source.folder, document, landed, {
      maxWriteBytes: () => this.agent.maxWriteBytes,
    });
  }

  async advance(): Promise<StopPoint> {
    const { context } = this;
    const { run, maxTurns } = context;
    await this.follow();
    const before = replies(run);
    let intent: PackageRunDirective['intent'] = context.intent === 'start' ? 'start' : 'resume';
    for (;;) {
      await context.receiveMessages();
      const hasInput = hasUnanswered(run.messages);
      if (intent === 'resume' && hasInput) intent = 'continue';
      if (!this.briefed || this.needsBrief || hasInput) await this.brief(intent, hasInput);
      const reminder = this.reminder;
      if (reminder) await context.emit({ type: 'message', message: { role: 'system', content: reminder } });
      const left = maxTurns - (replies(run) - before);
      if (left <= 0) return turnLimitStopPoint(maxTurns);
      const { stop, handedBack } = await this.turns(left);
      if (!handedBack) return stop.error?.code === 'ENGINE_MAX_TURNS_EXCEEDED' ? turnLimitStopPoint(maxTurns) : stop;
      if (context.pausing) return { phase: 'WaitingUser' };
      intent = this.isForgotten ? 'resume' : 'continue';
    }
  }

  /** Runs the loop until a stop point, or until the model needs a new brief. */
  private async turns(maxTurns: number): Promise<{ stop: StopPoint; handedBack: boolean }> {
    const { context, document, options, agent } = this;
    let handedBack = false;
    const stop = await context.turns({
      agent: runner(options),
      allows: (tool) => allowsTool(agent, tool.name),
      needed: ['fs.apply_patch'], // only its frontmatter updates merge with the state document
      workspace: this.workspace,
      isComplete: () => isPackageWorkflowComplete(options.workflow.graph, document.state),
      handsBack: () => {
        handedBack = this.needsBrief || hasInterruptingMessage(context.run) || this.reminder !== undefined;
        return handedBack;
      },
      maxTurns,
    });
    return { stop, handedBack };
  }

  /** Appends a brief with the current position, without changing earlier messages. */
  private async brief(intent: PackageRunDirective['intent'], hasInput: boolean): Promise<void> {
    const { agent, context, document, options } = this;
    const { currentNodeId } = document.state;
    const { workflow, source } = options;
    const directive = {
      intent,
      packageName: source.name,
      workflow,
      currentNodeId,
      agentId: agent.id,
      autopilot: options.autopilot(),
    };
    const who = agentPersonaPromptBlock(agent);
    const blocks = [
      packageRunDirectiveText(directive),
      ...(who === lastPersona(context.run.messages.slice(this.summarised)) ? [] : [who]),
      packageNodePromptBlock(workflow, currentNodeId),
      ...(hasInput ? [userInputPromptBlock(currentNodeId)] : []),
    ];
    this.briefed = { nodeId: currentNodeId, agentId: agent.id, place: context.run.messages.length };
    await context.emit({ type: 'message', message: { role: 'system', content: joinPromptBlocks(blocks) } });
  }

  /** True if the model has outdated information about the position. */
  private get needsBrief(): boolean {
    const { nodeId, agentId } = this.briefed!;
    return nodeId !== this.document.state.currentNodeId || agentId !== this.agent.id || this.isForgotten;
  }

  private get reminder(): string | undefined {
    return packageStateUpdateReminder(this.context.run, this.options.workflow, this.document.state);
  }

  /** True if the last brief is covered by a summary and must be repeated. */
  private get isForgotten(): boolean {
    return this.briefed!.place < this.summarised;
  }

  private get summarised(): number {
    return this.context.run.compactions.findLast(({ summary }) => summary !== undefined)?.upTo ?? 0;
  }

  private get agent(): PackageAgent {
    const { workflow, activeAgentId, source } = this.options;
    const id = packageWorkflowNodeById(workflow.graph, this.document.state.currentNodeId)?.agentId ?? activeAgentId;
    return source.agents.find((agent) => agent.id === id)!;
  }

  private follow(): Promise<void> {
    return emitPackageRunStateEvents(this.context, this.options.workflow.graph, this.document.state);
  }
}

/** Returns the number of assistant messages that count as turns. */
const replies = ({ messages, calls }: Run): number =>
  messages.filter((message) => message.role === 'assistant' && !hasOnlyQuestionCalls(message, calls)).length;

/** Returns true if the user has sent a message since the last brief or answer. */
function hasUnanswered(messages: readonly Message[]): boolean {
  const last = messages.findLastIndex(
    (message) => message.role === 'assistant' || message.role === 'tool' || isBrief(message),
  );
  return messages.slice(last + 1).some(({ role }) => role === 'user');
}

const isBrief = (message: Message): boolean =>
  message.role === 'system' && beginsWithPromptBlock(message.content, 'RUN_DIRECTIVE');

function lastPersona(messages: readonly Message[]): string | undefined {
  const brief = messages.findLast((message) => isBrief(message) && lastPromptBlock(message.content, 'AGENT_PERSONA'));
  return brief && personaOfBrief(brief.content);
}
