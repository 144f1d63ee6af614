import { userQuestionToolName } from '../../src/protocol/content/askTool.ts';
import type { CallState } from '../../src/protocol/run/run.ts';
import { type LocalizedMessage, localizedCount, message, t, withDigitGrouping } from '../../src/protocol/text/l10n.ts';
import { truncateWithEllipsis } from '../../src/protocol/text/shorten.ts';
import {
  type CardTextPiece,
  changedLineCountPieces,
  codeTextPiece,
  filePathTextPiece,
  formatByteCount,
  identifierToText,
  type LineRange,
  splitMcpToolName,
  toPlainTextPiece,
  urlTextPiece,
} from './cardText.ts';
import type { InfinitiveVerb, PastVerb, ProgressiveVerb } from './verbs.ts';

/**
 * Call with arguments and result data; `data` is empty before the result. `lineOf` returns the command line of a background command of this
 * run.
 */
export interface DescribedCall {
  name: string;
  args: Record<string, unknown>;
  data: Record<string, unknown>;
  state?: CallState;
  lineOf?(id: string): string | undefined;
}

type Words<Word> = Word | ((known: DescribedCall) => Word);

/**
 * Texts for a tool: `Reading a.ts`, `Read a.ts`, `Could not read a.ts`. `not` follows `Could not`. `gave` describes the result in pieces.
 * `many` describes several read-only calls in one line; `places` is the number of distinct subjects.
 */
export interface ToolText {
  doing: Words<ProgressiveVerb>;
  done: Words<PastVerb | LocalizedMessage>;
  not: Words<InfinitiveVerb>;
  object(known: DescribedCall): CardTextPiece[];
  gave?(known: DescribedCall): CardTextPiece[];
  many?(times: number, places: number): LocalizedMessage;
}

const names = [
  'fs.list',
  'fs.find',
  'fs.search',
  'fs.read',
  'fs.write',
  'fs.edit',
  'fs.apply_patch',
  'fs.move',
  'fs.delete',
  'shell.run',
  'shell.stop',
  'output.read',
  'code.diagnostics',
  'code.symbols',
  'code.definition',
  'code.references',
  'editor.context',
  'web.fetch',
  'plan.update',
  userQuestionToolName,
  'task.run',
  'mcp.search_tools',
  'mcp.call_tool',
  'mcp.read_resource',
] as const;
type ToolName = (typeof names)[number];

const edit: Pick<ToolText, 'object' | 'gave'> = {
  object: ({ args, data, state }) => [changed(args, data, state)],
  gave: edited,
};

