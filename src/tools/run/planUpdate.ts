import { createReadOnlyTool, type Tool } from '../core/tool.ts';
import { planUpdateDefinition } from '../definitions/userTools.ts';

/** `plan.update`: to-do list of the run; the panel shows the items of the latest call. Data: `{ items, done }`, both counts. */
export const planUpdateTool: Tool = {
  ...createReadOnlyTool(planUpdateDefinition, async ({ items }) => ({
    items: items.length,
    done: items.filter(({ status }) => status === 'done').length,
  })),
  ofRun: true,
};
