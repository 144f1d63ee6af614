import type { ComposerCompletion } from '../../protocol/content/mention.ts';
import { maxCompletions } from '../../protocol/content/mentionText.ts';
import { localizedCount, t } from '../../protocol/text/l10n.ts';
import { matchScore, minContiguousMatchScore } from '../../tools/mention/match.ts';

type Named = Extract<ComposerCompletion, { mention: unknown }>;

export interface CompletionSources {
  open: readonly {
    path: string;
    active: boolean;
    selection?: { startLine: number; endLine: number; text: string } | undefined;
  }[];
  errors: number;
  warnings: number;
  git: boolean;
  terminal?: string | undefined;
}

/**
 * Returns completions of the text after `@`: selection, problems and changes first, then open files, then the best matches. `found`: files
 * and folders (ending in `/`) in order.
 */
export function mentionCompletions(query: string, known: CompletionSources, found: readonly string[]): Named[] {
  const typed = query.toLowerCase();
  const matching = namedMentions(known).filter(({ mention }) => mention.kind.startsWith(typed));
  const open = known.open
    .filter(({ path }) => typed === '' || matchScore(path, typed) > minContiguousMatchScore)
    .sort((one, other) => Number(other.active) - Number(one.active))
    .map(({ path }) => path);
  const paths = [...new Set([...open, ...found])].map((path) => completionOf(path, open.includes(path)));
  return [...matching, ...paths].slice(0, maxCompletions);
}

/** Returns completions for workspace symbols, each with its line range. */
export function symbolCompletions(
  found: readonly { symbol: string; kind: string; path: string; line: number; endLine?: number | undefined }[],
): Named[] {
  return found.slice(0, maxSymbols).map(({ symbol, kind, path, line, endLine = line }) => ({
    // some servers report only the range of the name
    mention: { kind: 'lines', path, from: line, to: endLine > line ? endLine : line + linesOfName },
    label: symbol,
    detail: `${kind} · ${path}:${line}`,
  }));
}

const [maxSymbols, linesOfName] = [10, 30];

export const addSymbolCompletions = (rows: readonly Named[], symbols: readonly Named[]): Named[] => [
  ...rows.slice(0, maxCompletions - symbols.length),
  ...symbols,
];

function namedMentions({ open, errors, warnings, git, terminal }: CompletionSources): Named[] {
  const selected = open.find(({ active, selection }) => active && selection?.text);
  const { path = '', selection } = selected ?? {};
  const word = (kind: 'selection' | 'problems' | 'changes' | 'terminal', detail: string): Named => ({
    mention: { kind },
    label: kind,
    detail,
  });
  return [
    ...(selection ? [word('selection', `${path}:${selection.startLine}-${selection.endLine}`)] : []),
    ...(errors + warnings > 0
      ? [word('problems', `${t(localizedCount(errors, 'error'))}, ${t(localizedCount(warnings, 'warning'))}`)]
      : []),
    ...(git ? [word('changes', t('not committed'))] : []),
    ...(terminal === undefined ? [] : [word('terminal', t('last command in {0}', terminal))]),
  ];
}

function completionOf(path: string, isOpen: boolean): Named {
  const isFolder = path.endsWith('/');
  const bare = isFolder ? path.slice(0, -1) : path;
  const begin = bare.lastIndexOf('/') + 1;
  const where = [bare.slice(0, Math.max(0, begin - 1)), ...(isOpen ? [t('open')] : [])].filter(Boolean).join(' · ');
  return {
    mention: { kind: isFolder ? 'folder' : 'file', path: bare },
    label: `${bare.slice(begin)}${isFolder ? '/' : ''}`,
    ...(where && { detail: where }),
  };
}
