import { type OwnedRule, type Rule, ruleSchema } from '../../protocol/policy.ts';
import { globTest } from '../files/glob.ts';
import type { ApprovalRequest } from '../tool.ts';
import { parseCommandLine } from './commandLine.ts';

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

function problemOf({ path, command }: Rule): string | undefined {
  try {
    if (path !== undefined) globTest(path);
  } catch (error) {
    return `path: ${error instanceof Error ? error.message : error}`;
  }
  return path !== undefined && command !== undefined ? 'it has a path and a command; give one' : undefined;
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
 * The rules that *Always Allow…* offers for a question, narrowest first; none for what is asked about every time, and none
 * where a rule would allow much more than was shown.
 */
export function rulesFor({ call, plan }: Pick<ApprovalRequest, 'call' | 'plan'>): Rule[] {
  const tool = plan.tool ?? call.name;
  if (plan.grant === undefined || tool === 'web.fetch') return [];
  if (plan.command !== undefined) {
    const command = commandPrefix(plan.command);
    return command === undefined ? [] : [{ effect: 'allow', tool, command }];
  }
  const paths = plan.paths ?? (plan.change ? [plan.change.path] : []);
  const folder = paths.length > 0 ? commonFolder(paths) : '';
  const inFolder = folder !== '' && !/[*?[\]{}\\]/.test(folder);
  return [...(inFolder ? [{ effect: 'allow' as const, tool, path: `${folder}/**` }] : []), { effect: 'allow', tool }];
}

/**
 * The words that a rule for a command begins with: the program and what it is told to do (`npm test`, `git commit`), where
 * that says what happens; else all of it. Undefined for more than one plain command.
 */
function commandPrefix(command: string): string | undefined {
  const parsed = parseCommandLine(command);
  const only = parsed?.length === 1 && parsed[0]!.commands.length === 1 ? parsed[0]!.commands[0]! : undefined;
  if (!only) return undefined;
  const [, second = '', third = ''] = only.words;
  const isName = (word: string) => /^[a-z][\w:-]*$/i.test(word);
  const count = !isName(second) ? only.words.length : runners.has(second) && isName(third) ? 3 : 2;
  const words = only.words.slice(0, runners.has(second) && count === 2 ? only.words.length : count);
  return words.every((word) => /^[^\s'"\\]+$/.test(word)) ? words.join(' ') : undefined;
}

/** Words after which it is the next one that says what happens. */
const runners = new Set(['run', 'run-script', 'exec', 'x', 'dlx', 'compose', 'tool']);

function commonFolder(paths: readonly string[]): string {
  const [first, ...others] = paths.map((path) => path.split('/').slice(0, -1));
  let length = first!.length;
  for (const other of others)
    while (first!.slice(0, length).join('/') !== other.slice(0, length).join('/')) length -= 1;
  return first!.slice(0, length).join('/');
}

/** What a rule covers, for a person: `fs.edit in src/**`, `npm test …`. */
export function coverage({ tool, path, command }: Rule): string {
  if (command !== undefined) return tool === 'shell.run' ? `${command} …` : `${tool}: ${command} …`;
  return path === undefined ? tool : `${tool} in ${path}`;
}
