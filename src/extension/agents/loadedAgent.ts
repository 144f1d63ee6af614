import type * as vscode from 'vscode';
import { RunError } from '../../engine/core/errorInfo.ts';
import type { Agent, TurnOptions, WorkflowContext } from '../../engine/core/workflow.ts';
import { message } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import type { AgentAbility } from '../../workflows/agents/agentAbilities.ts';

/** Usable agent. `model` is the model that its file selects; `unavailableModel` is a named model that is not set up here. */
export interface AgentDefinition {
  abilities: AgentAbility[];
  asks: boolean;
  unknownTools: string[];
  notes: LocalizableText[];
  model?: string;
  unavailableModel?: string;
  agent: Agent;
  turnOptions(run: WorkflowContext): TurnOptions;
}

/**
 * Agent file of an open folder. `id`: its workspace-relative path; `fileName`: the name without extensions; `hash`: of the text that
 * `definition` was read from.
 */
export interface LoadedAgent {
  id: string;
  uri: vscode.Uri;
  name: string;
  fileName: string;
  description: string;
  hash: string;
  definition?: AgentDefinition;
  problem?: LocalizableText;
}

/** Returns the agent with this path, or all agents with this name. */
export function agentsNamed(all: readonly LoadedAgent[], idOrName: string): LoadedAgent[] {
  const exact = all.find(({ id }) => id === idOrName);
  return exact ? [exact] : all.filter(({ name, fileName }) => name === idOrName || fileName === idOrName);
}

export const severalAgentsError = (name: string, agents: readonly LoadedAgent[]): RunError =>
  new RunError(
    'UNKNOWN',
    message('Several agents are named {0}: {1}. Use the path.', name, agents.map(({ id }) => id).join(', ')),
  );
