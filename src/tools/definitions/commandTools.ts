import * as z from 'zod';
import { commandStateShape } from './shapes.ts';

export const outputReadDefinition = {
  name: 'output.read',
  description: 'Read more of an output or background command.',
  arguments: {
    id: z
      .string()
      .regex(/^[0-9a-f]{8,64}$/)
      .meta({ help: 'The `outputId` of a result, or the `id` of a background command.' }),
    offset: z.int().min(1).max(1e9).optional().meta({
      help: 'The first line, from 1. Without it, new output of a background command, after up to 10 seconds.',
    }),
    limit: z.int().min(1).optional().meta({ help: 'Number of lines. Default: 1000.' }),
  },
  gives: {
    ...commandStateShape,
    running: commandStateShape.running.optional(),
    text: z.string().describe('The lines read.'),
    startLine: z.number().optional().describe('The first line of `text`, from 1.'),
    endLine: z.number().optional().describe('The last line of `text`.'),
    totalLines: z.number().optional().describe('Number of all lines.'),
  },
};

export const shellRunDefinition = {
  name: 'shell.run',
  description: 'Run a shell command without input.',
  arguments: {
    command: z.string().min(1).meta({ help: 'The command line.' }),
    cwd: z.string().optional().meta({ path: true, help: 'The working folder. Default: the workspace.' }),
    timeoutSeconds: z
      .int()
      .min(1)
      .max(3600)
      .optional()
      .meta({ help: 'Default: the setting `towpath.shell.timeout` (600).' }),
    background: z.boolean().optional().meta({ help: 'Continue the command after the call has its result.' }),
    // Earlier runs and workflows have `true`, without a reason.
    outside: z
      .union([z.string(), z.boolean()])
      .optional()
      .meta({ promptType: 'string', help: 'Ask to run outside of the sandbox: the reason, or `true`.' }),
  },
  gives: {
    exitCode: z
      .number()
      .nullable()
      .optional()
      .describe('0 on success. Any other code is a result, too: the node continues.'),
    output: z.string().describe('The output, `stdout` and `stderr` in the order they arrived.'),
    signal: z.string().optional().describe('The signal that ended the command.'),
    outputId: z.string().optional().describe('Set if `output` is truncated: the id for `output.read`.'),
    note: z.string().optional().describe('A remark about the result.'),
    stillRunning: z.array(z.string()).optional().describe('Processes that still run.'),
    id: z.string().optional().describe('Set for a background command: the id for `output.read` and `shell.stop`.'),
    running: z.literal(true).optional().describe('Set for a background command: the command continues.'),
  },
};

export const shellStopDefinition = {
  name: 'shell.stop',
  description: 'Stop a background command.',
  arguments: { id: z.string().max(64).meta({ help: 'The `id` from `shell.run`.' }) },
  gives: { ...commandStateShape, output: z.string().describe('Output that was not read yet.') },
};
