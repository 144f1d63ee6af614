import type { ModelCheckTask } from './task.ts';
import { answerCheckTasks } from './tasks/answering.ts';
import { toolCallCheckTasks } from './tasks/calling.ts';
import { editingTasks } from './tasks/changing.ts';
import { instructionCheckTasks } from './tasks/heeding.ts';

export const modelCheckTasks = [
  ...toolCallCheckTasks,
  ...editingTasks,
  ...instructionCheckTasks,
  ...answerCheckTasks,
] as const satisfies readonly ModelCheckTask[];

export type CheckTaskTitle = (typeof modelCheckTasks)[number]['title'];
