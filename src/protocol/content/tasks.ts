import * as z from 'zod';
import { errorInfoSchema, messageSchema } from './messages.ts';

/** Work for an agent with its own conversation. `agent`: id or name; absent: the read-only agent of Towpath. */
export interface TaskRequest {
  title: string;
  prompt: string;
  agent?: string;
}

/** Characters of the title, of the instructions, and of a report to the run. The rest of a report is read by `output.read`. */
export const taskBounds = { title: 80, prompt: 20_000, report: 4000 } as const;

/** Context window, in tokens, below which a run does not delegate: the results of tasks would leave too little of it. */
export const minDelegationWindow = 16_000;

/** Limits of a task. The limits of its run apply in addition: the steps and the cost of a task count in the run. */
const taskLimitKinds = ['steps', 'time'] as const;
export type TaskLimitKind = (typeof taskLimitKinds)[number];

/**
 * Start of a task. `task`: id of its `task.run` call; the ids of its own calls are this id, a colon and the id in its conversation. `agent`:
 * id of the agent, and `name` its displayed name. `maxSteps`: model calls. `mayChange`: it may change files or run commands.
 */
export const taskStartShape = {
  task: z.string(),
  title: z.string(),
  agent: z.string(),
  name: z.string(),
  maxSteps: z.number().int(),
  mayChange: z.literal(true).optional(),
};

/** Message in the conversation of a task. `queued`: it delivers the queued message with this number. */
export const taskMessageShape = {
  task: z.string(),
  message: messageSchema,
  queued: z.number().int().optional(),
};

export const taskEndStatusSchema = z.enum(['done', 'failed', 'stopped']);
export type TaskEndStatus = z.infer<typeof taskEndStatusSchema>;

/** End of a task. `stopped` without a `limit`: by the user. */
export const taskEndShape = {
  task: z.string(),
  status: taskEndStatusSchema,
  limit: z.enum(taskLimitKinds).optional(),
  error: errorInfoSchema.optional(),
};

/** Marks an event that belongs to the conversation of a task. */
export const ofTaskShape = { task: z.string().optional() };
