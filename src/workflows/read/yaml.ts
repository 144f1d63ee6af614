import {
  type Document,
  isCollection,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  type Pair,
  visit,
  type YAMLMap,
} from 'yaml';
import { type LocalizedMessage, message, toEnglishText } from '../../protocol/text/l10n.ts';
import { type LocalizableText, toErrorInfo } from '../../protocol/text/localized.ts';
import { fitText } from '../../protocol/text/shorten.ts';
import { exceedsValueLimits } from '../../tools/core/parseLimits.ts';
import { maxYamlAliases, parseYaml } from '../../tools/core/yaml.ts';
import { unquotedYamlSpecials } from './cutText.ts';

/** A message about a position in a file; line and column are one-based. */
export interface YamlProblem {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
  message: string;
  said?: LocalizedMessage;
}

export type YamlPath = readonly (string | number)[];

/** A YAML file as plain data with source positions. */
export interface YamlFile {
  value: unknown;
  problems: YamlProblem[];
  warnings: YamlProblem[];
  /** Creates a problem at the value of `path`, or (`key`) at its key. */
  problem(path: YamlPath, text: LocalizableText, key?: 'key'): YamlProblem;
  isPlain(path: YamlPath): boolean;
}

/** Maximum syntax errors: later errors are mostly consequential. */
const maxErrors = 3;
const longestMessage = 600;

/** Parses YAML 1.2 with positions. Never throws: errors are in `problems`, and `value` is then undefined. */
export function parseYamlWithPositions(text: string): YamlFile {
  const lines = new LineCounter();
  const at = (from: number, to: number, text: LocalizableText): YamlProblem => {
    const [start, end] = [lines.linePos(from), lines.linePos(Math.max(to, from))];
    const position = { line: start.line, column: start.col, endLine: end.line, endColumn: end.col };
    const message = toEnglishText(text);
    if (message.length > longestMessage) return { ...position, message: fitText(message, longestMessage) };
    return { ...position, ...toErrorInfo(text) };
  };
  const parsed = parseYaml(text, { lineCounter: lines, prettyErrors: false, merge: true });
  if (parsed.trouble) {
    const problem: YamlFile['problem'] = (_, text) => at(0, 0, text);
    return {
      value: undefined,
      problem,
      isPlain: () => false,
      warnings: [],
      problems: [at(parsed.trouble.at, parsed.trouble.at, parsed.trouble.message)],
    };
  }
  const { document } = parsed;
  const ranges = new RangeIndex(document);
  const problem: YamlFile['problem'] = (path, text, key) => {
    const [from, to] = ranges.of(path, key);
    return at(from, to, text);
  };
  const isPlain: YamlFile['isPlain'] = (path) => {
    const node = ranges.nodesOn(path).at(path.length);
    return isScalar(node) && node.type === 'PLAIN';
  };
  const errors = document.errors.slice(0, maxErrors);
  const bare = errors.findIndex(({ pos: [from] }) => hasBareTemplate(lineAt(text, from)));
  const templates = bareTemplates(document);
  const unquoted = templates.length > 0 || bare < 0 ? templates : [errors[bare]!.pos];
  const cut = errors.length > 0 ? [] : unquotedYamlSpecials(document, text);
  const [unreadable, warnings] = [cut.filter((one) => one.isProblem), cut.filter((one) => !one.isProblem)].map((all) =>
    all.map(({ from, to, warning: text }) => at(from, to, text)),
  ) as [YamlProblem[], YamlProblem[]];
  const problems = [
    ...errors.slice(0, bare < 0 ? maxErrors : bare).map(({ pos, message }) => at(pos[0], pos[1], sentenceOf(message))),
    ...unquoted.map(([from, to]) => at(from, to, needsQuotes)),
    ...(errors.length > 0 ? [] : ranges.twice.map(([from, to]) => at(from, to, hereTwice))),
    ...unreadable,
  ];
  if (problems.length > 0) return { value: undefined, problem, isPlain, problems, warnings };
  try {
    const value: unknown = document.toJS({ maxAliasCount: maxYamlAliases });
    if (!exceedsValueLimits(value)) return { value, problem, isPlain, problems, warnings };
    return { value: undefined, problem, isPlain, problems: [at(0, 0, tooMuch)], warnings };
  } catch (error) {
    const messageText = /alias/i.test(String(error))
      ? message('Aliases (`*name`) repeat too much here. Write the parts out.')
      : sentenceOf((error as Error).message);
    return { value: undefined, problem, isPlain, problems: [at(0, 0, messageText)], warnings };
  }
}

type TextRange = [from: number, to: number];

class RangeIndex {
  readonly twice: TextRange[] = [];
  private readonly pairs = new Map<YAMLMap, Map<string, Pair>>();

  constructor(private readonly document: Document) {
    visit(document, {
      Map: (_, map) => {
        const pairs = new Map<string, Pair>();
        for (const pair of map.items) {
          const key = keyOf(pair);
          const known = key !== undefined && pairs.has(key);
          if (key === undefined) continue;
          if (known && key !== '<<' && isScalar(pair.key) && pair.key.range)
            this.twice.push([pair.key.range[0], pair.key.range[1]]);
          if (!known) pairs.set(key, pair);
        }
        this.pairs.set(map, pairs);
      },
    });
  }

  nodesOn(path: YamlPath): unknown[] {
    const nodes: unknown[] = [this.document.contents];
    for (const part of path) {
      const holder = nodes.at(-1);
      const found = isMap(holder) ? this.pairs.get(holder)?.get(String(part)) : undefined;
      const node = found ? found.value : isCollection(holder) ? holder.get(part, true) : undefined;
      if (node === undefined) break;
      nodes.push(node);
    }
    return nodes;
  }

  /** Returns a position; a missing value has the position of its nearest existing parent. */
  of(path: YamlPath, key?: 'key'): TextRange {
    const nodes = this.nodesOn(path);
    const holder = nodes.at(path.length - 1);
    const last = isMap(holder) ? this.pairs.get(holder)?.get(String(path.at(-1))) : undefined;
    if (key && last && isScalar(last.key) && last.key.range) return [last.key.range[0], last.key.range[1]];
    for (const node of nodes.slice(1).reverse()) {
      if (!isNode(node) || !node.range) continue;
      const [from, to] = node.range;
      return isScalar(node) ? [from, to] : [from, from];
    }
    return [0, 0];
  }
}

const keyOf = ({ key }: Pair): string | undefined =>
  isScalar(key) ? String(key.value) : isNode(key) ? undefined : String(key);

/** YAML parses braces as a mapping, here used as a key. */
const needsQuotes = message('Put a template in quotes: `"{{ … }}"`.');

function bareTemplates(document: Document): [number, number][] {
  const found: [number, number][] = [];
  visit(document, {
    Map(_, { items, range }) {
      if (range && items.some(({ key }) => isCollection(key))) found.push([range[0], range[1]]);
    },
  });
  return found;
}

const longestLine = 2000;
const lineAt = (text: string, offset: number): string => {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return text.slice(start, start + longestLine).split('\n', 1)[0]!;
};

const hasBareTemplate = (line: string): boolean => /\{[{%]/.test(line.replaceAll(/"(?:\\.|[^"\\])*"|'[^']*'/g, ''));

const tooMuch = message('This file contains too much, counting everything that its aliases (`*name`) repeat.');
const hereTwice = message('This key occurs twice. Keep one.');

const sentenceOf = (message: string): string => {
  return /[.:!?]$/.test(message) ? message.replace(/:$/, '.') : `${message}.`;
};
