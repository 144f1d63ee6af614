import { countInvisibleCharacters } from '../../protocol/text/escapeInvisible.ts';
import { englishCount } from '../../protocol/text/plurals.ts';
import { imageTooLargeReason, imageType, maxImageBytes, ResultWithImages } from '../core/imageFiles.ts';
import { defaultReadLineCount, lineWindow } from '../core/lineWindow.ts';
import { quoteForMessage } from '../core/pathSyntax.ts';
import { createReadOnlyTool, type ToolContext, ToolError } from '../core/tool.ts';
import { fsReadDefinition } from '../definitions/fileTools.ts';
import { formatNotebook, isNotebook, parseNotebook } from '../notebook/notebook.ts';
import {
  binaryFileError,
  currentContent,
  guessedEncodingSuffix,
  linesWithoutEndings,
  sha256,
} from '../sandbox/fileText.ts';
import type { ResolvedPath } from '../sandbox/paths.ts';
import { resolvePathForReading } from '../sandbox/resolveReadPath.ts';
import { planReadApproval } from '../search/askToRead.ts';

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
export const fsReadTool = createReadOnlyTool(fsReadDefinition, read, (args, context) =>
  planReadApproval(args.path, 'read', context, (context) => read(args, context)),
);

async function read({ path, offset = 1, limit = defaultReadLineCount }: ReadArguments, { workspace }: ToolContext) {
  const file = await resolvePathForReading(workspace, path, 'read');
  const content = await currentContent(workspace, file);
  if (Buffer.isBuffer(content)) return picture(file, content);
  const { text, lossy } = content;
  const notebook = isNotebook(file.relative) ? parseNotebook(text) : '';
  const isCells = typeof notebook !== 'string';
  const lines = linesWithoutEndings(isCells ? formatNotebook(notebook) : text);
  if (offset > Math.max(1, lines.length))
    throw new ToolError(
      'TOOL_ARGS_INVALID',
      `offset ${offset} is past the end: the file has ${englishCount(lines.length, 'line')}.`,
    );

  const { cut, ...window } = lineWindow(lines, offset, limit);
  const isUnsaved = workspace.isDirty(file.path);
  const isShown = workspace.openText(file.path) !== undefined;
  const hidden = countInvisibleCharacters(window.text);
  const notes = [
    isCells && `A notebook of ${englishCount(notebook.cells.length, 'cell')}: edit one by fs.edit with \`cell\`.`,
    isUnsaved && !isShown && 'The editor holds changes that are not saved, and they are not in this.',
    lossy && `Some bytes are not UTF-8${await guessedEncodingSuffix(workspace, file)} and are shown as \ufffd.`,
    hidden > 0 && `${englishCount(hidden, 'invisible character')} in these lines: a person does not see what they say.`,
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

function picture(file: ResolvedPath, bytes: Buffer): ResultWithImages {
  const mediaType = imageType(bytes);
  if (!mediaType) throw binaryFileError(file, bytes);
  if (bytes.length > maxImageBytes)
    throw new ToolError('E_READ_LIMIT', `${quoteForMessage(file.relative)} is a picture: ${imageTooLargeReason}`, {
      reason: 'TOO_LARGE',
    });
  const image = { mediaType, data: bytes.toString('base64'), name: file.relative };
  return new ResultWithImages({ path: file.relative, image: mediaType, bytes: bytes.length }, [image]);
}
