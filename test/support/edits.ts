import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { generator } from './random.ts';

/** One edit of one file, as a model with a certain slip would write it, and what has to come of it. */
export interface EditCase {
  scenario: string;
  file: string;
  /** The file as it is on disk. */
  before: string;
  oldText: string;
  newText: string;
  /** What it has to become; null: the edit has to be refused. */
  expect: string | null;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Real files: sources, styles, documents and data of this project and of what it installs. Drawn by their names, so that a file
 * that comes or goes changes no other's place.
 */
export function corpus(root: string, count: number): string[] {
  const found: string[] = [];
  const walk = (folder: string) => {
    for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
      const below = path.join(folder, entry.name);
      if (entry.isDirectory() && !['.git', '.vscode-test', 'dist', 'out', '.bin', '.cache'].includes(entry.name))
        walk(below);
      else if (entry.isFile() && /\.(tsx?|[cm]?js|css|scss|md|json|ya?ml|py|html)$/.test(entry.name)) found.push(below);
    }
  };
  for (const folder of ['node_modules', 'src', 'test', 'webview']) walk(folder);
  const chosen: string[] = [];
  const drawn = found.map((file) => ({ file, key: sha256(file) }));
  for (const { file } of drawn.sort((a, b) => (a.key < b.key ? -1 : 1))) {
    if (chosen.length === count) break;
    const bytes = readFileSync(path.join(root, file));
    const text = bytes.toString('utf8');
    const lines = text.split('\n');
    const plain =
      Buffer.from(text).equals(bytes) && !/\r|\0|^\ufeff/.test(text) && lines.every((line) => line.length < 500);
    if (plain && lines.length >= 40 && lines.length <= 3000) chosen.push(file);
  }
  return chosen;
}

/** Returns every scenario that fits the file once. The name of the file is the seed: files that come or go change no other's cases. */
export function casesOf(file: string, text: string): EditCase[] {
  const random = generator(Number.parseInt(sha256(file).slice(0, 8), 16));
  const cases: EditCase[] = [];
  for (const scenario of Object.keys(scenarios)) {
    for (let attempt = 0; attempt < 30; attempt++) {
      const made = scenarios[scenario]!(blockOf(text, random), random);
      if (!made || (/^(?:stale|absent)/.test(scenario) && made.before.includes(made.oldText))) continue; // its twin is there
      cases.push({ scenario, file, ...made });
      break;
    }
  }
  return cases;
}

/** Some lines of a file and a change of one of them. */
interface Block {
  lines: string[];
  start: number;
  length: number;
  /** The line that changes, within the block. */
  target: number;
  kind: 'word' | 'line' | 'insert' | 'delete';
}

type Made = Omit<EditCase, 'scenario' | 'file'> | undefined;
type Scenario = (block: Block | undefined, random: () => number) => Made;

const plainCase =
  (change: (block: Block, random: () => number) => Made): Scenario =>
  (block, random) =>
    block && change(block, random);

/** The edit as it should be written. */
function edit(
  { lines, start, length, target, kind }: Block,
  own = lines,
): { old: string[]; now: string[]; after: string[] } {
  const old = own.slice(start, start + length);
  const changed = changedLines(old[target]!, kind);
  const now = [...old.slice(0, target), ...changed, ...old.slice(target + 1)];
  return { old, now, after: [...own.slice(0, start), ...now, ...own.slice(start + length)] };
}

function changedLines(line: string, kind: Block['kind']): string[] {
  const indent = /^\s*/.exec(line)![0];
  if (kind === 'delete') return [];
  if (kind === 'line') return [`${indent}entirely(other, text);`];
  if (kind === 'insert') return [line, `${indent}inserted(first);`, `${indent}inserted(second);`];
  return [line.replace(/[A-Za-z_]{3,}(?=[^A-Za-z_]*$)/, 'renamedByTheEdit')];
}

const text = (lines: readonly string[]) => lines.join('\n');

