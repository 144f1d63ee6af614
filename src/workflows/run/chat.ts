import type { Agent, Workflow } from '../../engine/workflow.ts';

export const towpath: Agent = {
  id: 'towpath',
  name: 'Towpath',
  instructions:
    'You are Towpath, a coding agent in VS Code. Work with your tools until the task is done, then say what you did.',
};

/** The built-in workflow: a conversation, which has no end of its own. */
export const chat: Workflow = {
  id: 'chat',
  agent: towpath,
  advance: (context) => context.turns({ agent: towpath }),
};
