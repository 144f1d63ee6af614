import * as z from 'zod';
import { standingShape } from './shapes.ts';

export const outputDefinition = {
  name: 'output.read',
  description: "Read on in a cut output, or in a background command's.",
  arguments: {
    id: z
      .string()
      .regex(/^[0-9a-f]{8,64}$/)
      .meta({ help: 'The `outputId` of a result, or the `id` of a command in the background.' }),
    offset: z.int().min(1).max(1e9).optional().meta({
      help: 'The first line, from 1. Of a command without it: what is new, waited for up to ten seconds.',
    }),
    limit: z.int().min(1).max(5000).optional().meta({ help: 'How many lines: 1000 without it.' }),
  },
  gives: {
    ...standingShape,
    running: standingShape.running.optional(),
    text: z.string().describe('The lines.'),
    startLine: z.number().optional().describe('The first line of `text`, from 1.'),
    endLine: z.number().optional().describe('The last line of `text`.'),
    totalLines: z.number().optional().describe('How many there are.'),
  },
};

export const shellDefinition = {
  name: 'shell.run',
  description: 'Run a shell command, without input.',
  arguments: {
    command: z.string().min(1).meta({ help: 'The command line.' }),
    cwd: z.string().optional().meta({ path: true, help: 'The folder it runs in; without it the workspace.' }),
    timeoutSeconds: z.int().min(1).max(3600).optional().meta({ help: 'Without it `towpath.shell.timeout`, 600.' }),
    background: z.boolean().optional().meta({ help: 'It goes on when the step has its result.' }),
  },
  gives: {
    exitCode: z
      .number()
      .nullable()
      .optional()
      .describe('0 when all went well. Another one is an answer, too: the node goes on.'),
    output: z.string().describe('What it printed, `stdout` and `stderr` as they came.'),
    signal: z.string().optional().describe('What ended it, when it did not end by itself.'),
    outputId: z.string().optional().describe('Where `output` is cut: for `output.read`.'),
    note: z.string().optional().describe('What else is to be said.'),
    stillRunning: z.array(z.string()).optional().describe('Processes that it left.'),
    id: z.string().optional().describe('In the background: for `output.read` and `shell.stop`.'),
    running: z.literal(true).optional().describe('In the background: it goes on.'),
  },
};

export const stopDefinition = {
  name: 'shell.stop',
  description: 'End a background command.',
  arguments: { id: z.string().max(64).meta({ help: 'The `id` that `shell.run` gave.' }) },
  gives: { ...standingShape, output: z.string().describe('What it printed and nobody has read yet.') },
};
