import * as z from 'zod';
import { counted } from '../protocol/counted.ts';
import { commandEndShape } from '../protocol/events.ts';
import { linesOf } from './files/text.ts';
import { keptText } from './keptText.ts';
import type { BackgroundCommands } from './shell/background.ts';
import type { GoingCommand } from './shell/going.ts';
import { readTool, type Tool, ToolError } from './tool.ts';
import { defaultLines, lineWindow } from './window.ts';

/** A line of an output can be as long as the output; in pieces of this many characters all of it can be read. */
const longestLine = 4000;

/**
 * `output.read`: a window of lines of what a call of this run gave and was too long to tell, or of what a command in the background
 * wrote. Data: `{ text, startLine, endLine, totalLines, cut? }`; longer lines are broken every 4,000 characters. Of a command
 * without `offset` what is new, which is waited for up to ten seconds: `{ text, cut?, outputId? }`; and always
 * `{ running, exitCode?, signal?, by?, stillRunning? }`.
 */
export function outputTool(background: Pick<BackgroundCommands, 'find'>): Tool {
  const tool = readTool(
    {
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
    },
    async ({ id, offset, limit = defaultLines }, context) => {
      const command = background.find(context.runId, id);
      if (command && offset === undefined) {
        await command.untilNews(context.signal);
        const standing = standingOf(command); // before the text: what it wrote at its end is not missed
        const { text, dropped } = command.takeNews();
        return { ...standing, ...(await keptText(text, dropped, 'text', context)) };
      }
      const text = command ? command.text() : await context.keptOutput(id);
      if (text === undefined) throw new ToolError('ENOENT', `No call of this run gave an output with the id ${id}.`);
      return { ...(command && standingOf(command)), ...linesFrom(text, offset ?? 1, limit) };
    },
  );
  return { ...tool, ofRun: true };
}

function linesFrom(text: string, offset: number, limit: number) {
  const lines = linesOf(text).flatMap((line) => (line.length > longestLine ? pieces(line) : [line]));
  if (offset > Math.max(1, lines.length))
    throw new ToolError(
      'TOOL_ARGS_INVALID',
      `offset ${offset} is past the end: it has ${counted(lines.length, 'line')}.`,
    );
  return lineWindow(lines, offset, limit);
}

/** What is told of a command in the background. */
export const standingShape = {
  running: z.boolean().describe('It is still at work.'),
  exitCode: z.number().nullable().optional().describe('Once it has ended.'),
  signal: z.string().optional().describe('What ended it, when it did not end by itself.'),
  by: z.enum(commandEndShape.by.options).optional().describe('Who ended it, when it did not end by itself.'),
  stillRunning: z.array(z.string()).optional().describe('Processes that it left.'),
  outputId: z.string().optional().describe('Where not all is told: for `output.read`.'),
};

/** As a model is told of it. */
export const standingOf = ({ end }: Pick<GoingCommand, 'end'>) => {
  if (!end) return { running: true };
  const { by, outputId: _, ...how } = end;
  return { running: false, ...(by !== 'itself' && { by }), ...how };
};

const pieces = (line: string) =>
  Array.from({ length: Math.ceil(line.length / longestLine) }, (_, index) =>
    line.slice(index * longestLine, (index + 1) * longestLine),
  );
