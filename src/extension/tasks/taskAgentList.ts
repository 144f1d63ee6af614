import { RunError } from '../../engine/core/errorInfo.ts';
import type { TaskAgent } from '../../engine/tasks/taskOptions.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts } from '../../protocol/text/localized.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import type { AgentAbility } from '../../workflows/agents/agentAbilities.ts';
import { builtInTaskAgentId, builtInTaskAgents } from '../../workflows/agents/taskAgents.ts';
import type { AgentConsent } from '../agents/agentConsent.ts';
import { type AgentDefinition, agentsNamed, type LoadedAgent, severalAgentsError } from '../agents/loadedAgent.ts';
import type { RepositoryAgents } from '../agents/repositoryAgents.ts';

/** Agent that can receive a task: built-in, or of a file of the repository, which may be unusable. */
export type TaskAgentEntry = { builtIn: TaskAgent; loaded?: undefined } | { builtIn?: undefined; loaded: LoadedAgent };

interface Dependencies {
  agents(): Promise<{ agents: Pick<RepositoryAgents, 'list'>; consent: Pick<AgentConsent, 'agree'> }>;
}

const changing: ReadonlySet<AgentAbility> = new Set(['change', 'run', 'mcp']);
const [maxListedNames, longestListedName] = [20, 80];

/** Agents of tasks: the built-in ones, and those of the repository after the consent to their content. */
export class TaskAgentList {
  constructor(private readonly parts: Dependencies) {}

  /**
   * Finds an agent by its path or name; a name of a built-in agent means that one, so that no file of a repository can take its place.
   * Throws a `RunError` that lists the agents.
   */
  async find(idOrName: string): Promise<TaskAgentEntry> {
    const id = builtInTaskAgentId(idOrName);
    if (id) return { builtIn: builtInTaskAgents[id] };
    const all = await this.ofRepository();
    const [agent, ...others] = agentsNamed(all, idOrName);
    if (!agent) throw unknownAgentError(idOrName, all);
    if (others.length > 0) throw severalAgentsError(idOrName, [agent, ...others]);
    return { loaded: agent };
  }

  /** Returns the agents of the repository, also those that cannot be used; none in an untrusted or a virtual workspace. */
  async ofRepository(): Promise<LoadedAgent[]> {
    return (await this.parts.agents()).agents.list();
  }

  /** Returns the agent of an entry, after a consent if necessary. Throws a `RunError` if there is none, or if the file cannot be used. */
  async use({ builtIn, loaded }: TaskAgentEntry): Promise<TaskAgent> {
    if (builtIn) return builtIn;
    const { definition, problem, ...agent } = loaded;
    if (!definition) throw new RunError('WORKFLOW_INVALID', joinLocalizableTexts([agent.id, problem ?? ''], ': '));
    const { consent } = await this.parts.agents();
    if (!(await consent.agree({ ...agent, definition }, 'running')))
      throw new RunError('TOOL_DENIED', message('The user did not agree to the agent {0}.', agent.id));
    return taskAgentOf(agent, definition);
  }
}

const taskAgentOf = ({ id, name }: LoadedAgent, { abilities, turnOptions }: AgentDefinition): TaskAgent => ({
  id,
  name,
  mayChange: abilities.some((ability) => changing.has(ability)),
  turnOptions,
});

/** Returns the word by which an agent of the repository is found: its name, or its path if the name means others, too. */
export function taskAgentWord(agent: LoadedAgent, all: readonly LoadedAgent[]): string {
  const { id, name } = agent;
  return builtInTaskAgentId(name) || agentsNamed(all, name).length > 1 ? id : name;
}

function unknownAgentError(idOrName: string, all: readonly LoadedAgent[]): RunError {
  const usable = all.filter(({ definition }) => definition).map((agent) => taskAgentWord(agent, all));
  const names = [...Object.keys(builtInTaskAgents), ...usable];
  const rest = names.length - maxListedNames;
  const listed = names.slice(0, maxListedNames).map(shortName).join(', ');
  const sentence = message('There is no agent {0}. Agents: {1}', shortName(idOrName), listed);
  return new RunError(
    'TOOL_ARGS_INVALID',
    rest > 0 ? joinLocalizableTexts([sentence, message('and {0} more', rest)]) : sentence,
  );
}

/** Names are text of models and files, and part of a sentence. */
const shortName = (name: string): string => truncateWithEllipsis(escapeInvisibleInLine(name), longestListedName);
