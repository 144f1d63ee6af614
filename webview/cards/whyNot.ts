import type { EditReason, RefusalReason } from '../../src/protocol/codes.ts';
import { codeWords, editWords, isCode, refusalWords } from '../../src/protocol/codeWords.ts';
import type { ErrorInfo } from '../../src/protocol/messages.ts';
import { wordsFor } from './toolWords.ts';
import { ofServer } from './words.ts';

/** Why a call did not do what it was for, in words that stand behind a colon. `code` counts where what it said was lost. */
export function whyNot(name: string, code: string | undefined, error: ErrorInfo | undefined): string {
  const known = isCode(code) ? code : 'TOOL_EXEC_FAILED';
  const { reason, lines } = Object(error?.details) as { reason?: unknown; lines?: unknown };
  switch (known) {
    case 'E_SANDBOX_VIOLATION':
      if (isOf(refusalWords, reason)) return refusalWords[reason as RefusalReason];
      break;
    case 'E_PRECONDITION_FAILED':
      if (reason === 'EXISTS') return refusalWords.EXISTS;
      if (reason === 'STILL_RUNNING') return 'the same command is at work already';
      if (isOf(editWords, reason))
        return editWords[reason as EditReason] + nearest(lines, reason === 'ABSENT' ? 'nearest: ' : '');
      return ownWords(error) ?? codeWords[known];
    case 'TOOL_ARGS_INVALID':
      if (/pattern/.test(error?.message ?? '') && name === 'fs.search') return 'the pattern is not valid';
      break;
    case 'ENOENT':
      return absent[name] ?? codeWords.ENOENT;
    case 'TOOL_EXEC_FAILED':
    case 'TOOL_NOT_AVAILABLE':
      return ownWords(error) ?? codeWords[known];
  }
  return codeWords[known];
}

const absent: Record<string, string> = {
  'fs.list': 'there is no such folder',
  'fs.delete': 'there is nothing of that name',
  'fs.move': 'there is nothing of that name',
  'shell.run': 'there is no such folder',
  'shell.stop': 'there is no such command',
  'output.read': 'there is no such output',
};

const isOf = (words: object, reason: unknown): boolean => typeof reason === 'string' && Object.hasOwn(words, reason);

function nearest(lines: unknown, before: string): string {
  if (!Array.isArray(lines) || lines.length === 0 || !lines.every((line) => typeof line === 'number')) return '';
  const [first, last] = [lines[0], lines.at(-1)];
  return first === last ? ` (${before}line ${first})` : ` (${before}lines ${first}-${last})`;
}

const longest = 160;

/** Its first sentence, where that is one for people: without names of tools, codes and data. */
function ownWords(error: ErrorInfo | undefined): string | undefined {
  const line = (error?.message ?? '').trim().split('\n', 1)[0]!;
  const sentence = line.split(/(?<=[.!?])\s+(?=\p{Lu})/u, 1)[0]!.replace(/[.:]$/, '');
  if (sentence === '' || /[_{}<>`]|\b[A-Z]{2,}\d*[A-Z]{3,}\b|\b[a-z]+\.[a-z]+\b(?!\/)/.test(withoutQuoted(sentence)))
    return undefined;
  if (sentence.length <= longest) return sentence;
  return `${sentence.slice(0, longest).replace(/[\ud800-\udbff]$/, '')}…`;
}

const withoutQuoted = (sentence: string) => sentence.replace(/"[^"]*"|“[^”]*”/g, '');

/**
 * What a rule or a preset decided, in words for people: the tools that it names are what they do. Undefined where it goes without
 * saying: what is free by the preset, or was allowed before.
 */
export function ruleWords(automatic: string, decision: 'allow' | 'deny'): string | undefined {
  const reason = automatic.replace(/\.$/, '').replace(/“([^”]*)”/g, (_, rule: string) => `“${deed(rule)}”`);
  if (decision === 'deny') return `Refused: ${reason.replace(/^Denied by /, '')}`;
  return reason.startsWith('Allowed by ') ? reason : undefined;
}

/** `shell.run npm test` as `npm test`, `fs.edit src` as `edit src`. */
function deed(rule: string): string {
  const [, tool, rest = ''] = /^([a-z]+\.[^\s]+)(?: (.*))?$/s.exec(rule) ?? [];
  if (tool === undefined) return rule;
  if (tool === 'shell.run') return rest || 'run commands';
  const of = ofServer(tool);
  const words = of ? `${of.server}: ${of.tool === '*' ? 'all tools' : of.tool}` : (kinds[tool] ?? verb(tool));
  return [words, rest].filter(Boolean).join(' ');
}

const kinds: Record<string, string> = {
  'fs.*': 'all about files',
  'shell.*': 'all commands',
  'code.*': 'all about code',
  'mcp.*': 'all tools of servers',
};

function verb(tool: string): string {
  const { not } = wordsFor(tool);
  return typeof not === 'string' ? not : not({ name: tool, args: {}, data: {} });
}
