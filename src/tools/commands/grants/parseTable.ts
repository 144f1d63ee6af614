import { commandRuleKinds } from '../../../protocol/content/rule.ts';
import { type PackageInstaller, packageInstallers } from './grantRow.ts';
import { isOperandType } from './operands.ts';
import { projectScriptFiles } from './scriptArguments.ts';
import { compileGrantPattern } from './tablePattern.ts';
import type { GrantRowAttributes, GrantTable, GrantTableSection } from './tableRows.ts';
import { isArgumentValueTypeName } from './values.ts';

interface Line {
  number: number;
  indent: number;
  text: string;
}

interface Block {
  heads: Line[];
  body: Line[];
}

type Parsed = GrantRowAttributes | string;

/**
 * Parses a table of commands. Blank lines separate the blocks: ```text
 * @name options that rows name by @name
 * --long -s --format,-f=json|text [kind] all rows up to the next such block; its attributes apply to each of them why: the reason why their
 * other arguments are harmless, and which are not program {one,other?} a row for each of these commands, a line or more; a command with ?
 * was never observed
 * -v --verbose @name options operands: files, /pattern/, one | other ``` A line with an indent of four blanks continues the line before,
 * and a line after `#` is a comment.
 * @throws Error with file and line
 */
export function parseGrantTable(text: string, file: string): GrantTable {
  const sets = new Map<string, string>();
  const sections: GrantTableSection[] = [];
  for (const { heads, body } of blocksOf(text, file)) {
    const [head] = heads as [Line];
    const fail = failingAt(file, head);
    if (head.text.startsWith('@')) {
      if (!/^@[a-z][\w-]*$/i.test(head.text) || heads.length > 1) fail('a set of options has one name, as in @name');
      if (sets.has(head.text)) fail('it is there twice');
      if (!body.every(isOptions)) fail('a set has nothing but options');
      sets.set(head.text, optionsIn(body, sets, file));
    } else if (head.text.startsWith('[')) {
      const kind =
        commandRuleKinds.find((one) => head.text === `[${one}]`) ?? fail(`no kind of ${commandRuleKinds.join(', ')}`);
      const row = attributesOf(body, sets, file);
      if (!row.why) fail('it says not why');
      if (row.installedBy && (kind === 'looks' || kind === 'asks'))
        fail('the copy of a tool that a project has installed is code of the project');
      sections.push({ row: { ...row, kind }, groups: [] });
    } else {
      for (const line of heads)
        if (!/^[^{},?]*(\{[^{}]*\}|[^{},?]\??)$/.test(line.text)) failingAt(file, line)('no command');
      const { groups } = sections.at(-1) ?? fail('it is in no section');
      groups.push({ commands: heads.map(({ text }) => text), row: attributesOf(body, sets, file) });
    }
  }
  return { sets: [...sets], sections };
}

function failingAt(file: string, { number, text }: Line) {
  return (what: string): never => {
    throw new Error(`${file}:${number}: ${what}: ${text}`);
  };
}

function blocksOf(text: string, file: string): Block[] {
  const blocks: Block[] = [];
  let block: Block | undefined;
  for (const [index, written] of text.split('\n').entries()) {
    const line = { number: index + 1, indent: /^ */.exec(written)![0].length, text: written.trim() };
    const fail = failingAt(file, line);
    if (line.text.startsWith('#')) continue;
    if (line.text === '') {
      block = undefined;
      continue;
    }
    if (/\t|\s$/.test(written)) fail('a blank at its end, or a tab');
    if (line.indent === 0) {
      if (!block || block.body.length > 0) {
        block = { heads: [], body: [] };
        blocks.push(block);
      }
      block.heads.push(line);
    } else if (!block) fail('nothing is above it');
    else if (line.indent === 2) block.body.push(line);
    else if (line.indent === 4 && block.body.length > 0) block.body.at(-1)!.text += ` ${line.text}`;
    else fail('lines are indented by two blanks, and those that continue another one by four');
  }
  return blocks;
}

const isOptions = ({ text }: Line): boolean => /^[-@]/.test(text);

const optionsIn = (lines: readonly Line[], sets: ReadonlyMap<string, string>, file: string): string =>
  lines.map((line) => checkedOptions(line.text, sets, failingAt(file, line))).join(' ');

const option = /^-[^\s=,]+(?:,-[^\s=,]+)*(?:=(.*))?$/s;

function checkedOptions(text: string, sets: ReadonlyMap<string, string>, fail: (what: string) => never): string {
  for (const one of text.split(' ')) {
    if (one.startsWith('@')) {
      if (!sets.has(one)) fail(`there is no ${one} above`);
      continue;
    }
    const [, type = ''] = option.exec(one) ?? fail(`${one} is no option`);
    if (/[<>]/.test(type) && !isArgumentValueTypeName(type)) fail(`${type} is no type of a value`);
  }
  return text;
}

