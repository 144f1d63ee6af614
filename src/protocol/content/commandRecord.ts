import * as z from 'zod';

// Command line with `marker`, an environment variable value that identifies the processes of the command.
export const commandSchema = z.object({ line: z.string(), folder: z.string(), marker: z.string() });
export type RecordedCommandLine = z.infer<typeof commandSchema>;

// Unique identity of a process: process id, start time in the format of the system, and (Linux) the boot id.
export const processSchema = z.object({ pid: z.number().int(), began: z.string(), boot: z.string().optional() });
export type ProcessIdentity = z.infer<typeof processSchema>;

/**
 * Command that continues after its call: the id within the run, and the process of the owning window, absent if the system does not report
 * the process.
 */
export const backgroundCommandSchema = z.object({ id: z.string(), owner: processSchema.optional() });
export type BackgroundCommandStart = z.infer<typeof backgroundCommandSchema>;

/**
 * End of a background command: by itself, by `shell.stop` (`call`), by the user (`person`), with its window or run (`window`), by the
 * output limit (`flood`) or by timeout; `lost`: the window ended without a record. `stillRunning`: processes that survived. `outputId`:
 * content id of the output. `note`: what a sandbox has blocked or not kept.
 */
export const commandEndShape = {
  by: z.enum(['itself', 'call', 'person', 'window', 'flood', 'timeout', 'lost']),
  exitCode: z.number().int().nullable().optional(),
  signal: z.string().optional(),
  stillRunning: z.array(z.string()).optional(),
  outputId: z.string().optional(),
  note: z.string().optional(),
};
const commandEndSchema = z.object(commandEndShape);
export type CommandEnd = z.infer<typeof commandEndSchema>;
