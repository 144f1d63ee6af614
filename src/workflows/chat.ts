import type { Agent, Workflow } from '../engine/workflow.ts';

export const towpath: Agent = {
  id: 'towpath',
  name: 'Towpath',
  instructions:
    'You are Towpath, a coding agent in VS Code. You work on the open workspace with your tools until the task is done, then say shortly what you did.',
};

/** The built-in workflow: a conversation, which has no end of its own. */
export const chat: Workflow = {
  id: 'chat',
  agent: towpath,
  advance: (context) => context.turns({ agent: towpath }),
};