function attributesOf(lines: readonly Line[], sets: ReadonlyMap<string, string>, file: string): GrantRowAttributes {
  const options = lines.filter(isOptions);
  const attributes: GrantRowAttributes = options.length > 0 ? { options: optionsIn(options, sets, file) } : {};
  for (const line of lines) {
    const fail = failingAt(file, line);
    if (isOptions(line)) continue;
    const [, name, value] = /^([a-z -]+?)(?:: (.*))?$/s.exec(line.text) ?? fail('neither options nor an attribute');
    const read = value === undefined ? undefined : readers.get(name!);
    const found: Parsed =
      value === undefined
        ? flagsIn(name!)
        : (read?.(value, (text) => checkedOptions(text, sets, fail)) ?? `${name} is no attribute`);
    if (typeof found === 'string') fail(found);
    const { rest, also, ...others } = found as GrantRowAttributes;
    for (const key of Object.keys(others)) if (key in attributes) fail('it is there twice');
    Object.assign(attributes, others, rest && { rest: { ...attributes.rest, ...rest } });
    if (also) attributes.also = attributes.also ? (oneOf(attributes.also, also) ?? fail('its flags differ')) : also;
  }
  return attributes;
}

const unseen = { unseen: true } as const;

const flags = new Map<string, GrantRowAttributes>([
  ['one dash', { oneDash: true }],
  ['options first', { optionsFirst: true }],
  ['reads arguments', { readsArguments: true }],
  ['second shell', { secondShell: true }],
  ['configured', { configured: true }],
  ['unseen', unseen],
]);

const flagsIn = (name: string): Parsed => flags.get(name) ?? `${name} is no attribute`;

const readers = new Map<string, (value: string, options: (text: string) => string) => Parsed>([
  ['why', (why) => ({ why })],
  ['before', (value, options) => ({ before: options(value) })],
  ['operands', (value) => operandsIn(value, (operands) => ({ operands }))],
  ['rest', (value, options) => ({ rest: { options: options(value) } })],
  ['rest operands', (value) => operandsIn(value, (operands) => ({ rest: { operands } }))],
  ['needs', (value) => ({ needs: value.split(' ') })],
  ['needs all', (value) => ({ needsAll: value.split(' ') })],
  ['greedy', (value) => ({ greedy: value.split(' ') })],
  ['also', (value) => (patternAt(value) === value ? { also: value } : 'it is no pattern')],
  ['count', countIn],
  ['installed by', installersIn],
  [
    'scripts',
    (value) => {
      const file = projectScriptFiles.find((one) => one === value);
      return file ? { scripts: file } : `${value} has no scripts`;
    },
  ],
  ['home', (home) => (home === 'go.mod' || home === 'build' ? { home } : `${home} is no home`)],
]);

function operandsIn(value: string, as: (operands: string | string[]) => GrantRowAttributes): Parsed {
  const found: string[] = [];
  for (let rest = value; ; ) {
    const one = rest.startsWith('/') ? patternAt(rest) : /^[^\s,|/]+( \| [^\s,|/]+)*/.exec(rest)?.[0];
    if (one === undefined || (!/^\/| \| /.test(one) && !isOperandType(one))) return `no operands: ${rest}`;
    found.push(one.replaceAll(' | ', '|'));
    if (rest === one) return as(found.length > 1 ? found : found[0]!);
    if (!rest.startsWith(', ', one.length)) return `no comma in front of ${rest.slice(one.length)}`;
    rest = rest.slice(one.length + 2);
  }
}

function patternAt(text: string): string | undefined {
  const found = /^\/(?:[^\\/[]|\\.|\[(?:[^\\\]]|\\.)*\])+\/[is]*/s.exec(text)?.[0];
  if (found === undefined) return undefined;
  try {
    compileGrantPattern(found);
    return found;
  } catch {
    return undefined;
  }
}

// Combines two patterns with "or"; undefined if their flags differ.
function oneOf(one: string, other: string): string | undefined {
  const [, source, flags] = /^\/(.*)\/(\w*)$/s.exec(one)!;
  return other.endsWith(`/${flags}`) ? `/${source}|${other.slice(1, other.lastIndexOf('/'))}/${flags}` : undefined;
}

function countIn(value: string): Parsed {
  const [, min, range, max] = /^(\d)(?:(-)(\d)|\+)?$/.exec(value) ?? [];
  if (min === undefined) return `${value} is no count`;
  const most = range ? max : value.endsWith('+') ? undefined : min;
  return { ...(min !== '0' && { min: Number(min) }), ...(most !== undefined && { max: Number(most) }) };
}

function installersIn(value: string): Parsed {
  const found = value.split(', ');
  const isKnown = (name: string): name is PackageInstaller => packageInstallers.some((one) => one === name);
  return found.every(isKnown) ? { installedBy: found } : `${value} installs nothing`;
}
