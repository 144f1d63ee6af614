import { counted } from '../../protocol/text/plurals.ts';
import { defaultLines, lineWindow } from '../core/lineWindow.ts';
import { storedOutput } from '../core/storedOutput.ts';
import { readTool, type Tool, ToolError } from '../core/tool.ts';
import { outputDefinition } from '../definitions/commandTools.ts';
import { linesOf } from '../sandbox/fileText.ts';
import type { BackgroundCommands } from './background.ts';
import type { GoingCommand } from './backgroundCommand.ts';

/** A line of an output can be as long as the output; in pieces of this many characters all of it can be read. */
const longestLine = 4000;

/**
 * `output.read`: a window of lines of what a call of this run gave and was too long to tell, or of what a command in the background
 * wrote. Data: `{ text, startLine, endLine, totalLines, cut? }`; longer lines are broken every 4,000 characters. Of a command
 * without `offset` what is new, which is waited for up to ten seconds: `{ text, cut?, outputId? }`; and always
 * `{ running, exitCode?, signal?, by?, stillRunning? }`.
 */
export function outputTool(background: Pick<BackgroundCommands, 'find'>): Tool {
  const tool = readTool(outputDefinition, async ({ id, offset, limit = defaultLines }, context) => {
    const command = background.find(context.runId, id);
    if (command && offset === undefined) {
      await command.untilNews(context.signal);
      const standing = commandState(command); // before the text: what it wrote at its end is not missed
      const { text, dropped } = command.takeNews();
      return { ...standing, ...(await storedOutput(text, dropped, 'text', context)) };
    }
    const text = command ? command.text() : await context.keptOutput(id);
    if (text === undefined) throw new ToolError('ENOENT', `No call of this run gave an output with the id ${id}.`);
    return { ...(command && commandState(command)), ...linesFrom(text, offset ?? 1, limit) };
  });
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

/** As a model is told of it. */
export const commandState = ({ end }: Pick<GoingCommand, 'end'>) => {
  if (!end) return { running: true };
  const { by, outputId: _, ...how } = end;
  return { running: false, ...(by !== 'itself' && { by }), ...how };
};

const pieces = (line: string) =>
  Array.from({ length: Math.ceil(line.length / longestLine) }, (_, index) =>
    line.slice(index * longestLine, (index + 1) * longestLine),
  );