/** The search text is written otherwise than the file, line by line. */
const written = (block: Block, write: (line: string, index: number) => string, own = block.lines): Made => {
  const { old, now, after } = edit(block, own);
  return { before: text(own), oldText: text(old.map(write)), newText: text(now.map(write)), expect: text(after) };
};

const scenarios: Record<string, Scenario> = {
  exact: plainCase((block) => written(block, (line) => line)),
  'one line, exact': plainCase((block) => {
    const one = { ...block, start: block.start + block.target, length: 1, target: 0 };
    const line = one.lines[one.start]!;
    if (one.kind === 'delete' || text(one.lines).split(line).length !== 2) return undefined;
    return written(one, (line) => line);
  }),
  'trailing blanks in the search': plainCase((block) => {
    const made = written(block, (line, index) => (index % 2 ? `${line}  ` : line));
    return block.kind === 'word' || block.kind === 'delete' ? made : undefined; // what comes in keeps its own
  }),
  'trailing blanks in the file': plainCase((block) => {
    const target = block.lines[block.start + block.target]!;
    if (block.kind !== 'word' || /^\s*\w+\s*$/.test(target)) return undefined; // a line that is another one keeps nothing
    const own = block.lines.map((line, index) => (index % 3 === 0 ? `${line}  ` : line));
    const { after } = edit(block, own);
    return { ...written(block, (line) => line.trimEnd(), own)!, expect: text(after) };
  }),
  'indentation lost in common': plainCase((block) => {
    const common = Math.min(
      ...block.lines
        .slice(block.start, block.start + block.length)
        .filter((line) => line.trim())
        .map(indentWidth),
    );
    return common > 0 ? written(block, (line) => line.slice(common)) : undefined;
  }),
  'indentation lost altogether': plainCase((block) => {
    if (block.kind === 'insert') return undefined; // how deep new lines go would be a guess
    return indented(block) ? written(block, (line) => line.trimStart()) : undefined;
  }),
  'indentation doubled': plainCase((block) =>
    indented(block) ? written(block, (line) => line.replace(/^[ \t]+/, '$&$&')) : undefined,
  ),
  'tabs for blanks': plainCase((block) => {
    const widths = block.lines
      .slice(block.start, block.start + block.length)
      .filter((line) => line.trim())
      .map(indentWidth);
    if (!indented(block) || widths.some((width) => width % 2)) return undefined;
    if (block.lines.some((line) => line.startsWith('\t'))) return undefined;
    return written(block, (line) => line.replace(/^( {2})+/, (indent) => '\t'.repeat(indent.length / 2)));
  }),
  'smart quotes': plainCase((block) => {
    if (block.kind !== 'word') return undefined;
    const smart = (line: string) => line.replaceAll('"', '”').replaceAll("'", '’').replaceAll(' - ', ' – ');
    const own = block.lines.map(smart);
    const target = own[block.start + block.target]!;
    const { old } = edit(block);
    if (!old.some((line) => smart(line) !== line) || /[”’]\w*$/.test(target)) return undefined;
    const plain = (line: string) => line.replaceAll('”', '"').replaceAll('’', "'").replaceAll(' – ', ' - ');
    return written(block, plain, own);
  }),
  CRLF: plainCase((block) => {
    const made = written(block, (line) => line)!;
    return { ...made, before: made.before.replaceAll('\n', '\r\n'), expect: made.expect!.replaceAll('\n', '\r\n') };
  }),
  'CRLF and indentation': plainCase((block) => {
    if (!indented(block) || block.kind === 'insert') return undefined;
    const made = written(block, (line) => line.trimStart())!;
    return { ...made, before: made.before.replaceAll('\n', '\r\n'), expect: made.expect!.replaceAll('\n', '\r\n') };
  }),
  'byte order mark': plainCase((block) => {
    const made = written(block, (line) => line)!;
    return { ...made, before: `\ufeff${made.before}`, expect: `\ufeff${made.expect}` };
  }),
  'missing blank line': plainCase((block) => {
    const { old, now, after } = edit(block);
    const blank = old.findIndex((line, index) => line.trim() === '' && index > 0 && index < old.length - 1);
    if (blank < 0 || Math.abs(blank - block.target) < 2) return undefined;
    const without = (lines: string[], at: number) => lines.filter((_, index) => index !== at);
    const inNow = blank < block.target ? blank : blank + now.length - old.length;
    return {
      before: text(block.lines),
      oldText: text(without(old, blank)),
      newText: text(without(now, inNow)),
      expect: text(after),
    };
  }),
  'typo in kept context': plainCase((block, random) => {
    const kept = similarLine(block, random);
    if (kept === undefined) return undefined;
    const line = block.lines[block.start + kept]!;
    const at = Math.floor(line.length / 2);
    if (!/[a-z]/.test(line[at]!)) return undefined;
    const typo = `${line.slice(0, at)}${line[at] === 'x' ? 'y' : 'x'}${line.slice(at + 1)}`;
    return written(block, (own) => (own === line ? typo : own));
  }),

  'stale: other lines around': plainCase((block) => {
    const { old, now } = edit(block);
    const own = [...block.lines];
    const others = old.map((_, index) => index).filter((index) => index !== block.target && old[index]!.trim());
    if (others.length < 3) return undefined;
    for (const index of others.slice(0, Math.ceil(old.length / 10) + 1))
      own[block.start + index] += ' /* rewritten since, by somebody else */';
    return { before: text(own), oldText: text(old), newText: text(now), expect: null };
  }),
  doubled: plainCase((block) => {
    const { old, now } = edit(block);
    return { before: text([...block.lines, '', ...old]), oldText: text(old), newText: text(now), expect: null };
  }),
  'doubled, indented otherwise': plainCase((block) => {
    if (!indented(block)) return undefined; // else it is the very text of one of the two
    const { old, now } = edit(block);
    const copy = old.map((line) => `      ${line}`);
    return {
      before: text([...block.lines, '', ...copy]),
      oldText: text(old.map((line) => line.trim())),
      newText: text(now.map((line) => line.trim())),
      expect: null,
    };
  }),
  absent: plainCase((block) => {
    const { old, now } = edit(block);
    const own = [...block.lines.slice(0, block.start), ...block.lines.slice(block.start + block.length)];
    return { before: text(own), oldText: text(old), newText: text(now), expect: null };
  }),
  'case only': plainCase((block, random) => {
    const kept = similarLine(block, random);
    if (kept === undefined) return undefined;
    const own = [...block.lines];
    const line = own[block.start + kept]!;
    own[block.start + kept] = line.replace(/[a-z]/, (letter) => letter.toUpperCase());
    const { old, now } = edit(block);
    return own[block.start + kept] === line
      ? undefined
      : { before: text(own), oldText: text(old), newText: text(now), expect: null };
  }),
  'the person changed that very line': plainCase((block) => {
    if (block.kind === 'insert') return undefined;
    const { old, now } = edit(block);
    const own = [...block.lines];
    const line = own[block.start + block.target]!;
    own[block.start + block.target] = changed(line);
    return { before: text(own), oldText: text(old), newText: text(now), expect: null };
  }),
  'the person changed that very line, and its twin stands deeper': plainCase((block) => {
    const { old, now } = edit(block);
    const own = [...block.lines];
    const line = own[block.start + block.target]!;
    own[block.start + block.target] = changed(line);
    const twin = old.map((one) => (one.trim() === '' ? one : `    ${one}`));
    return { before: text([...own, '', ...twin]), oldText: text(old), newText: text(now), expect: null };
  }),
  'the person put a line in, and the twin stands less deep': plainCase((block) => {
    const { old, now } = edit(block);
    const common = Math.min(...old.filter((line) => line.trim()).map(indentWidth));
    if (common === 0 || block.target === 0) return undefined;
    const own = block.lines.toSpliced(block.start + block.target, 0, `${' '.repeat(common)}somethingElse();`);
    const twin = old.map((one) => one.slice(common));
    return { before: text([...twin, '', ...own]), oldText: text(old), newText: text(now), expect: null };
  }),
  'the person wrote on in that line': plainCase((block) => {
    const one = { ...block, start: block.start + block.target, length: 1, target: 0, kind: 'line' as const };
    const line = one.lines[one.start]!;
    if (!/\w$/.test(line) || text(one.lines).split(line).length !== 2) return undefined;
    const { old, now } = edit(one);
    const own = one.lines.with(one.start, `${line}AndMore`);
    return { before: text(own), oldText: text(old), newText: text(now), expect: null };
  }),
};

