import stringify from 'safe-stable-stringify';
import { visible, visibleLine } from '../protocol/visible.ts';
import type { ToolsQuestion } from '../tools/mcp/toolChanges.ts';
import type { ToolWords } from '../tools/mcp/words.ts';
import { type Excerpt, excerptLine } from './excerpt.ts';
import type { QuestionText } from './questionText.ts';

/** Of what has changed, a dialog shows no more. */
const mostLines = 20;
const mostCharacters = 2000;
const longestName = 130;
/** Characters of one difference, and of what stands around it. */
const longestPart = 200;
const around = 30;
/** Characters of a review, and one tool. */
const longestSides = 8_000_000;
/** Of a line in it: of a very long one, an editor draws the beginning only. */
const pieces = /.{1,160}/gu;

/**
 * The question about changed tools. All that servers say is shown as data: nothing in it is hidden, none of it makes a line of its own.
 * `whole`: nothing about the changes had to be left out, so that it can be answered without a review.
 */
export function changesText(question: ToolsQuestion): QuestionText & { whole: boolean } {
  const { definition, added, changed, removed, trusted } = question;
  const lines = new Lines();
  for (const { was, now } of changed) lines.add('Changed: ', now.name, changesOf(was, now));
  for (const tool of added) lines.add('New: ', tool.name, [...partsOf(tool)].map(said));
  if (removed.length > 0) lines.add('Gone: ', removed.map(({ name }) => name).join(', '), []);
  const claims = [...added, ...changed.map(({ now }) => now)].some(({ annotations }) => annotations?.readOnlyHint);
  const detail = [
    lines.text,
    trusted && claims && 'You trust what this server says only reads: such a tool then runs without a question.',
    !lines.whole && 'Not all of it fits here. Review… shows it beside what it was, and then it can be allowed.',
    `What you allowed for a changed tool goes on with it as it is now. After a no, new and changed tools stay disabled; the others can be used. The server is configured in ${visibleLine(definition.source)}.`,
  ];
  return {
    message: `The MCP server ${line(definition.name).text} has changed its tools. Use them as they are now?`,
    detail: detail.filter(Boolean).join('\n\n'),
    whole: lines.whole,
  };
}

/** The tools that are asked about as they were and as they are, for a diff. */
export function changesSides({ added, changed, removed }: ToolsQuestion): {
  before: string;
  after: string;
  whole: boolean;
} {
  const both: { name: string; was?: Partial<ToolWords>; now?: ToolWords }[] = [
    ...changed.map(({ was, now }) => ({ name: now.name, was: was ?? { name: now.name }, now })),
    ...added.map((now) => ({ name: now.name, now })),
    ...removed.map((was) => ({ name: was.name, was })),
  ].sort((one, other) => (one.name < other.name ? -1 : 1));
  let [before, after] = ['', ''];
  for (const { was, now } of both) {
    if (before.length + after.length > longestSides) return { before, after, whole: false };
    before += was ? block(was) : '';
    after += now ? block(now) : '';
  }
  return { before, after, whole: true };
}

/** Lines of a dialog, as long as they fit. */
class Lines {
  private readonly lines: string[] = [];
  private length = 0;
  private left = 0;
  whole = true;

  /** @param parts each a line */
  add(what: string, name: string, parts: readonly Excerpt[]): void {
    const { text, whole } = line(name);
    const lines = [what + text, ...parts.map((part) => `· ${part.text}`)];
    const length = lines.join('\n').length;
    const fits = this.lines.length + lines.length <= mostLines && this.length + length <= mostCharacters;
    this.whole &&= fits && whole && parts.every((part) => part.whole);
    if (!fits) this.left += 1;
    else this.lines.push(...lines);
    if (fits) this.length += length;
  }

  get text(): string {
    const rest = this.left > 0 ? [`… and ${this.left} more`] : [];
    return [...this.lines, ...rest].join('\n');
  }
}

function changesOf(was: ToolWords | undefined, now: ToolWords): Excerpt[] {
  if (!was) return [{ text: 'what it said before is not known', whole: true }, ...[...partsOf(now)].map(said)];
  const [before, after] = [partsOf(was), partsOf(now)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((label) => {
    const [one, other] = [before.get(label), after.get(label)];
    if (one === other) return [];
    if (one === undefined) return said([label, other!]);
    const gone = said([label, one]);
    if (other === undefined) return { ...gone, text: `gone: ${gone.text}` };
    return differing(label, visibleLine(one), visibleLine(other));
  });
}

function said([label, text]: [label: string, text: string]): Excerpt {
  const [of, shown] = [line(label), excerptLine(visibleLine(text), longestPart)];
  return { text: `${of.text}: “${shown.text}”`, whole: of.whole && shown.whole };
}

/** Where two texts differ, with a little of what stands around it. */
function differing(label: string, was: string, now: string): Excerpt[] {
  if (was === now)
    return [{ text: `${line(label).text}: differs only in blanks or colour codes`, whole: line(label).whole }];
  const [one, other] = [[...was], [...now]];
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start++;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  const show = (word: string, letters: string[]) => {
    const from = Math.max(0, start - around);
    const to = Math.min(letters.length, letters.length - end + around);
    const { text, whole } = excerptLine(letters.slice(from, to).join(''), longestPart + 2 * around);
    const shown = `${from > 0 ? '…' : ''}${text}${to < letters.length ? '…' : ''}`;
    return { text: `${line(label).text} ${word}: “${shown}”`, whole: whole && line(label).whole };
  };
  return [show('was', one), show('is', other)];
}

/** A name that a server has given. */
const line = (name: string): Excerpt => excerptLine(visibleLine(name), longestName);

/** What a tool says, part by part. */
function partsOf({ title, description, inputSchema, annotations }: ToolWords): Map<string, string> {
  const { type: _, properties, required, ...rest } = Object(inputSchema) as Record<string, unknown>;
  const json = (value: unknown) => stringify(value) ?? '';
  const parts: [label: string, text: string | undefined][] = [
    ['title', title],
    ['description', description],
    ...Object.entries(Object(properties)).map(([name, value]) => [`argument ${name}`, json(value)] as [string, string]),
    ['needed arguments', required === undefined ? undefined : json(required)],
    ['schema', Object.keys(rest).length > 0 ? json(rest) : undefined],
    ['says about itself', annotations === undefined ? undefined : json(annotations)],
  ];
  return new Map(parts.filter((part): part is [string, string] => part[1] !== undefined));
}

/** In a review every line of a server's words has a bar before it, which no word of ours has. */
function block({ name = '', title, description, inputSchema, annotations }: Partial<ToolWords>): string {
  const head = line(name);
  const parts: [label: string, text: string | undefined][] = [
    ['name', head.whole ? undefined : name],
    ['title', title],
    ['description', description],
    ['arguments', inputSchema && stringify(inputSchema, null, 2)],
    ['says about itself', annotations && stringify(annotations, null, 2)],
  ];
  const lines = parts.flatMap(([label, text]) => (text === undefined ? [] : [`  ${label}`, ...barred(text)]));
  return `${[head.text, ...lines].join('\n')}\n\n`;
}

const barred = (text: string) =>
  visible(text)
    .split('\n')
    .flatMap((line) => (line.match(pieces) ?? ['']).map((piece, index) => `    ${index > 0 ? '⋮' : '|'} ${piece}`));
