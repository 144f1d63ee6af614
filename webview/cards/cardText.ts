import { currentLocale, localizedCount, t } from '../../src/protocol/text/l10n.ts';
import { formatShortDecimal } from '../time.ts';

export type CardLink = { kind: 'file'; path: string; line?: number } | { kind: 'address'; url: string };

/** Piece of a card line. `head` and `tail` are never shortened; `text` between them is shortened in narrow panels. `code`: editor font. */
export interface CardTextPiece {
  head?: string;
  text: string;
  tail?: string;
  code?: true;
  tone?: 'added' | 'removed';
  lead?: CardLink;
}

export const pieceText = ({ head = '', text, tail = '' }: CardTextPiece): string => head + text + tail;

export const toPlainTextPiece = (text: string): CardTextPiece => ({ text: '', tail: text });
export const codeTextPiece = (text: string): CardTextPiece => ({ text, code: true });

/** Lines of a file, first and last, from 1. */
export type LineRange = readonly [first: number, last: number];

export function filePathTextPiece(
  path: string,
  { lines, leads = true }: { lines?: LineRange; leads?: boolean } = {},
): CardTextPiece {
  const isFolder = /[/\\]$/.test(path.slice(-1));
  const end = isFolder ? path.length - 2 : path.length;
  const at = Math.max(path.lastIndexOf('/', end), path.lastIndexOf('\\', end)) + 1;
  const range = !lines ? '' : lines[0] === lines[1] ? `:${lines[0]}` : `:${lines[0]}-${lines[1]}`;
  return {
    text: path.slice(0, at),
    tail: path.slice(at) + range,
    code: true,
    ...(leads && { lead: { kind: 'file', path, ...(lines && { line: lines[0] }) } }),
  };
}

export function urlTextPiece(url: string): CardTextPiece {
  const lead = { kind: 'address', url } as const;
  const parts = /^https?:\/\/([^/?#]+)([^?#]*)/.exec(url);
  if (!parts) return { text: url, code: true };
  const [, host, path = ''] = parts;
  const at = path.replace(/\/$/, '').lastIndexOf('/');
  const last = path.slice(Math.max(0, at)).replace(/^\/$/, '');
  return {
    head: host,
    ...(last.length > 16 ? { text: path } : { text: path.slice(0, Math.max(0, at)), tail: last }),
    code: true,
    lead,
  };
}

export const changedLineCountPieces = (added: number, removed: number): CardTextPiece[] => [
  { text: '', tail: `+${formatLocalNumber(added)}`, tone: 'added' },
  { text: '', tail: `−${formatLocalNumber(removed)}`, tone: 'removed' },
];

export const formatLocalNumber = (number: number): string => number.toLocaleString(currentLocale());

export function formatByteCount(number: number): string {
  if (number < 1000) return t(localizedCount(number, 'byte'));
  if (number < 1_000_000) return t('{0} KB', Math.round(number / 1000));
  return t('{0} MB', formatShortDecimal(number / 1_000_000));
}

/** Splits `mcp.<server>.<tool>` and the editor's `vscode.<tool>` into readable labels. */
export function splitMcpToolName(name: string): { server: string; tool: string } | undefined {
  const lent = /^vscode\.(.+)$/s.exec(name)?.[1];
  if (lent !== undefined) return { server: t('editor'), tool: identifierToText(lent) };
  const [, server, tool] = /^mcp\.([^.]+)\.(.+)$/s.exec(name) ?? [];
  return server === undefined || tool === undefined
    ? undefined
    : { server: identifierToText(server), tool: identifierToText(tool) };
}

export const identifierToText = (name: string): string =>
  name
    .replace(/[_{}]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim() || t('a tool');
