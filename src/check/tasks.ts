import type { Task } from './task.ts';
import { answering } from './tasks/answering.ts';
import { calling } from './tasks/calling.ts';
import { changing } from './tasks/changing.ts';
import { heeding } from './tasks/heeding.ts';

/** What a model is checked with, in this order. */
export const tasks: readonly Task[] = [...calling, ...changing, ...heeding, ...answering];
