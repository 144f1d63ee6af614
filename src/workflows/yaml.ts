import { type Document, isCollection, isMap, isNode, isPair, isScalar, LineCounter, parseDocument, visit } from 'yaml';

/** A sentence about a place in a file; lines and columns are counted from 1. */
export interface Problem {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
  message: string;
}

export type YamlPath = readonly (string | number)[];

/** A file as plain data, and where each piece of it stands. */
export interface YamlFile {
  value: unknown;
  problems: Problem[];
  /** A problem with the value at `path`, or (`key`) with the key that leads to it. */
  problem(path: YamlPath, message: string, key?: 'key'): Problem;
}

/** Characters of a file that are read. */
const longestFile = 500_000;
/** After the first mistakes of its form the rest of a file is read wrong, and says little. */
const mostErrors = 3;
/** How often anchors may be repeated: a few are a help, thousands are a bomb. */
const mostAliases = 100;

/** Reads YAML 1.2 with the places of everything. Never throws: what is wrong is in `problems`, and `value` is undefined then. */
export function readYaml(text: string): YamlFile {
  const lines = new LineCounter();
  const long = text.length > longestFile;
  const document = parseDocument(long ? '' : text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    merge: true,
  });
  const at = (from: number, to: number, message: string): Problem => {
    const [start, end] = [lines.linePos(from), lines.linePos(Math.max(to, from))];
    return { line: start.line, column: start.col, endLine: end.line, endColumn: end.col, message };
  };
  const problem: YamlFile['problem'] = (path, message, key) => {
    const [from, to] = placeOf(document, path, key);
    return at(from, to, message);
  };
  if (long)
    return { value: undefined, problem, problems: [at(0, 0, `The file is longer than ${longestFile} characters.`)] };
  const errors = document.errors.slice(0, mostErrors);
  const bare = errors.findIndex(({ pos: [from] }) => hasBareTemplate(lineAt(text, from)));
  const templates = bareTemplates(document);
  const unquoted = templates.length > 0 || bare < 0 ? templates : [errors[bare]!.pos];
  const problems = [
    ...errors.slice(0, bare < 0 ? mostErrors : bare).map(({ pos, message }) => at(pos[0], pos[1], sentenceOf(message))),
    ...unquoted.map(([from, to]) => at(from, to, needsQuotes)),
  ];
  if (problems.length > 0) return { value: undefined, problem, problems };
  try {
    return { value: document.toJS({ maxAliasCount: mostAliases }), problem, problems };
  } catch (error) {
    const message = /alias/i.test(String(error))
      ? 'Aliases (`*name`) repeat too much here: write the parts out.'
      : sentenceOf((error as Error).message);
    return { value: undefined, problem, problems: [at(0, 0, message)] };
  }
}

/** Characters from and to. The nearest parent that is there stands for what is missing. */
function placeOf(document: Document, path: YamlPath, key?: 'key'): [number, number] {
  if (key && path.length > 0) {
    const parent = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents;
    const pair = isMap(parent) && parent.items.find((one) => isPair(one) && String(one.key) === String(path.at(-1)));
    if (pair && isScalar(pair.key) && pair.key.range) return [pair.key.range[0], pair.key.range[1]];
  }
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    if (!isNode(node) || !node.range) continue;
    const [from, to] = node.range;
    return isScalar(node) ? [from, to] : [from, from];
  }
  return [0, 0];
}

/** YAML takes braces for a mapping, and one that is a key for a name that nobody meant. */
const needsQuotes = 'A template stands in quotes: `"{{ … }}"`.';

function bareTemplates(document: Document): [number, number][] {
  const found: [number, number][] = [];
  visit(document, {
    Map(_, { items, range }) {
      if (range && items.some(({ key }) => isCollection(key))) found.push([range[0], range[1]]);
    },
  });
  return found;
}

const lineAt = (text: string, offset: number): string =>
  text.slice(text.lastIndexOf('\n', offset - 1) + 1).split('\n', 1)[0]!;

const hasBareTemplate = (line: string): boolean => /\{[{%]/.test(line.replaceAll(/"(?:\\.|[^"\\])*"|'[^']*'/g, ''));

const sentenceOf = (message: string): string => {
  if (/Map keys must be unique/i.test(message)) return 'This key is here twice: keep one.';
  if (/multiple documents/i.test(message)) return 'There are several documents here (`---`): keep one a file.';
  return /[.:!?]$/.test(message) ? message.replace(/:$/, '.') : `${message}.`;
};
