import { isDeepStrictEqual } from 'node:util';
import { escapeCommandOutput } from '../../protocol/text/escapeInvisible.ts';
import { textHead, textTail } from '../../protocol/text/shorten.ts';
import { parseLimitedJson } from '../core/parseLimits.ts';

const [maxCharacters, maxOutput] = [10_000_000, 2000];

interface ParsedNotebookCell {
  id?: string;
  kind: string;
  source: string;
  raw: Record<string, unknown>;
}

interface Notebook {
  cells: ParsedNotebookCell[];
  raw: Record<string, unknown>;
}

export const isNotebook = (path: string): boolean => /\.ipynb$/i.test(path);

/** Parses a notebook as plain JSON; returns the reason as a sentence on failure. */
export function parseNotebook(text: string): Notebook | string {
  let raw: unknown;
  try {
    raw = parseLimitedJson(text, maxCharacters);
  } catch (error) {
    return `it is not JSON (${(error as Error).message.replace(/\.$/, '')})`;
  }
  if (!isObject(raw)) return 'it is not a notebook';
  if (!Number.isInteger(raw.nbformat) || (raw.nbformat as number) < 4) return 'it has no `nbformat` of 4 or more';
  if (!isObject(raw.metadata)) return 'it has no `metadata`';
  if (!Array.isArray(raw.cells)) return 'it has no `cells`';
  const cells: ParsedNotebookCell[] = [];
  for (const [at, cell] of raw.cells.entries()) {
    const source = isObject(cell) ? textOf(cell.source) : undefined;
    if (!isObject(cell) || typeof cell.cell_type !== 'string' || source === undefined || !isObject(cell.metadata))
      return `cell ${at + 1} lacks its \`cell_type\`, \`source\` or \`metadata\``;
    if (cell.cell_type === 'code' && !Array.isArray(cell.outputs))
      return `cell ${at + 1} is code and has no \`outputs\``;
    cells.push({ kind: cell.cell_type, source, raw: cell, ...(typeof cell.id === 'string' && { id: cell.id }) });
  }
  return { cells, raw };
}

export function formatNotebook({ cells }: Notebook): string {
  return cells
    .map(({ kind, source, raw }, at) => {
      const head = `--- cell ${at + 1}: ${kind} ---`;
      const outputs = Array.isArray(raw.outputs) ? raw.outputs.map(outputOf).filter(Boolean) : [];
      const gave = outputs.length > 0 ? [`--- output of cell ${at + 1} ---`, shortened(outputs.join('\n'))] : [];
      return [head, source, ...gave].join('\n');
    })
    .join('\n');
}

function outputOf(output: unknown): string {
  if (!isObject(output)) return '';
  if (output.output_type === 'stream') return escapeCommandOutput(textOf(output.text) ?? '').trimEnd();
  if (output.output_type === 'error') {
    const trace = Array.isArray(output.traceback) ? output.traceback.filter((one) => typeof one === 'string') : [];
    return escapeCommandOutput([...trace.slice(-10), `${output.ename}: ${output.evalue}`].join('\n'));
  }
  const data = isObject(output.data) ? output.data : {};
  const text = textOf(data['text/plain']);
  const others = Object.entries(data).filter(([type]) => type !== 'text/plain');
  const named = others.map(([type, value]) => `(${type}, ${JSON.stringify(value).length} characters, not shown)`);
  return [...(text === undefined ? [] : [escapeCommandOutput(text)]), ...named].join('\n');
}

function shortened(text: string): string {
  if (text.length <= maxOutput) return text;
  const half = maxOutput / 2;
  return `${textHead(text, half)}\n(… ${text.length - maxOutput} characters left out …)\n${textTail(text, half)}`;
}

/**
 * Returns the reason why a text may not replace a notebook: not a notebook, or lost metadata of the notebook or its cells. Undefined if
 * allowed. A file without a notebook before may become anything.
 */
export function notebookReplacementProblem(before: string | null, after: string): string | undefined {
  const now = parseNotebook(after);
  if (typeof now === 'string') return `This would not be a notebook any more: ${now}.`;
  const was = before === null || before.trim() === '' ? 'new' : parseNotebook(before);
  if (typeof was === 'string') return undefined;
  if ((now.raw.nbformat as number) < (was.raw.nbformat as number)) return 'It would lose its `nbformat`: keep it.';
  const lost = lostIn(was.raw.metadata, now.raw.metadata);
  if (lost) return `The notebook’s metadata would lose \`${lost}\`: keep it.`;
  const left = [...now.cells];
  for (const [at, cell] of was.cells.entries()) {
    const same = left.findIndex((one) => (cell.id === undefined ? one.source === cell.source : one.id === cell.id));
    const [previous] = same < 0 ? [] : left.splice(same, 1);
    const gone = previous && lostIn(cell.raw.metadata, previous.raw.metadata);
    if (gone) return `Cell ${at + 1} would lose \`${gone}\` of its metadata: keep it.`;
  }
  const ids = was.cells.filter(({ id }) => id !== undefined).length;
  if (ids > 0 && now.cells.some(({ id }) => id === undefined))
    return 'A cell would have no `id`: give each one of its own.';
  return undefined;
}

function lostIn(was: unknown, now: unknown): string | undefined {
  if (!isObject(was)) return undefined;
  return Object.keys(was).find((key) => !isObject(now) || !Object.hasOwn(now, key));
}

/**
 * Returns the changed cell sources by cell index from 0, if the editor can apply the new text cell by cell; undefined for other changes or
 * invalid notebooks.
 */
export function changedCellSources(before: string, after: string): Map<number, string> | undefined {
  const [was, now] = [parseNotebook(before), parseNotebook(after)];
  if (typeof was === 'string' || typeof now === 'string' || was.cells.length !== now.cells.length) return undefined;
  const rest = ({ raw, cells }: Notebook) => ({ ...raw, cells: cells.map(({ raw }) => ({ ...raw, source: '' })) });
  if (!isDeepStrictEqual(rest(was), rest(now))) return undefined;
  return new Map(
    now.cells.flatMap(({ source }, at): [number, string][] => (source === was.cells[at]!.source ? [] : [[at, source]])),
  );
}

const textOf = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value;
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value.join('') : undefined;
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
