import { hiddenCount } from '../../protocol/text/escapeInvisible.ts';
import { counted } from '../../protocol/text/plurals.ts';
import { imageTooLarge, imageType, maxImageBytes, WithImages } from '../core/imageFiles.ts';
import { defaultLines, lineWindow } from '../core/lineWindow.ts';
import { quoted } from '../core/pathSyntax.ts';
import { readTool, type ToolContext, ToolError } from '../core/tool.ts';
import { readDefinition } from '../definitions/fileTools.ts';
import { isNotebook, notebookOf, shownNotebook } from '../notebook/notebook.ts';
import { currentContent, isBinary, likeWhat, linesOf, sha256 } from '../sandbox/fileText.ts';
import type { ResolvedPath } from '../sandbox/paths.ts';
import { resolveToRead } from '../sandbox/resolveReadPath.ts';
import { askToRead } from '../search/askToRead.ts';

interface ReadArguments {
  path: string;
  offset?: number;
  limit?: number;
}

/**
 * `fs.read`: a range of lines. Data: `{ path, text, startLine, endLine, totalLines, sha256, unsaved?, note?, cut? }`. `text` holds the
 * lines joined by `\n` without numbers, usable in `fs.edit`; lines count from 1. An image returns `{ path, image, bytes }` with the image
 * attached.
 */
export const fileReadTool = readTool(readDefinition, read, (args, context) =>
  askToRead(args.path, 'read', context, (context) => read(args, context)),
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
    lossy && `Some bytes are not UTF-8${await likeWhat(workspace, file)} and are shown as \ufffd.`,
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
  if (!mediaType) throw isBinary(file, bytes);
  if (bytes.length > maxImageBytes)
    throw new ToolError('E_READ_LIMIT', `${quoted(file.relative)} is a picture: ${imageTooLarge}`, {
      reason: 'TOO_LARGE',
    });
  const image = { mediaType, data: bytes.toString('base64'), name: file.relative };
  return new WithImages({ path: file.relative, image: mediaType, bytes: bytes.length }, [image]);
}
