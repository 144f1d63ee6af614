import * as vscode from 'vscode';
import type { Workflow } from '../../engine/core/workflow.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import type { ModelConsent } from '../providers/modelConsent.ts';
import type { DecisionFile } from '../settings/decisionFile.ts';
import { AgentConsent, repositoryAgentWorkflow } from './agentConsent.ts';
import { agentConsentDetail } from './agentText.ts';
import { RepositoryAgents } from './repositoryAgents.ts';

type Dependencies = ConstructorParameters<typeof RepositoryAgents>[0] & {
  memory: DecisionFile;
  modals: Dialogs;
  namedModels: ModelConsent;
};

export interface AgentServices {
  agents: RepositoryAgents;
  consent: AgentConsent;
  /** Workflow of a run by the path of its agent file. Throws a `RunError`. */
  workflow(id: string): Promise<Workflow>;
}

/** Creates the reader of a repository's agents with the consents to their contents. */
export function createAgentServices({ memory, modals, namedModels, ...parts }: Dependencies): AgentServices {
  const agents = new RepositoryAgents(parts);
  const consent = new AgentConsent({
    memory,
    dialogs: modals,
    allowModel: (agentId, model) => namedModels.allow(agentId, model),
    detailOf: agentConsentDetail,
    openFile: async ({ uri }) => vscode.window.showTextDocument(uri),
  });
  return { agents, consent, workflow: (id) => repositoryAgentWorkflow(agents, consent, id) };
}