/** A test requires a row per tool. */
export const toolTextTable: Record<ToolName, ToolText> = {
  'fs.list': {
    doing: 'Listing',
    done: 'Listed',
    not: 'list',
    object: ({ args }) => [folder(text(args.path) || '.')],
    gave: ({ data }) =>
      Array.isArray(data.entries) ? [some(localizedCount(data.entries.length, 'entry', 'entries'))] : [],
    many: (_, places) =>
      places === 1 ? message('listed a folder') : message('listed {0}', localizedCount(places, 'folder')),
  },
  'fs.find': {
    doing: 'Looking for',
    done: ({ data }) =>
      Array.isArray(data.files) ? message('Found {0}', localizedCount(data.files.length, 'file')) : 'Looked for',
    not: 'look for',
    object: ({ args }) => [pattern(args.pattern), ...inPlace(args.path)],
    gave: ({ data }) => (data.cut ? [toPlainTextPiece(t('there are more'))] : []),
    many: (many) => message('looked for files {0}', times(many)),
  },
  'fs.search': {
    doing: 'Searching',
    done: 'Searched',
    not: 'search',
    object: ({ args }) => [pattern(args.pattern), ...inPlace(args.path, args.glob)],
    gave: ({ data }) => matches(data),
    many: (many) => message('searched {0}', times(many)),
  },
  'fs.read': {
    doing: 'Reading',
    done: ({ data }) => (data.image ? 'Viewed' : 'Read'),
    not: 'read',
    object: ({ args, data }) => [filePathTextPiece(text(args.path), { lines: linesRead(args, data) })],
    gave: ({ args, data }) => {
      const { startLine, endLine, totalLines } = data;
      const isFirst = startLine === 1 && number(endLine) < number(totalLines) && !isWindow(args);
      return isFirst ? [toPlainTextPiece(t('first {0}', localizedCount(number(endLine), 'line')))] : [];
    },
    many: (_, places) => (places === 1 ? message('read a file') : message('read {0}', localizedCount(places, 'file'))),
  },
  'fs.write': {
    doing: 'Writing',
    done: ({ state }) => (state?.changes?.[0]?.before === null ? 'Created' : 'Wrote'),
    not: 'write',
    ...edit,
  },
  'fs.edit': { doing: 'Editing', done: 'Edited', not: 'edit', ...edit },
  'fs.apply_patch': {
    doing: 'Editing',
    done: ({ data }) => (data.created ? 'Created' : 'Edited'),
    not: 'edit',
    ...edit,
  },
  'fs.move': {
    doing: 'Moving',
    done: 'Moved',
    not: 'move',
    object: ({ args, data, state }) => {
      const isThere = data.path !== undefined && !state?.undone?.length;
      const { from, to } = state?.moved ?? { from: '', to: '' };
      return [
        filePathTextPiece(text(data.from) || text(args.from) || from, { leads: !isThere }),
        toPlainTextPiece(t('to')),
        filePathTextPiece(text(data.path) || text(args.to) || to, { leads: isThere }),
      ];
    },
  },
  'fs.delete': {
    doing: 'Deleting',
    done: 'Deleted',
    not: 'delete',
    object: ({ args, data, state }) => {
      const path = text(args.path) || (state?.changes?.[0]?.path ?? '');
      const isFolder = data.files !== undefined && !path.endsWith('/');
      return [filePathTextPiece(path + (isFolder ? '/' : ''), { leads: false })];
    },
    gave: ({ data }) => (data.files === undefined ? [] : [some(localizedCount(number(data.files), 'file'))]),
  },
  'shell.run': {
    doing: 'Running',
    done: ({ state, data }) => (state?.background || data.running ? 'Started' : 'Ran'),
    not: 'run',
    object: ({ args, state }) => [codeTextPiece(state?.command?.line ?? text(args.command))],
  },
  'shell.stop': {
    doing: 'Stopping',
    done: 'Stopped',
    not: 'stop',
    object: ({ args, lineOf }) => [commandOf(lineOf, args.id)],
  },
  'output.read': {
    doing: 'Reading output of',
    done: 'Read output of',
    not: 'read output of',
    object: ({ args, lineOf }) => [commandOf(lineOf, args.id)],
    gave: ({ data }) => {
      const [first, last, all] = [data.startLine, data.endLine, data.totalLines].map(number);
      return all === 0
        ? []
        : [
            toPlainTextPiece(
              t(
                'lines {0} to {1} of {2}',
                withDigitGrouping(first!),
                withDigitGrouping(last!),
                withDigitGrouping(all!),
              ),
            ),
          ];
    },
    many: (many) => message('read an output {0}', times(many)),
  },
  'code.diagnostics': {
    doing: 'Checking',
    done: 'Checked',
    not: 'check',
    object: ({ args }) => [args.path === undefined ? toPlainTextPiece(t('all files')) : folder(text(args.path))],
    gave: ({ data }) => {
      if (data.errors === undefined) return [];
      const [errors, warnings] = [number(data.errors), number(data.warnings)];
      if (errors + warnings === 0) return [toPlainTextPiece(t('no problems'))];
      return [
        ...(errors > 0 ? [some(localizedCount(errors, 'error'))] : []),
        ...(warnings > 0 ? [some(localizedCount(warnings, 'warning'))] : []),
      ];
    },
    many: (many) => message('checked for problems {0}', times(many)),
  },
  'code.symbols': {
    doing: ({ args }) => (args.path === undefined ? 'Looking for' : 'Listing names in'),
    done: ({ args }) => (args.path === undefined ? 'Looked for' : 'Listed names in'),
    not: ({ args }) => (args.path === undefined ? 'look for' : 'list names in'),
    object: ({ args }) => [args.path === undefined ? pattern(args.query) : filePathTextPiece(text(args.path))],
    gave: ({ data }) => (Array.isArray(data.files) ? [some(localizedCount(linesIn(data.files), 'name'))] : []),
    many: (many) => message('looked at definitions {0}', times(many)),
  },
  'code.definition': {
    doing: 'Looking up',
    done: 'Looked up',
    not: 'look up',
    object: named,
    gave: ({ data }) => definitions(data),
    many: (many) => message('looked up names {0}', times(many)),
  },
  'code.references': {
    doing: 'Finding uses of',
    done: 'Found uses of',
    not: 'find uses of',
    object: named,
    gave: ({ data }) => uses(data),
    many: (many) => message('looked up uses {0}', times(many)),
  },
  'editor.context': {
    doing: 'Viewing',
    done: 'Viewed',
    not: 'view',
    object: ({ data }) => {
      const active = Object(data.active) as { path?: unknown; selection?: { startLine: number; endLine: number } };
      if (typeof active.path !== 'string') return [toPlainTextPiece(t('the editor'))];
      const { selection } = active;
      return [
        toPlainTextPiece(t('the editor:')),
        filePathTextPiece(active.path, selection && { lines: [selection.startLine, selection.endLine] }),
      ];
    },
    many: (many) => message('looked at the editor {0}', times(many)),
  },
  'web.fetch': {
    doing: 'Fetching',
    done: 'Fetched',
    not: 'fetch',
    object: ({ args, data }) => [urlTextPiece(text(data.url) || text(args.url))],
    gave: ({ data }) => (typeof data.bytes === 'number' ? [toPlainTextPiece(formatByteCount(data.bytes))] : []),
  },
  'plan.update': {
    doing: 'Planning',
    done: 'Planned',
    not: 'change the plan',
    object: () => [],
    gave: ({ data }) =>
      data.items === undefined ? [] : [toPlainTextPiece(t('{0} of {1} done', number(data.done), number(data.items)))],
  },
  [userQuestionToolName]: {
    doing: 'Asking',
    done: 'Asked',
    not: 'ask',
    object: ({ args, state }) => {
      const asked = state?.asked ?? (Array.isArray(args.questions) ? (args.questions as unknown[]) : []);
      const [first] = asked as { question?: unknown }[];
      return [
        asked.length > 1 ? some(localizedCount(asked.length, 'question')) : { text: text(Object(first).question) },
      ];
    },
  },
  'task.run': {
    doing: 'Delegating',
    done: 'Delegated',
    not: 'delegate',
    object: ({ args }) => [{ text: text(args.title) }],
  },
  'mcp.search_tools': {
    doing: 'Looking for tools:',
    done: 'Looked for tools:',
    not: 'look for tools:',
    object: ({ args }) => [{ text: text(args.query) }],
    gave: ({ data }) => (Array.isArray(data.tools) ? [toPlainTextPiece(t('{0} found', data.tools.length))] : []),
    many: (many) => message('looked for a tool {0}', times(many)),
  },
  'mcp.call_tool': {
    doing: 'Using',
    done: 'Used',
    not: 'use',
    object: ({ args, state }) => {
      const of = splitMcpToolName(text(args.name));
      return of ? serverPieces(of, args.arguments, state?.title) : [toPlainTextPiece(t('a tool of a server'))];
    },
  },
  'mcp.read_resource': {
    doing: ({ args }) => (args.uri === undefined ? 'Listing' : 'Reading'),
    done: ({ args }) => (args.uri === undefined ? 'Listed' : 'Read'),
    not: ({ args }) => (args.uri === undefined ? 'list' : 'read'),
    object: ({ args }) => {
      const server = text(args.server) || t('a server');
      if (args.uri === undefined) return [toPlainTextPiece(t('{0} resources', server))];
      return [filePathTextPiece(text(args.uri), { leads: false }), toPlainTextPiece(t('of')), toPlainTextPiece(server)];
    },
    many: (many) => message('read from a server {0}', times(many)),
  },
};

