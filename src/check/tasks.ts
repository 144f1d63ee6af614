import type { Task } from './task.ts';
import { answering } from './tasks/answering.ts';
import { calling } from './tasks/calling.ts';
import { changing } from './tasks/changing.ts';
import { instructionTasks } from './tasks/heeding.ts';

/** What a model is checked with, in this order. */
export const tasks = [...calling, ...changing, ...instructionTasks, ...answering] as const satisfies readonly Task[];

/** What one of them is about. */
export type Title = (typeof tasks)[number]['title'];
