import * as z from 'zod';
import { counted } from '../../protocol/counted.ts';
import { hiddenCount } from '../../protocol/visible.ts';
import { resolveToRead } from '../gate/anywhere.ts';
import type { ResolvedPath } from '../gate/paths.ts';
import { quoted } from '../gate/spelling.ts';
import { imageType, mostBytes, tooLarge, WithImages } from '../images.ts';
import { isNotebook, notebookOf, shownNotebook } from '../notebook/notebook.ts';
import { readTool, type ToolContext, ToolError } from '../tool.ts';
import { defaultLines, lineWindow } from '../window.ts';
import { askToRead } from './ask.ts';
import { currentContent, isBinary, linesOf, sha256 } from './text.ts';

interface ReadArguments {
  path: string;
  offset?: number;
  limit?: number;
}

/**
 * `fs.read`: a window of lines. Data: `{ path, text, startLine, endLine, totalLines, sha256, unsaved?, note?, cut? }`; `text` is the
 * file's own lines joined by `\n`, without numbers, so that it can be given back to `fs.edit`; lines count from 1.
 * Of a picture: `{ path, image, bytes }`, the picture beside it.
 */
export const fileReadTool = readTool(
  {
    name: 'fs.read',
    description: 'Read a text file (limit: 1000 lines) with its sha256, or an image.',
    arguments: {
      path: z.string().meta({ help: 'The file.' }),
      offset: z.int().min(1).max(1e9).optional().meta({ help: 'The first line, from 1.' }),
      limit: z.int().min(1).max(5000).optional().meta({ help: 'How many lines: 1000 without it.' }),
    },
    gives: {
      path: z.string().describe('The file.'),
      text: z.string().optional().describe('Its lines; of a picture there is none.'),
      startLine: z.number().optional().describe('The first line of `text`, from 1.'),
      endLine: z.number().optional().describe('The last line of `text`.'),
      totalLines: z
        .number()
        .optional()
        .describe('How many the file has. More than `endLine`: `text` is not all of it.'),
      sha256: z.string().optional().describe('Of the whole file, for `ifMatchSha256`.'),
      unsaved: z.literal(true).optional().describe('The editor holds changes that are not saved; `text` has them.'),
      note: z
        .string()
        .optional()
        .describe('When some bytes are no text, characters are invisible, or the file is a notebook.'),
      image: z.string().optional().describe('The type of a picture: `image/png`.'),
      bytes: z.number().optional().describe('The size of a picture.'),
      leftOut: z.array(z.string()).optional().describe('Why a picture is not shown.'),
    },
  },
  read,
  (args, context) => askToRead(args.path, 'read', context, (context) => read(args, context)),
);

async function read({ path, offset = 1, limit = defaultLines }: ReadArguments, { workspace }: ToolContext) {
  const file = await resolveToRead(workspace, path, 'read');
  const content = await currentContent(workspace, file);
  if (Buffer.isBuffer(content)) return picture(file, content);
  const { text, lossy } = content;
  const notebook = isNotebook(file.relative) ? notebookOf(text) : '';
  const isCells = typeof notebook !== 'string';
  const lines = linesOf(isCells ? shownNotebook(notebook) : text);
  if (offset > Math.max(1, lines.length))
    throw new ToolError(
      'TOOL_ARGS_INVALID',
      `offset ${offset} is past the end: the file has ${counted(lines.length, 'line')}.`,
    );

  const { cut, ...window } = lineWindow(lines, offset, limit);
  const isUnsaved = workspace.isDirty(file.path);
  const isShown = workspace.openText(file.path) !== undefined;
  const hidden = hiddenCount(window.text);
  const notes = [
    isCells && `A notebook of ${counted(notebook.cells.length, 'cell')}: edit one by fs.edit with \`cell\`.`,
    isUnsaved && !isShown && 'The editor holds changes that are not saved, and they are not in this.',
    lossy && 'Some bytes are neither UTF-8 nor UTF-16 and are shown as \ufffd.',
    hidden > 0 && `${counted(hidden, 'invisible character')} in these lines: a person does not see what they say.`,
  ].filter(Boolean);
  return {
    path: file.relative,
    ...window,
    sha256: sha256(text),
    ...(isUnsaved && isShown && { unsaved: true as const }),
    ...(notes.length > 0 && { note: notes.join(' ') }),
    ...(cut && { cut }),
  };
}

function picture(file: ResolvedPath, bytes: Buffer): WithImages {
  const mediaType = imageType(bytes);
  if (!mediaType) throw isBinary(file);
  if (bytes.length > mostBytes)
    throw new ToolError('E_READ_LIMIT', `${quoted(file.relative)} is a picture: ${tooLarge}`, { reason: 'TOO_LARGE' });
  const image = { mediaType, data: bytes.toString('base64'), name: file.relative };
  return new WithImages({ path: file.relative, image: mediaType, bytes: bytes.length }, [image]);
}
