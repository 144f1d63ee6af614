import { createHash } from 'node:crypto';
import { quoteForMessage } from '../core/pathSyntax.ts';
import { type FileModeAndEncoding, ToolError } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { guessEncoding, isTextLike } from './encodingGuess.ts';
import { openForReading } from './openFile.ts';
import { errnoToToolError, type ResolvedPath } from './paths.ts';
import { workspacePathOfUri } from './virtual.ts';

export const maxTextFileBytes = 10 * 1024 * 1024;

type TextFileEncoding = 'utf8' | 'utf16le' | 'utf16be';

/**
 * Text without the byte order mark; encoding restores the same bytes unless `lossy` (some bytes became U+FFFD, so the text must not be
 * written back). `foreign`: an encoding that only the editor supports; undo stores the bytes.
 */
export interface DecodedText {
  text: string;
  encoding: TextFileEncoding;
  bom: boolean;
  lossy: boolean;
  foreign?: true;
}

/** Returns the text that the user sees: unsaved text of the editor, else the disk. Throws `E_READ_LIMIT` for other content. */
export async function readCurrentText(workspace: Workspace, file: ResolvedPath): Promise<DecodedText> {
  const content = await currentContent(workspace, file);
  if (Buffer.isBuffer(content)) throw binaryFileError(file, content);
  return content;
}

/** Returns the text like `readCurrentText`, or the bytes of other content. */
export async function currentContent(workspace: Workspace, file: ResolvedPath): Promise<DecodedText | Buffer> {
  const open = workspace.openText(file.path);
  if (open !== undefined) {
    // The editor normalizes line endings per file; the bytes have the original ones.
    const saved = workspace.isDirty(file.path) ? undefined : await readBytes(workspace, file).catch(() => undefined);
    const text = saved && (await workspace.decodeText?.(file.path, saved));
    if (text !== undefined) return { text, encoding: 'utf8', bom: false, lossy: false, foreign: true };
    return { text: open, encoding: 'utf8', bom: false, ...(await standingOf(open, workspace, file)) };
  }
  const bytes = await readBytes(workspace, file);
  const plain = decodeText(bytes);
  if (plain && !plain.lossy) return plain;
  const text = isTextLike(bytes) ? await workspace.decodeText?.(file.path, bytes) : undefined;
  if (text !== undefined) return { text, encoding: 'utf8', bom: false, lossy: false, foreign: true };
  return plain ?? bytes;
}

export function binaryFileError(file: ResolvedPath, bytes: Buffer): ToolError {
  const like = guessEncoding(bytes);
  const what = like === undefined ? 'a binary file.' : `not UTF-8 text (it looks like ${like}). ${encodingSettingHint}`;
  const reason = like === undefined ? 'BINARY' : 'ENCODING';
  return new ToolError('E_READ_LIMIT', `${quoteForMessage(file.relative)} is ${what}`, { reason });
}

export const encodingSettingHint = 'It can be read when `files.encoding` of the editor names its encoding.';

/** Returns the guessed encoding of a lossy file as a suffix for a message, else ''. */
export async function guessedEncodingSuffix(workspace: Workspace, file: ResolvedPath): Promise<string> {
  const like = guessEncoding(await readBytes(workspace, file).catch(() => Buffer.alloc(0)));
  return like === undefined ? '' : ` (it looks like ${like})`;
}

// Compares the editor's text with the disk: the editor may also have decoded with losses, and saving would make these permanent.
async function standingOf(
  open: string,
  workspace: Workspace,
  file: ResolvedPath,
): Promise<Pick<DecodedText, 'lossy' | 'foreign'>> {
  if (file.kind === 'missing') return { lossy: false };
  const bytes = await readBytes(workspace, file).catch(() => undefined);
  const plain = bytes && decodeText(bytes);
  if (!bytes || (plain && !plain.lossy)) return { lossy: false, ...(plain?.foreign && { foreign: true }) };
  return { lossy: open.includes('\ufffd'), foreign: true };
}

async function readBytes({ virtual }: Workspace, file: ResolvedPath): Promise<Buffer> {
  if (virtual && workspacePathOfUri(virtual, file.path) !== undefined) {
    checkSize(file, file.size);
    const bytes = Buffer.from(await virtual.read(file.path));
    checkSize(file, bytes.length);
    return bytes;
  }
  const { handle, stats } = await openForReading(file);
  try {
    checkSize(file, stats.size);
    return await readAll(handle, stats.size);
  } catch (error) {
    throw error instanceof ToolError ? error : errnoToToolError(error, file.relative);
  } finally {
    await handle.close();
  }
}

