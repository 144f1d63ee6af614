import { englishCount } from '../../protocol/text/plurals.ts';
import { defaultReadLineCount, lineWindow } from '../core/lineWindow.ts';
import { storeLongOutput } from '../core/storedOutput.ts';
import { createReadOnlyTool, type Tool, ToolError } from '../core/tool.ts';
import { outputReadDefinition } from '../definitions/commandTools.ts';
import { linesWithoutEndings } from '../sandbox/fileText.ts';
import type { BackgroundCommands } from './background.ts';
import type { RunningCommand } from './backgroundCommand.ts';

// Maximum characters of a line; longer lines are split to be readable in parts.
const longestLine = 4000;

/**
 * `output.read`: lines of a stored output of this run, or of a background command. Data: `{ text, startLine, endLine, totalLines, cut? }`;
 * longer lines are split every 4,000 characters. A command without `offset` returns new output after a wait of up to ten seconds: `{ text,
 * cut?, outputId? }`; always with `{ running, exitCode?, signal?, by?, stillRunning? }`.
 */
export function outputReadTool(background: Pick<BackgroundCommands, 'find'>): Tool {
  const tool = createReadOnlyTool(
    outputReadDefinition,
    async ({ id, offset, limit = defaultReadLineCount }, context) => {
      const command = background.find(context.runId, id);
      if (command && offset === undefined) {
        await command.untilNews(context.signal);
        const standing = commandState(command); // before the text, so that the final output is not missed
        const { text, dropped } = command.takeNews();
        return { ...standing, ...(await storeLongOutput(text, dropped, 'text', context)) };
      }
      const text = command ? command.text() : await context.storedOutput(id);
      if (text === undefined) throw new ToolError('ENOENT', `No call of this run gave an output with the id ${id}.`);
      return { ...(command && commandState(command)), ...linesFrom(text, offset ?? 1, limit) };
    },
  );
  return { ...tool, ofRun: true };
}

function linesFrom(text: string, offset: number, limit: number) {
  const lines = linesWithoutEndings(text).flatMap((line) => (line.length > longestLine ? pieces(line) : [line]));
  if (offset > Math.max(1, lines.length))
    throw new ToolError(
      'TOOL_ARGS_INVALID',
      `offset ${offset} is past the end: it has ${englishCount(lines.length, 'line')}.`,
    );
  return lineWindow(lines, offset, limit);
}

export const commandState = ({ end }: Pick<RunningCommand, 'end'>) => {
  if (!end) return { running: true };
  const { by, outputId: _, ...details } = end;
  return { running: false, ...(by !== 'itself' && { by }), ...details };
};

const pieces = (line: string) =>
  Array.from({ length: Math.ceil(line.length / longestLine) }, (_, index) =>
    line.slice(index * longestLine, (index + 1) * longestLine),
  );
