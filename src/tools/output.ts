import * as z from 'zod';
import { linesOf } from './files/text.ts';
import { readTool, type Tool, ToolError } from './tool.ts';
import { defaultLines, lineWindow } from './window.ts';

/** A line of an output can be as long as the output; in pieces of this many characters all of it can be read. */
const longestLine = 4000;

/**
 * `output.read`: a window of lines of what a call of this run gave and was too long to tell. Data:
 * `{ text, startLine, endLine, totalLines, cut? }`; longer lines are broken every 4,000 characters.
 */
export const outputTool: Tool = {
  ...readTool(
    {
      name: 'output.read',
      description: 'Read lines of an output that was cut.',
      arguments: {
        id: z
          .string()
          .regex(/^[0-9a-f]{12,64}$/)
          .describe('Its outputId'),
        offset: z.int().min(1).max(1e9).optional(),
        limit: z.int().min(1).max(5000).optional(),
      },
    },
    async ({ id, offset = 1, limit = defaultLines }, { keptOutput }) => {
      const text = await keptOutput(id);
      if (text === undefined) throw new ToolError('ENOENT', `No call of this run gave an output with the id ${id}.`);
      const lines = linesOf(text).flatMap((line) => (line.length > longestLine ? pieces(line) : [line]));
      if (offset > Math.max(1, lines.length))
        throw new ToolError('TOOL_ARGS_INVALID', `offset ${offset} is past the end: there are ${lines.length} lines.`);
      return lineWindow(lines, offset, limit);
    },
  ),
  ofRun: true,
};

const pieces = (line: string) =>
  Array.from({ length: Math.ceil(line.length / longestLine) }, (_, index) =>
    line.slice(index * longestLine, (index + 1) * longestLine),
  );