/** Texts for tools of servers and unknown tools. */
const foreign: ToolText = {
  doing: 'Using',
  done: 'Used',
  not: 'use',
  object: ({ name, args, state }) => {
    const of = splitMcpToolName(name);
    return of ? serverPieces(of, args, state?.title) : [{ text: identifierToText(name) }];
  },
};

export const toolTextFor = (name: string): ToolText =>
  Object.hasOwn(toolTextTable, name) ? toolTextTable[name as ToolName] : foreign;

export const localizeToolText = (
  words: Words<ProgressiveVerb | PastVerb | LocalizedMessage>,
  known: DescribedCall,
): string => t(typeof words === 'function' ? words(known) : words);
export const toolInfinitive = ({ not }: ToolText, known: DescribedCall): InfinitiveVerb =>
  typeof not === 'function' ? not(known) : not;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const number = (value: unknown): number => (typeof value === 'number' ? value : 0);
const pattern = (value: unknown): CardTextPiece => codeTextPiece(text(value));
const folder = (path: string): CardTextPiece =>
  path === '.' ? toPlainTextPiece(t('the folder')) : filePathTextPiece(path);
const some = (amount: LocalizedMessage): CardTextPiece => toPlainTextPiece(t(amount));
const times = (many: number): LocalizedMessage =>
  many > 2 ? message('{0} times', withDigitGrouping(many)) : message(many === 1 ? 'once' : 'twice');
const serverPieces = (
  { server, tool }: { server: string; tool: string },
  args: unknown,
  title?: string,
): CardTextPiece[] => [
  toPlainTextPiece(`${server}:`),
  { text: title === undefined ? tool : identifierToText(title) },
  ...firstArgument(args),
];

