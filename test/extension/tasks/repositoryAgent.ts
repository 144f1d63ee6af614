import type { LoadedAgent } from '../../../src/extension/agents/loadedAgent.ts';
import { message } from '../../../src/protocol/text/l10n.ts';
import { repositoryAgentAbilities } from '../../../src/workflows/agents/agentAbilities.ts';
import { agentFormatOf, agentNameOfFile } from '../../../src/workflows/agents/agentLocations.ts';
import { repositoryAgentOf, repositoryAgentTurnOptions } from '../../../src/workflows/agents/agentTurns.ts';
import { parseAgentMarkdown } from '../../../src/workflows/agents/parseAgentMarkdown.ts';

/** Agent of a Markdown file as the editor loads it. `problem`: it cannot be used. */
export function repositoryAgent(id: string, head: string, problem?: string): LoadedAgent {
  const { agent } = parseAgentMarkdown(`---\n${head}\n---\nLook at it.\n`, id, agentFormatOf(id)!);
  const fileName = agentNameOfFile(id);
  const common = { id, uri: `file:///projects/${id}`, fileName, name: fileName, description: '', hash: head };
  if (problem !== undefined) return { ...common, problem: message(problem) } as unknown as LoadedAgent;
  const { name, description, asks, unknownTools, notes } = agent!;
  const definition = {
    abilities: repositoryAgentAbilities(agent!),
    asks,
    unknownTools,
    notes,
    agent: repositoryAgentOf(fileName, agent!),
    turnOptions: (run: Parameters<typeof repositoryAgentTurnOptions>[2]) =>
      repositoryAgentTurnOptions(fileName, agent!, run),
  };
  return { ...common, name, description, definition } as unknown as LoadedAgent;
}
