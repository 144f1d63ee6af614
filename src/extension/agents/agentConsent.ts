// @invariant agents-need-consent: The instructions of an agent file reach a model only after the user agreed to their content.
import { RunError } from '../../engine/core/errorInfo.ts';
import type { Workflow } from '../../engine/core/workflow.ts';
import { message, t } from '../../protocol/text/l10n.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import type { DecisionFile } from '../settings/decisionFile.ts';
import type { AgentDefinition, LoadedAgent } from './loadedAgent.ts';
import type { RepositoryAgents } from './repositoryAgents.ts';

const agreedName = 'agents.agreed';
const maxAgreed = 500;

/** File and the hash of its content that the user agreed to. The absolute URI does not cover a folder opened in another's place. */
interface AgreedAgent {
  file: string;
  hash: string;
}

type UsableAgent = LoadedAgent & { definition: AgentDefinition };

interface Dependencies {
  memory: DecisionFile;
  dialogs: Pick<Dialogs, 'ask' | 'askWhenQuiet'>;
  /** Stores the consent to the model that the file selects, which the same dialog names. */
  allowModel(agentId: string, model: string): void;
  detailOf(agent: UsableAgent): string;
  openFile(agent: LoadedAgent): Promise<unknown>;
}

/**
 * Consents for agents of the repository: once per file and content. The question covers the model that the file selects. Closing the dialog
 * denies this time only.
 */
export class AgentConsent {
  private readonly asking = new Map<string, Promise<boolean>>();

  constructor(private readonly parts: Dependencies) {}

  /** Resolves to true if the user agreed to this content, now or before. `asked`: by the user's own choice of the agent. */
  agree(agent: UsableAgent, when: 'asked' | 'running'): Promise<boolean> {
    if (this.isAgreed(agent)) return Promise.resolve(true);
    const key = JSON.stringify(entryOf(agent));
    const answer = this.asking.get(key) ?? this.ask(agent, when).finally(() => this.asking.delete(key));
    this.asking.set(key, answer);
    return answer;
  }

  isAgreed(agent: LoadedAgent): boolean {
    const { file, hash } = entryOf(agent);
    return this.agreed().some((one) => one.file === file && one.hash === hash);
  }

  agreed(): AgreedAgent[] {
    const stored = this.parts.memory.get(agreedName);
    return Array.isArray(stored) ? stored.filter(isAgreedAgent) : [];
  }

  forget({ file }: AgreedAgent): void {
    this.store(this.agreed().filter((one) => one.file !== file));
  }

  private async ask(agent: UsableAgent, when: 'asked' | 'running'): Promise<boolean> {
    const entry = entryOf(agent);
    const hasChanged = this.agreed().some(({ file }) => file === entry.file);
    const text = hasChanged
      ? t('The agent “{0}” has changed. Use it as it is now?', agent.name)
      : t('Use the agent “{0}” of this repository?', agent.name);
    const [open, use] = [t('Open File'), t('Use Agent')];
    const question = { text, detail: this.parts.detailOf(agent), buttons: [open, use], opens: open };
    const answer = await (when === 'asked'
      ? this.parts.dialogs.ask(question)
      : this.parts.dialogs.askWhenQuiet(question));
    if (answer === open) await this.parts.openFile(agent);
    if (answer !== use) return false;
    this.store([...this.agreed().filter(({ file }) => file !== entry.file), entry]);
    const { model } = agent.definition;
    if (model !== undefined) this.parts.allowModel(agent.id, model);
    return true;
  }

  private store(all: readonly AgreedAgent[]): void {
    this.parts.memory.update(agreedName, all.slice(-maxAgreed));
  }
}

/** Returns the workflow of an agent file. A content without consent is requested in `advance` and is part of no prompt before. */
export async function repositoryAgentWorkflow(
  agents: Pick<RepositoryAgents, 'load'>,
  consent: AgentConsent,
  id: string,
): Promise<Workflow> {
  const loaded = await agents.load(id);
  const { agent, turnOptions } = loaded.definition;
  return {
    id,
    agent: consent.isAgreed(loaded) ? agent : { id: agent.id, name: agent.name, instructions: '' },
    async advance(run) {
      if (await consent.agree(loaded, 'running')) return run.turns(turnOptions(run));
      throw new RunError('UNKNOWN', message('You did not agree to the agent {0}. Retry to decide again.', loaded.id));
    },
  };
}

const entryOf = ({ uri, hash }: LoadedAgent): AgreedAgent => ({ file: uri.toString(), hash });

const isAgreedAgent = (one: unknown): one is AgreedAgent =>
  ['file', 'hash'].every((name) => typeof Object(one)[name] === 'string');
