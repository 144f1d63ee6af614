import type { ModelCheckTask } from './task.ts';
import { answerCheckTasks } from './tasks/answering.ts';
import { toolCallCheckTasks } from './tasks/calling.ts';
import { editingCheckTasks } from './tasks/changing.ts';
import { instructionCheckTasks } from './tasks/instructions.ts';

export const modelCheckTasks = [
  ...toolCallCheckTasks,
  ...editingCheckTasks,
  ...instructionCheckTasks,
  ...answerCheckTasks,
] as const satisfies readonly ModelCheckTask[];

export type CheckTaskTitle = (typeof modelCheckTasks)[number]['title'];
