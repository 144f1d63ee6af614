import { type Mention, type MentionRecord, toMentionNotes } from '../../protocol/content/mention.ts';
import type { Attachment } from '../../protocol/content/messages.ts';
import { localizedCount, message, toEnglishText } from '../../protocol/text/l10n.ts';
import {
  joinLocalizableTexts,
  type LocalizableText,
  messageOf,
  UserFacingError,
} from '../../protocol/text/localized.ts';
import { editorContextTool } from '../code/context.ts';
import { diagnosticsTool } from '../code/diagnostics.ts';
import { ResultWithImages } from '../core/imageFiles.ts';
import { quoteForMessage } from '../core/pathSyntax.ts';
import { ToolError } from '../core/tool.ts';
import { fsReadTool } from '../files/read.ts';
import { readMentionedFolder } from './folder.ts';
import {
  type MentionContext,
  type MentionedFileText,
  type ResolvedMention,
  runAllowedReadTool,
  truncateToWholeLines,
  wrapInCodeFence,
} from './mentionLimits.ts';
import { readMentionedLines, readMentionedProblem } from './mentionLocations.ts';

const least = 200;

/**
 * Reads the mentions of a message as attachments within `most` characters, with the checks of the tools: inside of the open folders, no
 * secrets, no files denied or protected by rules; the model can request these. Failures are reported to the user and to the model. Never
 * throws.
 */
export async function readMentions(
  mentions: readonly Mention[],
  most: number,
  reading: MentionContext,
): Promise<Attachment[]> {
  let left = most;
  const files: Attachment[] = [];
  for (const mention of mentions) {
    const read = await readOne(mention, left, reading);
    left -= read.reduce((sum, { mediaType, data }) => sum + (mediaType === textType ? data.length * 0.75 : 0), 0);
    files.push(...read);
  }
  return files;
}

const textType = 'text/plain';

const readers = {
  folder: readMentionedFolder,
  selection,
  problems,
  changes,
  lines: readMentionedLines,
  problem: readMentionedProblem,
  change,
  test,
  terminal,
};

async function readOne(mention: Mention, left: number, reading: MentionContext): Promise<Attachment[]> {
  try {
    reading.signal.throwIfAborted();
    if (left < least) throw new UserFacingError(message('The mentions of this message are larger than it can carry.'));
    if (mention.kind === 'file') {
      const given = await readFile(mention.path, left, reading);
      if (given instanceof ResultWithImages) return given.images.map((image) => ({ ...image }));
      return [asFile(mention.kind, given)];
    }
    return [asFile(mention.kind, await readers[mention.kind](mention as never, left, reading))];
  } catch (error) {
    const why = reading.signal.aborted ? message('It took too long.') : messageOf(error);
    const name = 'path' in mention && mention.path ? mention.path : mention.kind;
    const text = `(Not read with this message: ${toEnglishText(why)} If it matters, use the tools; the person is asked where that is needed.)`;
    const path = 'path' in mention && mention.path && { path: mention.path };
    return [
      asFile(mention.kind, {
        name,
        text,
        mention: { ...path, ...toMentionNotes({ note: message('not read'), why }), unread: true },
      }),
    ];
  }
}

const asFile = (kind: MentionRecord['kind'], { name, text, mention }: ResolvedMention): Attachment => ({
  mediaType: textType,
  data: Buffer.from(text).toString('base64'),
  name,
  mention: { kind, ...mention },
});

async function readFile(
  path: string,
  left: number,
  reading: MentionContext,
): Promise<ResolvedMention | ResultWithImages> {
  const given = await runAllowedReadTool(fsReadTool, { path }, reading);
  if (given instanceof ResultWithImages) return given;
  const { text, endLine, totalLines, note, path: name } = given as MentionedFileText;
  const { short, lines } = truncateToWholeLines(text, left, endLine);
  const isCut = lines < totalLines;
  const part = isCut && `Lines 1-${lines} of ${totalLines}; fs.read reads on.`;
  return {
    name,
    text: [wrapInCodeFence(short), ...[part, note].filter(Boolean).map((one) => `(${one})`)].join('\n'),
    mention: {
      path: name,
      ...(isCut &&
        toMentionNotes({
          note: message('lines {0}-{1} of {2}', 1, lines, totalLines),
          why: message('The rest of {0} is not read.', quoteForMessage(name)),
        })),
    },
  };
}

