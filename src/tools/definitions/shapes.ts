import * as z from 'zod';
import { commandEndShape } from '../../protocol/content/commandRecord.ts';

/** Result field for workflow steps; models do not receive the field. */
export const changedFlagSchema = z.boolean().optional().describe('False if nothing had to change.');

export const fileChangeResultShape = {
  path: z.string().describe('Path of the file.'),
  sha256: z.string().describe('Checksum of the new content.'),
  added: z.number().describe('Number of added lines.'),
  removed: z.number().describe('Number of removed lines.'),
  changedOnSave: z.string().optional().describe('Changes by the editor on saving, as a diff.'),
  newProblems: z.array(z.string()).optional().describe('New problems from the language servers of the editor.'),
  changed: changedFlagSchema,
};

export const classifiedFileShape = {
  path: z.string(),
  outside: z.literal(true).optional(),
  secret: z.literal(true).optional(),
};

export const fileLinesSchema = z.array(
  z.strictObject({ path: z.string(), outside: z.literal(true).optional(), lines: z.array(z.string()) }),
);

export const commandStateShape = {
  running: z.boolean().describe('The command still runs.'),
  exitCode: z.number().nullable().optional().describe('The exit code after the end.'),
  signal: z.string().optional().describe('The signal that ended the command.'),
  by: z
    .enum(commandEndShape.by.options)
    .optional()
    .describe('What ended the command, if the command did not exit itself.'),
  stillRunning: z.array(z.string()).optional().describe('Processes that still run.'),
  outputId: z.string().optional().describe('Set if the output is truncated: the id for `output.read`.'),
  note: z.string().optional().describe('A remark about the result.'),
};
