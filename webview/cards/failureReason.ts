import type { ApprovalBasis } from '../../src/protocol/content/approvalBasis.ts';
import { approvalBasisMessages } from '../../src/protocol/content/basisMessages.ts';
import type { ErrorInfo } from '../../src/protocol/content/messages.ts';
import { approvalBasisOfFormerText, outcomeReasonOf } from '../../src/protocol/run/formerText.ts';
import type { CallState } from '../../src/protocol/run/run.ts';
import type { EditFailureReason, PathRefusalReason } from '../../src/protocol/text/codes.ts';
import {
  editFailureReasonTexts,
  errorCodeTexts,
  isErrorCode,
  pathRefusalReasonTexts,
} from '../../src/protocol/text/codeText.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import { shortenText } from '../../src/protocol/text/shorten.ts';
import { splitMcpToolName } from './cardText.ts';
import { toolInfinitive, toolTextFor } from './toolText.ts';

/** Returns the reason of a failed call as a text after a colon. Falls back to `code` if the message was lost. */
export function failedCallReason(name: string, code: string | undefined, error: ErrorInfo | undefined): string {
  const known = isErrorCode(code) ? code : 'TOOL_EXEC_FAILED';
  const { reason, lines } = Object(error?.details) as { reason?: unknown; lines?: unknown };
  switch (known) {
    case 'E_SANDBOX_VIOLATION':
      if (isOf(pathRefusalReasonTexts, reason)) return t(pathRefusalReasonTexts[reason as PathRefusalReason]);
      break;
    case 'E_PRECONDITION_FAILED':
      if (reason === 'EXISTS') return t(pathRefusalReasonTexts.EXISTS);
      if (reason === 'STILL_RUNNING') return t('the same command is already running');
      if (isOf(editFailureReasonTexts, reason))
        return t(editFailureReasonTexts[reason as EditFailureReason]) + nearest(lines, reason === 'ABSENT');
      return ownWords(error) ?? t(errorCodeTexts[known]);
    case 'TOOL_ARGS_INVALID':
      if (error && outcomeReasonOf(error) === 'PATTERN_INVALID') return t('the pattern is invalid');
      break;
    case 'ENOENT':
      return t(Object.hasOwn(absent, name) ? absent[name as keyof typeof absent] : errorCodeTexts.ENOENT);
    case 'TOOL_EXEC_FAILED':
    case 'TOOL_NOT_AVAILABLE':
      return ownWords(error) ?? t(errorCodeTexts[known]);
  }
  return t(errorCodeTexts[known]);
}

const absent = {
  'fs.list': 'the folder does not exist',
  'fs.delete': 'nothing has that name',
  'fs.move': 'nothing has that name',
  'shell.run': 'the folder does not exist',
  'shell.stop': 'this command does not exist',
  'output.read': 'the output does not exist',
} as const;

const isOf = (words: object, reason: unknown): boolean => typeof reason === 'string' && Object.hasOwn(words, reason);

function nearest(lines: unknown, isApart: boolean): string {
  if (!Array.isArray(lines) || lines.length === 0 || !lines.every((line) => typeof line === 'number')) return '';
  const [first, last] = [lines[0]!, lines.at(-1)!];
  if (first === last) return ` (${t(isApart ? 'nearest: line {0}' : 'line {0}', first)})`;
  return ` (${t(isApart ? 'nearest: lines {0}-{1}' : 'lines {0}-{1}', first, last)})`;
}

const longest = 160;

/** First sentence of the message if suitable for users: without tool names, codes and data. */
function ownWords(error: ErrorInfo | undefined): string | undefined {
  const line = (error?.message ?? '').trim().split('\n', 1)[0]!;
  const sentence = line.split(/(?<=[.!?])\s+(?=\p{Lu})/u, 1)[0]!.replace(/[.:]$/, '');
  if (sentence === '' || /[_{}<>`]|\b[A-Z]{2,}\d*[A-Z]{3,}\b|\b[a-z]+\.[a-z]+\b(?!\/)/.test(withoutQuoted(sentence)))
    return undefined;
  return shortenText(sentence, longest);
}

const withoutQuoted = (sentence: string) => sentence.replace(/"[^"]*"|“[^”]*”/g, '');

type Decided = Pick<CallState, 'automatic' | 'basis' | 'decision'>;

/** Describes the rules that decided; undefined for the preset or an earlier grant. */
export function decidingRulesText(state: Decided, decision: 'allow' | 'deny'): string | undefined {
  const { rules } = basisOf(state) ?? {};
  if (decision === 'allow') return rules && t('Allowed by {0}', namesOf(rules, deed));
  return t('Denied: {0}', rules ? namesOf(rules, deed) : (state.automatic ?? '').replace(/\.$/, ''));
}

/** Explains a decision without an approval request; unknown bases are in English. */
export function automaticDecisionText(state: Decided): string {
  const { automatic = '' } = state;
  const basis = basisOf(state);
  if (!basis) return automatic;
  const { by, rules, preset, grant } = basis;
  if (rules)
    return state.decision === 'deny'
      ? automatic
      : `${t(
          'Allowed by {0}',
          namesOf(rules, (rule) => rule),
        )}.`;
  if (grant !== undefined) return t('Allowed earlier in this run: {0}.', grant);
  const reason = preset ?? by;
  return isOf(approvalBasisMessages, reason)
    ? t(approvalBasisMessages[reason as keyof typeof approvalBasisMessages])
    : automatic;
}

const basisOf = ({ automatic, basis }: Decided): ApprovalBasis | undefined =>
  basis ?? (automatic === undefined ? undefined : approvalBasisOfFormerText(automatic));

const namesOf = (rules: NonNullable<ApprovalBasis['rules']>, name: (rule: string) => string): string =>
  rules
    .map(({ scope, what }) =>
      t(scope === 'workspace' ? 'your rule for this workspace “{0}”' : 'your rule “{0}”', name(what)),
    )
    .join(` ${t('and')} `);

/** Shortens `shell.run npm test` to `npm test`, `fs.edit src` to `edit src`. */
function deed(rule: string): string {
  const [, tool, rest = ''] = /^([a-z]+\.[^\s]+)(?: (.*))?$/s.exec(rule) ?? [];
  if (tool === undefined) return rule;
  if (tool === 'shell.run') return rest || t('run commands');
  const of = splitMcpToolName(tool);
  const words = of ? `${of.server}: ${of.tool === '*' ? t('all tools') : of.tool}` : kindOr(tool);
  return [words, rest].filter(Boolean).join(' ');
}

const kinds = {
  'fs.*': 'all about files',
  'shell.*': 'all commands',
  'code.*': 'all about code',
  'mcp.*': 'all tools of servers',
} as const;

const kindOr = (tool: string): string =>
  t(
    Object.hasOwn(kinds, tool)
      ? kinds[tool as keyof typeof kinds]
      : toolInfinitive(toolTextFor(tool), { name: tool, args: {}, data: {} }),
  );
