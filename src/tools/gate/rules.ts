import { posix } from 'node:path';
import { type OwnedRule, type Rule, ruleSchema } from '../../protocol/policy.ts';
import { globTest } from '../files/glob.ts';
import type { ApprovalRequest } from '../tool.ts';
import { parseCommandLine } from './commandLine.ts';
import { ofServer } from './origin.ts';

/**
 * Rules as they were written by hand, and a sentence for each that cannot be used. Such a rule fails closed: one that
 * allows is left out; any other holds for all that its tool does, for who wrote it wanted less to happen, not more.
 */
export function readRules(written: unknown, scope: OwnedRule['scope']): { rules: OwnedRule[]; problems: string[] } {
  const rules: OwnedRule[] = [];
  const problems: string[] = [];
  for (const value of Array.isArray(written) ? written : [written]) {
    const parsed = ruleSchema.safeParse(value);
    const problem = parsed.success ? problemOf(parsed.data) : parsed.error.issues.map(inWords).join('; ');
    if (parsed.success && problem === undefined) {
      rules.push({ scope, ...parsed.data });
      continue;
    }
    const closed = closedForm(value);
    if (closed) rules.push({ scope, ...closed });
    const until = closed ? `Until then, ${closed.effect} holds for all of ${closed.tool}` : 'It is left out';
    problems.push(`The rule ${JSON.stringify(value)?.slice(0, 200)} cannot be used (${problem}). ${until}.`);
  }
  return { rules, problems };
}

function problemOf({ effect, tool, path, command, site, server }: Rule): string | undefined {
  try {
    if (path !== undefined) globTest(path);
  } catch (error) {
    return `path: ${error instanceof Error ? error.message : error}`;
  }
  if (path !== undefined && /\\|\/\/|\/\.\/|^\s|\s$/.test(path)) return 'path: write it like src/lib/**';
  if (site !== undefined && originOf(site) !== site) return 'site: write it like https://example.com';
  if (server !== undefined && effect !== 'allow')
    return `server: ${effect === 'ask' ? 'ask about' : effect} it by its name`;
  if (server !== undefined && !/^mcp\.[^*]+$/.test(tool)) return 'server: it is for one tool of an MCP server';
  const given = [path, command, site, server].filter((one) => one !== undefined).length;
  return given > 1 ? 'it has several of path, command, site and server; give one' : undefined;
}

function originOf(site: string): string | undefined {
  try {
    const { protocol, origin } = new URL(site);
    return /^https?:$/.test(protocol) ? origin : undefined;
  } catch {
    return undefined;
  }
}

const inWords = ({ path, message }: { path: PropertyKey[]; message: string }) =>
  path.length > 0 ? `${path.join('.')}: ${message}` : message;

function closedForm(value: unknown): Rule | undefined {
  const { effect, tool } = Object(value) as { effect?: unknown; tool?: unknown };
  if (effect === 'allow') return undefined;
  const name = ruleSchema.shape.tool.safeParse(tool);
  return { effect: effect === 'deny' ? 'deny' : 'ask', tool: name.success ? name.data : '*' };
}

/**
 * What *Always Allow…* offers for a question, narrowest first, each the rules that are made together; nothing for what is asked
 * about every time, and nothing where a rule would allow much more than was shown.
 */
export function rulesFor({ call, plan }: Pick<ApprovalRequest, 'call' | 'plan'>): Rule[][] {
  const tool = plan.tool ?? call.name;
  const allow = (more: Partial<Rule> = {}): Rule => ({ effect: 'allow', tool, ...more });
  if (plan.grant === undefined || plan.guarded) return [];
  if (plan.site !== undefined) return [[allow({ site: plan.site })]];
  if (plan.origin) {
    const { starts, identity, definition } = plan.origin;
    return [[allow({ server: { starts, identity, definition } })]];
  }
  if (plan.command !== undefined) {
    const prefixes = commandPrefixes(plan.command);
    return prefixes ? [prefixes.map((command) => allow({ command }))] : [];
  }
  const paths = plan.paths ?? (plan.change ? [plan.change.path] : []);
  const folder = paths.length > 0 ? commonFolder(paths) : '';
  const inFolder = folder !== '' && !/[*?[\]{}\\]/.test(folder);
  return [...(inFolder ? [[allow({ path: `${folder}/**` })]] : []), [allow()]];
}

/** The words that rules for a command begin with, one for each of its parts; undefined when one of them cannot be read or is no matter of course. */
function commandPrefixes(command: string): string[] | undefined {
  const parts = (parseCommandLine(command) ?? []).flatMap(({ commands }) => commands);
  const prefixes = parts.map(({ words }) => commandPrefix(words));
  const all = prefixes.filter((prefix) => prefix !== undefined);
  return parts.length > 0 && all.length === parts.length ? [...new Set(all)] : undefined;
}

/**
 * The program and what it is told to do (`npm test`, `git commit`), where that says what happens; else all of the words. More
 * words may follow: none for what destroys, with other words, something else than was shown.
 */
function commandPrefix(words: readonly string[]): string | undefined {
  const [first = '', second = '', third = ''] = words;
  if (first.includes('=') || words.some((word) => destructive.has(posix.basename(word)))) return undefined;
  if (first === 'git' && words.some((word) => undoesWork.has(word))) return undefined;
  const isName = (word: string) => /^[a-z][\w:-]*$/i.test(word);
  const runs = runners.has(second) && isName(third);
  const count =
    starters.has(first) || !isName(second) ? words.length : runs ? 3 : runners.has(second) ? words.length : 2;
  const prefix = words.slice(0, count);
  return prefix.every((word) => /^[^\s'"\\]+$/.test(word)) ? prefix.join(' ') : undefined;
}

const set = (names: string) => new Set(names.split(' '));
/** Words after which it is the next one that says what happens. */
const runners = set('run run-script exec x dlx compose tool');
/** Programs that start the one named after them. */
const starters = set('env xargs nohup time timeout nice watch exec command cd');
const destructive = set(
  'rm rmdir unlink shred dd truncate mv chmod chown chgrp kill pkill killall sudo doas su eval source find -delete -exec mkfs',
);
const undoesWork = set('push reset clean checkout restore rebase');

function commonFolder(paths: readonly string[]): string {
  const [first, ...others] = paths.map((path) => path.split('/').slice(0, -1));
  let length = first!.length;
  for (const other of others)
    while (first!.slice(0, length).join('/') !== other.slice(0, length).join('/')) length -= 1;
  return first!.slice(0, length).join('/');
}

/** What a rule covers, for a person: `fs.edit in src/**`, `npm test …`. */
export function coverage(rule: Rule): string {
  const { tool, path, command, site, server } = rule;
  if (server !== undefined) return `${ofServer(tool, server)} as it is now`;
  if (site !== undefined) return `${tool} of ${site}`;
  if (command !== undefined) return tool === 'shell.run' ? `${command} …` : `${tool}: ${command} …`;
  return path === undefined ? tool : `${tool} in ${path}`;
}
