import * as paths from 'node:path';
import { readRegularFile } from '../../sandbox/regularFile.ts';

export interface CommandRecipe {
  folder: string;
  lines: readonly string[];
}

const maxBytes = 1_000_000;
const maxTargets = 30;

/** Returns the scripts run by a package manager, including pre and post scripts; undefined if there are none. */
export async function findPackageScriptRecipe(
  words: readonly string[],
  from: string,
): Promise<CommandRecipe | undefined> {
  const optionIndex = words.findIndex((word) => /^(-C|--prefix|--dir|--cwd)$/.test(word));
  const folder = optionIndex < 0 ? from : paths.resolve(from, words[optionIndex + 1] ?? '.');
  const own = words.filter((_, at) => optionIndex < 0 || (at !== optionIndex && at !== optionIndex + 1));
  const at = own.findIndex((word) => !word.startsWith('-'));
  if (at < 0) return undefined;
  const isRun = /^(run|run-script|rum|urn)$/.test(own[at]!);
  const name = isRun ? own[at + 1] : own[at] === 't' ? 'test' : own[at];
  const scripts = await scriptsOf(folder);
  if (name === undefined || !scripts) return undefined;
  const rest = own
    .slice(at + (isRun ? 2 : 1))
    .filter((word) => word !== '--')
    .map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  const script = scripts.get(name);
  const whole = script === undefined ? undefined : [script, ...rest].join(' ');
  const lines = [scripts.get(`pre${name}`), whole, scripts.get(`post${name}`)];
  return { folder, lines: lines.filter((line) => line !== undefined) };
}

async function scriptsOf(folder: string): Promise<Map<string, string> | undefined> {
  const text = await textOf(paths.join(folder, 'package.json'));
  if (text === undefined) return undefined;
  try {
    const { scripts } = Object(JSON.parse(text)) as { scripts?: unknown };
    return new Map(
      Object.entries(Object(scripts)).filter((one): one is [string, string] => typeof one[1] === 'string'),
    );
  } catch {
    return undefined;
  }
}

/** Returns the recipes of the targets of `make` and of their prerequisites; undefined without a makefile or a target. */
export async function findMakefileRecipe(words: readonly string[], from: string): Promise<CommandRecipe | undefined> {
  const argumentOf = (option: RegExp) => {
    const at = words.findIndex((word) => option.test(word));
    return at < 0 ? undefined : words[at + 1];
  };
  const attached = words.find((word) => /^-C./.test(word))?.slice(2);
  const folder = paths.resolve(from, attached ?? argumentOf(/^(-C|--directory)$/) ?? '.');
  const named = argumentOf(/^(-f|--file|--makefile)$/);
  const names = named === undefined ? ['GNUmakefile', 'makefile', 'Makefile'] : [named];
  const text = (await Promise.all(names.map((name) => textOf(paths.resolve(folder, name))))).find(Boolean);
  if (text === undefined) return undefined;
  const takesValue = (word: string | undefined) => /^-[CfjlIoW]$|^--(directory|file|makefile)$/.test(word ?? '');
  const targets = words.filter((word, at) => !/^-|=/.test(word) && !takesValue(words[at - 1]));
  const given = words.filter((word) => /^\w+=/.test(word));
  return { folder, lines: linesOf(text, targets, given) };
}

function linesOf(text: string, targets: readonly string[], given: readonly string[]): string[] {
  const rules = new Map<string, { needs: string[]; lines: string[] }>();
  const variables = new Map([['RM', 'rm -f']]);
  let open: { needs: string[]; lines: string[] }[] = [];
  for (const line of text.replace(/\\\r?\n[ \t]*/g, ' ').split(/\r?\n/)) {
    const set = /^(?:export\s+)?([\w.-]+)\s*(?::{0,2}|[?+])=\s*(.*?)\s*$/.exec(line);
    const rule = /^([^\s#:=][^#:=]*?)\s*::?(?!=)\s*([^;#]*)(?:;\s*(.*))?/.exec(line);
    if (line.startsWith('\t')) for (const one of open) one.lines.push(line.slice(1));
    else if (set) variables.set(set[1]!, set[2]!);
    else if (rule) {
      open = rule[1]!.split(/\s+/).map((name) => {
        const one = rules.get(name) ?? { needs: [], lines: [] };
        rules.set(name, one);
        one.needs.push(...rule[2]!.split(/[\s|]+/).filter(Boolean));
        if (rule[3]) one.lines.push(rule[3]);
        return one;
      });
    } else if (!/^\s*(#|$)/.test(line)) open = [];
  }
  for (const one of given) variables.set(one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1));
  const lines: string[] = [];
  const seen = new Set<string>();
  const add = (target: string) => {
    const rule = rules.get(target);
    if (!rule || seen.has(target) || seen.size >= maxTargets) return;
    seen.add(target);
    for (const need of rule.needs) add(need);
    lines.push(...rule.lines.map((line) => expanded(line.replace(/^[@+-]+/, ''), target, variables)));
  };
  for (const target of targets) add(target);
  return lines;
}

// Expands the variables of a line; a variable not set in the file stays as an unknown shell variable.
function expanded(line: string, target: string, variables: ReadonlyMap<string, string>): string {
  let text = line.replaceAll('$@', target);
  for (let depth = 0; depth < 4; depth++)
    text = text
      .slice(0, maxLine)
      .replace(/\$[({]([\w.-]+)[)}]/g, (whole, name: string) => variables.get(name) ?? whole);
  return text
    .replace(/\$[({][^(){}]*[)}]/g, '"$UNKNOWN"')
    .replace(/(?<!\$)\$[<^?*+|]/g, '"$UNKNOWN"')
    .replaceAll('$$', '$');
}

// Maximum characters: a self-referencing variable would grow forever.
const maxLine = 20_000;

const textOf = (path: string): Promise<string | undefined> =>
  readRegularFile(path, maxBytes).then(
    (bytes) => bytes?.toString('utf8'),
    () => undefined,
  );
