import { agentName, chatWorkflowId, planAgent, reviewAgent } from '../../protocol/content/agents.ts';
import type { TaskRequest } from '../../protocol/content/tasks.ts';
import { minDelegationWindow } from '../../protocol/content/tasks.ts';
import { type LocalizedMessage, message, withDigitGrouping } from '../../protocol/text/l10n.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';

const longestTitle = 60;

/** Splits the text after `/task` into the agent and its task. An agent with blanks in its name is in double quotes. */
export function parseTaskCommand(text: string): { agent?: string; prompt?: string } {
  const [, quoted, word, prompt] = /^\s*(?:"([^"\n]+)"|(\S+))(?:\s+([\s\S]*\S))?\s*$/.exec(text) ?? [];
  const agent = quoted ?? word;
  return { ...(agent !== undefined && { agent }), ...(prompt !== undefined && { prompt }) };
}

/** Returns the message that delegates a task, as a user would type it. */
export const taskCommandText = (agent: string, prompt: string): string =>
  ['/task', /\s/.test(agent) ? `"${agent}"` : agent, prompt].join(' ');

/** Returns the request for a task of the user; its title is the first line. `agent`: id. */
export const taskRequestOf = (agent: string, prompt: string): TaskRequest => ({
  title: truncateWithEllipsis(prompt.split('\n', 1)[0]!.trim(), longestTitle),
  prompt,
  agent,
});

/**
 * State that decides whether the user can delegate. `speaker`: agent of the shown or the next run; `window`: context window of the selected
 * model in tokens, if known; `hasNodes`: the shown run follows the nodes of a workflow.
 */
interface DelegationState {
  parallel: number;
  isTrusted: boolean;
  speaker: { workflowId: string; agentId: string };
  window?: number;
  hasNodes?: boolean;
}

/** Returns the reason why the user cannot delegate now; undefined: it is possible. */
export function delegationRefusal(state: DelegationState): LocalizedMessage | undefined {
  const { parallel, isTrusted, speaker, window, hasNodes } = state;
  if (!isTrusted)
    return message('This workspace is not trusted, so nothing is delegated. Trust it first (Manage Workspace Trust).');
  if (parallel === 0) return message('Delegation is switched off: the setting {0} is 0.', 'towpath.tasks.parallel');
  if (speaker.workflowId === chatWorkflowId && (speaker.agentId === planAgent || speaker.agentId === reviewAgent))
    return message('{0} does not delegate. Pick the agent Work first.', agentName(speaker));
  if (hasNodes) return message('This run follows a workflow, which delegates nothing. Start a new run first.');
  if (window !== undefined && window < minDelegationWindow)
    return message(
      'The context window of the selected model ({0} tokens) is too small to delegate: at least {1} are needed.',
      withDigitGrouping(window),
      withDigitGrouping(minDelegationWindow),
    );
  return undefined;
}
