import { toMentionNotes } from '../../protocol/content/mention.ts';
import { message } from '../../protocol/text/l10n.ts';
import { ResultWithImages } from '../core/imageFiles.ts';
import { ToolError } from '../core/tool.ts';
import { fsReadTool } from '../files/read.ts';
import { resolvePathForReading } from '../sandbox/resolveReadPath.ts';
import {
  type MentionContext,
  type MentionedFileText,
  type ResolvedMention,
  runAllowedReadTool,
  truncateToWholeLines,
  wrapInCodeFence,
} from './mentionLimits.ts';

const around = 5;
const maxLines = 5000;

export async function readMentionedLines(
  { path, from, to }: { path: string; from: number; to: number },
  left: number,
  reading: MentionContext,
): Promise<ResolvedMention> {
  const given = await linesOf(path, from, to, reading);
  const { short, lines } = truncateToWholeLines(given.text, left, given.endLine - from + 1);
  const last = Math.max(from, from + lines - 1);
  const isCut = last < Math.min(to, given.totalLines);
  return {
    name: locationText(given.path, from, last),
    text: `${wrapInCodeFence(short)}${isCut ? `\n(Lines ${from}-${last} of ${from}-${to}; fs.read reads on.)` : ''}`,
    mention: {
      path: given.path,
      line: from,
      ...(isCut &&
        toMentionNotes({
          note: message('lines {0}-{1}', from, last),
          why: message('Mentions up to line {0} did not fit.', to),
        })),
    },
  };
}

export async function readMentionedProblem(
  { path, line }: { path: string; line: number },
  left: number,
  reading: MentionContext,
): Promise<ResolvedMention> {
  const from = Math.max(1, line - around);
  const given = await linesOf(path, from, line + around, reading);
  const file = await resolvePathForReading(reading.workspace, path, 'read');
  const here = (await reading.language.diagnostics(file.path)).filter((one) => one.line === line);
  const lines = here.map(
    ({ severity, message: problemText, source }) =>
      `${severity}: ${problemText.replace(/\s*\n\s*/g, ' ')}${source ? ` (${source})` : ''}`,
  );
  const { short } = truncateToWholeLines(given.text, Math.max(0, left - lines.join('\n').length), given.endLine);
  const problem =
    lines.length > 0 ? wrapInCodeFence(lines.join('\n')) : '(The editor knows of no problem in this line any more.)';
  return {
    name: `${given.path}:${line}`,
    text: `${problem}\nLines ${from}-${given.endLine}:\n${wrapInCodeFence(short)}`,
    mention: {
      path: given.path,
      line,
      ...toMentionNotes({ note: here[0] ? message(here[0].severity) : message('no longer a problem') }),
    },
  };
}

async function linesOf(path: string, from: number, to: number, reading: MentionContext): Promise<MentionedFileText> {
  const limit = Math.min(maxLines, to - from + 1);
  const given = await runAllowedReadTool(fsReadTool, { path, offset: from, limit }, reading);
  if (given instanceof ResultWithImages) throw new ToolError('E_PRECONDITION_FAILED', 'A picture has no lines.');
  return given as MentionedFileText;
}

const locationText = (path: string, from: number, to: number): string => `${path}:${from}${to > from ? `-${to}` : ''}`;
