import * as z from 'zod';
import { commandEndShape } from '../../protocol/run/events.ts';

/** Value for a step of a workflow, which a model is not given. */
export const changedShape = z.boolean().optional().describe('False: it was so already.');

/** Result of every change of a text (`planText`). */
export const changeShape = {
  path: z.string().describe('The file.'),
  sha256: z.string().describe('Of the file as it is now.'),
  added: z.number().describe('Lines.'),
  removed: z.number().describe('Lines.'),
  changedOnSave: z.string().optional().describe('What the editor itself changed on saving, as a diff.'),
  newProblems: z.array(z.string()).optional().describe('What the editor’s language servers report since.'),
  changed: changedShape,
};

/** A file as it may be told of (`ShownFile`). */
export const shownShape = {
  path: z.string(),
  outside: z.literal(true).optional(),
  secret: z.literal(true).optional(),
};

/** Lines by file (`FileLines`). */
export const fileLines = z.array(
  z.strictObject({ path: z.string(), outside: z.literal(true).optional(), lines: z.array(z.string()) }),
);

/** State of a command in the background (`commandState`). */
export const standingShape = {
  running: z.boolean().describe('It is still at work.'),
  exitCode: z.number().nullable().optional().describe('Once it has ended.'),
  signal: z.string().optional().describe('What ended it, when it did not end by itself.'),
  by: z.enum(commandEndShape.by.options).optional().describe('Who ended it, when it did not end by itself.'),
  stillRunning: z.array(z.string()).optional().describe('Processes that it left.'),
  outputId: z.string().optional().describe('Where not all is told: for `output.read`.'),
};
