import type * as vscode from 'vscode';
import type { Agent, TurnOptions, WorkflowContext } from '../../engine/core/workflow.ts';
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

/** Agent file of an open folder. `id`: its workspace-relative path; `hash`: of the text that `definition` was read from. */
export interface LoadedAgent {
  id: string;
  uri: vscode.Uri;
  name: string;
  description: string;
  hash: string;
  definition?: AgentDefinition;
  problem?: LocalizableText;
}