/** As a person changes a line: in a word, else at its end. */
const changed = (line: string) => (/[A-Za-z]{3,}/.test(line) ? line.replace(/[A-Za-z]{3,}/, '$&s') : `${line}s`);
const indentWidth = (line: string) => /^[ \t]*/.exec(line)![0].length;
const indented = ({ lines, start, length }: Block) =>
  lines.slice(start, start + length).some((line) => line.trim() && indentWidth(line) > 0);

/** A line of the context, long enough that one letter is little, in a block long enough that one line is. */
function similarLine(block: Block, random: () => number): number | undefined {
  if (block.length < 10) return undefined;
  const index = Math.floor(random() * block.length);
  const line = block.lines[block.start + index]!;
  const once = block.lines.filter((other) => other === line).length === 1;
  return index !== block.target && line.trim().length >= 12 && once ? index : undefined;
}

/** Between 3 and 16 lines that are in the file only once, whatever their blanks, with a changeable line of its own. */
function blockOf(whole: string, random: () => number): Block | undefined {
  const lines = whole.split('\n');
  const length = 3 + Math.floor(random() * 14);
  const start = Math.floor(random() * (lines.length - length - 1));
  const kinds = ['word', 'line', 'insert', 'delete'] as const;
  const kind = kinds[Math.floor(random() * kinds.length)]!;
  const target = Math.floor(random() * length);
  const block = { lines, start, length, target, kind };
  const key = (from: readonly string[]) =>
    from
      .map((line) => line.trim())
      .filter(Boolean)
      .join('\n');
  const wanted = key(lines.slice(start, start + length));
  const all = `\n${key(lines)}\n`;
  const line = lines[start + target] ?? '';
  const changeable = /[A-Za-z_]{3,}/.test(line) && edit(block).old.join('\n') !== edit(block).now.join('\n');
  const ends = lines[start]!.trim() !== '' && lines[start + length - 1]!.trim() !== '';
  return changeable && ends && line.trim().length >= 8 && all.split(`\n${wanted}\n`).length === 2 ? block : undefined;
}

export interface Score {
  scenario: string;
  cases: number;
  right: number;
  refused: number;
  /** Written, and not what had to come of it. */
  wrong: number;
}

/** Counts what came of every case; `apply` gives the file's new text, or undefined when the edit was refused. */
export async function score(
  cases: readonly EditCase[],
  apply: (one: EditCase) => Promise<string | undefined>,
  told: (one: EditCase, got: string | undefined) => void = () => {},
): Promise<Score[]> {
  const scores = new Map<string, Score>();
  for (const one of cases) {
    const sum = scores.get(one.scenario) ?? { scenario: one.scenario, cases: 0, right: 0, refused: 0, wrong: 0 };
    scores.set(one.scenario, sum);
    const got = await apply(one);
    sum.cases += 1;
    if (got === undefined) sum.refused += 1;
    if ((got ?? null) === one.expect) sum.right += 1;
    else {
      if (got !== undefined) sum.wrong += 1;
      told(one, got);
    }
  }
  return [...scores.values()];
}