async function selection(_: unknown, left: number, reading: MentionContext): Promise<ResolvedMention> {
  const { active } = (await runAllowedReadTool(editorContextTool(reading.language), {}, reading)) as ContextGiven;
  const { path = '', selection: selected, outside, secret } = active ?? {};
  if (outside) throw new UserFacingError(message('The selection is in no file of the open folders.'));
  if (secret)
    throw new ToolError('TOOL_DENIED', `${quoteForMessage(path)} may hold secrets, or is kept by a rule of yours.`);
  if (!selected) throw new UserFacingError(message('Nothing is selected in the editor.'));
  const { short } = truncateToWholeLines(selected.text, left, selected.endLine);
  const isCut = selected.cut || short.length < selected.text.length;
  return {
    name: `${path}:${selected.startLine}-${selected.endLine}`,
    text: `${wrapInCodeFence(short)}${isCut ? '\n(The rest of what is selected did not fit.)' : ''}`,
    mention: {
      path,
      line: selected.startLine,
      ...(isCut && toMentionNotes({ note: message('its start'), why: message('The rest did not fit.') })),
    },
  };
}

interface ContextGiven {
  active?: {
    path: string;
    outside?: true;
    secret?: true;
    selection?: { startLine: number; endLine: number; text: string; cut?: true };
  };
}

async function problems(_: unknown, left: number, reading: MentionContext): Promise<ResolvedMention> {
  const given = (await runAllowedReadTool(diagnosticsTool(reading.language), {}, reading)) as ProblemsGiven;
  const { errors, warnings, files, cut } = given;
  const text = files.map(({ path, lines }) => [`${path}:`, ...lines.map((line) => `  ${line}`)].join('\n')).join('\n');
  const { short } = truncateToWholeLines(text, left, 0);
  const isCut = cut !== undefined || short.length < text.length;
  const none = files.length === 0;
  return {
    name: 'problems',
    text: none
      ? '(The editor knows of no problems.)'
      : `${wrapInCodeFence(short)}${isCut ? '\n(There are more: code.diagnostics.)' : ''}`,
    mention: toMentionNotes({
      note: none ? message('none') : problemCount(errors, warnings),
      ...(isCut && { why: message('Not all of them fit.') }),
    }),
  };
}

const problemCount = (errors: number, warnings: number): LocalizableText =>
  joinLocalizableTexts([localizedCount(errors, 'error'), localizedCount(warnings, 'warning')], ', ');

interface ProblemsGiven {
  errors: number;
  warnings: number;
  files: { path: string; lines: string[] }[];
  cut?: string;
}

async function changes(_: unknown, left: number, { changes, signal }: MentionContext): Promise<ResolvedMention> {
  const { text, ...notes } = await changes(left, signal);
  return { name: 'changes', text: wrapInCodeFence(text), mention: toMentionNotes(notes) };
}

async function change(
  { path }: { path: string },
  left: number,
  { changes, signal }: MentionContext,
): Promise<ResolvedMention> {
  const { text, why } = await changes(left, signal, path);
  return {
    name: `change of ${path}`,
    text: wrapInCodeFence(text),
    mention: { path, ...toMentionNotes({ ...(why && { why }) }) },
  };
}

async function test(
  { name, text, path, line }: { name: string; text: string; path?: string; line?: number },
  left: number,
): Promise<ResolvedMention> {
  const where = path === undefined ? '' : `In ${path}${line === undefined ? '' : `:${line}`}.\n`;
  return fromText(`failed test: ${name}`, text, left, where, path === undefined ? {} : { path, ...(line && { line }) });
}

async function terminal(
  { name, text }: { name?: string; text?: string },
  left: number,
  reading: MentionContext,
): Promise<ResolvedMention> {
  const given = text === undefined ? await reading.terminal() : { name, text };
  return fromText(`terminal${given.name ? `: ${given.name}` : ''}`, given.text, left);
}

// Truncates at the start: the end of program output matters most.
function fromText(
  name: string,
  text: string,
  left: number,
  before = '',
  mention: ResolvedMention['mention'] = {},
): ResolvedMention {
  const isCut = text.length > left;
  const short = isCut ? text.slice(text.length - left).replace(/^[^\n]*\n/, '') : text;
  const empty = text.trim() === '';
  return {
    name,
    text: `${before}${empty ? '(It wrote nothing.)' : wrapInCodeFence(short)}${isCut ? '\n(Its beginning did not fit.)' : ''}`,
    mention: {
      ...mention,
      ...(isCut && toMentionNotes({ note: message('its end'), why: message('Its start did not fit.') })),
    },
  };
}
