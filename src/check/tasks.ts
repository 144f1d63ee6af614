import type { Task } from './task.ts';
import { answering } from './tasks/answering.ts';
import { calling } from './tasks/calling.ts';
import { changing } from './tasks/changing.ts';
import { instructionTasks } from './tasks/heeding.ts';

/** Tasks of a check, in order. */
export const tasks = [...calling, ...changing, ...instructionTasks, ...answering] as const satisfies readonly Task[];

export type Title = (typeof tasks)[number]['title'];