function checkSize(file: ResolvedPath, bytes: number): void {
  if (bytes <= maxTextFileBytes) return;
  const size = `${Math.round(bytes / 1024 / 1024)} MiB`;
  const hint = 'The limit is 10 MiB. Use fs.search to find the lines you need.';
  throw new ToolError('E_READ_LIMIT', `${quoteForMessage(file.relative)} is too large (${size}). ${hint}`, {
    reason: 'TOO_LARGE',
  });
}

export async function readFileModeAndEncoding(file: ResolvedPath): Promise<FileModeAndEncoding> {
  const { handle, stats } = await openForReading(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(3), 0, 3, 0);
    return modeAndEncodingOfBytes(buffer.subarray(0, bytesRead), stats.mode);
  } finally {
    await handle.close();
  }
}

export function modeAndEncodingOfBytes(bytes: Buffer, mode: number): FileModeAndEncoding {
  const { encoding, bom } = decodeText(bytes.subarray(0, 3)) ?? { encoding: 'utf8' as const, bom: false };
  return { mode: mode & 0o777, ...(bom && { encoding: encoding === 'utf8' ? 'utf8bom' : encoding }) };
}

export function encodeForFile(text: string, { encoding }: FileModeAndEncoding): Buffer {
  const plain = encoding === undefined || encoding === 'utf8bom' ? 'utf8' : encoding;
  return encodeText({ text, encoding: plain, bom: encoding !== undefined });
}

// Reads at most the checked size, even if the file grows.
async function readAll(handle: { read: ReadInto }, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await handle.read(bytes, filled, size - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}
type ReadInto = (buffer: Buffer, offset: number, length: number, position: number) => Promise<{ bytesRead: number }>;

/** Returns undefined for binary data, or encodings other than UTF-8 and UTF-16. */
export function decodeText(bytes: Buffer): DecodedText | undefined {
  if (bytes.length >= 2 && bytes[0] === 0xff && bytes[1] === 0xfe)
    return { text: bytes.toString('utf16le', 2), encoding: 'utf16le', bom: true, lossy: bytes.length % 2 === 1 };
  if (bytes.length >= 2 && bytes[0] === 0xfe && bytes[1] === 0xff) {
    const even = Buffer.from(bytes.subarray(2, bytes.length - (bytes.length % 2))).swap16();
    return { text: even.toString('utf16le'), encoding: 'utf16be', bom: true, lossy: bytes.length % 2 === 1 };
  }
  if (bytes.includes(0)) return unmarkedUtf16(bytes);
  const bom = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const text = bytes.toString('utf8', bom ? 3 : 0);
  const lossy = text.includes('\ufffd') && !Buffer.from(text).equals(bytes.subarray(bom ? 3 : 0));
  if (lossy && text.split('\ufffd').length - 1 > text.length / 10) return undefined;
  return { text, encoding: 'utf8', bom, lossy };
}

// Detects UTF-16 without a mark: zeros of ASCII occur on one side of the pairs only, and no character is invalid in text.
function unmarkedUtf16(bytes: Buffer): DecodedText | undefined {
  if (bytes.length % 2 === 1) return undefined;
  const zeros = [0, 0];
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === 0) zeros[at % 2]! += 1;
  const encoding = zeros[0] === 0 ? 'utf16le' : zeros[1] === 0 ? 'utf16be' : undefined;
  if (!encoding || Math.max(...zeros) < bytes.length / 8) return undefined;
  const text = (encoding === 'utf16le' ? bytes : Buffer.from(bytes).swap16()).toString('utf16le');
  const isText = !/[\p{Cs}\p{Cn}\p{Co}]|(?![\t\n\f\r])\p{Cc}/u.test(text);
  return isText ? { text, encoding, bom: false, lossy: false, foreign: true } : undefined;
}

export function encodeText({ text, encoding, bom }: Omit<DecodedText, 'lossy'>): Buffer {
  const whole = bom ? `\ufeff${text}` : text;
  if (encoding === 'utf8') return Buffer.from(whole, 'utf8');
  const bytes = Buffer.from(whole, 'utf16le');
  return encoding === 'utf16be' ? bytes.swap16() : bytes;
}

/** Hashes the text instead of the bytes: equal for saved and unsaved text, with and without a byte order mark. */
export const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');

/** Returns lines without endings; a final line ending adds no line. */
export function linesWithoutEndings(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