function firstArgument(args: unknown): CardTextPiece[] {
  const values = typeof args === 'object' && args !== null ? Object.values(args) : [];
  const first = values.find((one) => typeof one === 'number' || (typeof one === 'string' && one.trim() !== ''));
  if (first === undefined) return [];
  return [{ text: t('“{0}”', truncateWithEllipsis(String(first).replace(/\s+/g, ' ').trim(), longestArgument)) }];
}

const longestArgument = 80;

function inPlace(path: unknown, glob?: unknown): CardTextPiece[] {
  const [where, which] = [text(path), text(glob)];
  const place = where === '.' ? '' : where;
  if (place === '' && which === '') return [];
  const whole = place && which ? `${place.replace(/\/$/, '')}/${which}` : place || which;
  return [toPlainTextPiece(t('in')), filePathTextPiece(whole, { leads: which === '' })];
}

function matches(data: Record<string, unknown>): CardTextPiece[] {
  if (data.matches === undefined) return [];
  const [found, files] = [number(data.matches), Array.isArray(data.files) ? data.files.length : 0];
  if (found === 0) return [toPlainTextPiece(t('no match'))];
  const all = localizedCount(found, 'match', 'matches');
  return [inFiles(data.cut ? message('first {0}', all) : all, files)];
}

const inFiles = (all: LocalizedMessage, files: number): CardTextPiece =>
  some(files > 1 ? message('{0} in {1}', all, localizedCount(files, 'file')) : all);

function definitions({ places, files }: Record<string, unknown>): CardTextPiece[] {
  if (places === undefined) return [];
  const all =
    places === 0 ? message('defined nowhere') : message('defined in {0}', localizedCount(number(places), 'location'));
  return [inFiles(all, Array.isArray(files) ? files.length : 0)];
}

function uses({ places, files }: Record<string, unknown>): CardTextPiece[] {
  if (places === undefined) return [];
  const all = places === 0 ? message('nowhere') : localizedCount(number(places), 'location');
  return [inFiles(all, Array.isArray(files) ? files.length : 0)];
}

function named({ args }: DescribedCall): CardTextPiece[] {
  const line = typeof args.line === 'number' ? args.line : undefined;
  const at = filePathTextPiece(text(args.path), line === undefined ? {} : { lines: [line, line] });
  return [pattern(args.symbol), toPlainTextPiece(t('of')), at];
}

const isWindow = ({ offset, limit }: Record<string, unknown>) => offset !== undefined || limit !== undefined;

function linesRead(args: Record<string, unknown>, data: Record<string, unknown>): LineRange | undefined {
  if (!isWindow(args)) return undefined;
  const first = number(data.startLine) || number(args.offset) || 1;
  const last = number(data.endLine) || (args.limit === undefined ? 0 : first + number(args.limit) - 1);
  return last < first ? undefined : [first, last];
}

function changed(
  args: Record<string, unknown>,
  data: Record<string, unknown>,
  state: CallState | undefined,
): CardTextPiece {
  const path = text(data.path) || state?.changes?.[0]?.path || text(args.path) || pathOfPatch(text(args.patch));
  return filePathTextPiece(path);
}

const pathOfPatch = (patch: string): string => /^\+\+\+ (?:b\/)?([^\t\n]+)/m.exec(patch)?.[1] ?? '';

function edited({ data }: DescribedCall): CardTextPiece[] {
  if (data.added === undefined) return [];
  const { newProblems, changedOnSave } = data;
  const problems = Array.isArray(newProblems) ? newProblems.length : 0;
  const onSave = text(changedOnSave).match(/^\+/gm)?.length ?? 0;
  return [
    ...changedLineCountPieces(number(data.added), number(data.removed)),
    ...(problems > 0 ? [some(localizedCount(problems, 'new problem'))] : []),
    ...(onSave > 0 ? [toPlainTextPiece(t('your formatter changed {0}', localizedCount(onSave, 'more line')))] : []),
    ...(changedOnSave && onSave === 0 ? [toPlainTextPiece(t('your formatter changed it, too'))] : []),
  ];
}

const linesIn = (files: readonly unknown[]): number =>
  files.reduce<number>((sum, one) => sum + ((Object(one) as { lines?: unknown[] }).lines?.length ?? 0), 0);

function commandOf(lineOf: DescribedCall['lineOf'], id: unknown): CardTextPiece {
  const line = lineOf?.(text(id));
  return line === undefined ? toPlainTextPiece(t('a command')) : codeTextPiece(line);
}
