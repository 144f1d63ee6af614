import * as z from 'zod';
import { planBounds, planStatus, planTool } from '../protocol/plan.ts';
import { readTool, type Tool } from './tool.ts';

/** A row of it. */
const itemSchema = z.strictObject({ text: z.string().min(1).max(planBounds.text), status: z.enum(planStatus) });

/** `plan.update`: the run's to-do list. The panel shows the newest call's items; nothing else happens. Data: `{ items, done }`, counts. */
export const planUpdateTool: Tool = {
  ...readTool(
    {
      name: planTool,
      description: 'Show your whole to-do list in a long task.',
      arguments: { items: z.array(itemSchema).max(planBounds.items).meta({ help: 'All of the list.' }) },
      gives: { items: z.number().describe('How many.'), done: z.number().describe('How many of them are done.') },
    },
    async ({ items }) => ({ items: items.length, done: items.filter(({ status }) => status === 'done').length }),
  ),
  ofRun: true,
};
