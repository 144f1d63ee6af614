import { readTool, type Tool } from '../core/tool.ts';
import { planUpdateDefinition } from '../definitions/userTools.ts';

/** `plan.update`: the run's to-do list. The panel shows the newest call's items; nothing else happens. Data: `{ items, done }`, counts. */
export const planUpdateTool: Tool = {
  ...readTool(planUpdateDefinition, async ({ items }) => ({
    items: items.length,
    done: items.filter(({ status }) => status === 'done').length,
  })),
  ofRun: true,
};
