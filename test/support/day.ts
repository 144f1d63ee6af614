import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import type { ScopedPermissionRule } from '../../src/protocol/content/rule.ts';
import { builtinTools } from '../../src/tools/host/builtinTools.ts';
import { alwaysAllowRuleChoices, isProgramChoice } from '../../src/tools/policy/rules.ts';
import type { runCommand } from '../../src/tools/shell/runCommand.ts';
import { conversation } from '../tools/conversation.ts';
import { temporaryWorkspace } from './workspace.ts';

export interface Day {
  id: string;
  kind: string;
  tree: Record<string, string>;
  commands: { command: string; harm: 'none' | 'changes' | 'danger' }[];
}

/** How a day went: of the harmless commands after the first ten, how many were asked about; and what ran unasked though it must not. */
export interface Played {
  id: string;
  harmless: number;
  asked: number;
  /** The questions of the harmless commands after the first ten. */
  questions: string[];
  dangers: string[];
  changes: string[];
  /**
   * In the sandbox: the questions about programs that do not work inside, the commands that a rule for such a program answered, and the
   * dangerous commands that ran inside unasked.
   */
  outside: string[];
  answered: string[];
  confined: string[];
}

const own = paths.join(import.meta.dirname, 'days');
const shared = paths.join(import.meta.dirname, '../../../shared/cases/day-commands.json');

/** Days of commands as agents write them, on projects of several kinds; more of them where they lie beside the project. */
export function days(): Day[] {
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
  const trees = read(paths.join(own, 'trees.json')) as Record<string, Day['tree']>;
  const files = readdirSync(own).filter((file) => file !== 'trees.json');
  const others = existsSync(shared)
    ? (read(shared).projects as Day[]).map((day) => ({ ...day, tree: trees[day.id]! }))
    : [];
  return [...others, ...files.map((file) => read(paths.join(own, file)) as Day)];
}

/** Rules that the user of a day makes: for the exact words of each command, for its row of the table, or for its kind. */
export const breadths = ['exact', 'row', 'kind'] as const;
export type Breadth = (typeof breadths)[number];

/** The preset of sandboxed commands, with a rule for each program that runs outside, where it is offered, and no other rule. */
export type Way = Breadth | 'sandbox';

/**
 * Plays a day with *Auto-approve reads*: each approval is answered with the rule of this breadth, or the widest below it that is offered, else
 * with *Allow*; what is dangerous is denied. Nothing runs but the shell's own part of what was approved: the files that its output goes to
 * are made. With the sandbox, commands whose changes can be undone run in it.
 */
export async function play({ id, tree, commands }: Day, breadth: Way = 'kind'): Promise<Played> {
  const workspace = await temporaryWorkspace(tree);
  const temporary = realpathSync(mkdtempSync(paths.join(tmpdir(), 'day-')));
  const { TMPDIR } = process.env;
  process.env.TMPDIR = temporary;
  const isSandboxed = breadth === 'sandbox';
  const sandbox = { begin: () => Promise.reject(new Error('Nothing is run here.')) };
  const covers = async () => ({ isWhole: true }) as const;
  const tools = builtinTools({ shell: { run: makeOutputs, ...(isSandboxed && { sandbox, covers }) } });
  const rules: ScopedPermissionRule[] = [];
  const played: Played = {
    id,
    harmless: 0,
    asked: 0,
    questions: [],
    dangers: [],
    changes: [],
    outside: [],
    answered: [],
    confined: [],
  };
  let harmless = 0;
  try {
    for (const { command, harm } of commands) {
      const text = command.replaceAll('/tmp/', `${temporary}/`).replaceAll('{WS}', workspace.root);
      let place: 'inside' | 'outside' | undefined;
      const { call, asked } = conversation(workspace, {
        tools,
        policy: { readOnlyCommands: true, rules, ...(isSandboxed && { preset: 'sandbox' as const }) },
        answer: harm === 'danger' ? 'deny' : 'allow',
        beforeEvent(event) {
          if (event.type === 'tool-start') place = event.sandbox;
          if (event.type === 'tool-start' && asked.length === 0) throw new Error('Nothing is run here.');
        },
      });
      await call('shell.run', { command: text });
      const offered = (asked.length > 0 ? alwaysAllowRuleChoices(asked[0]!) : []).filter(
        (choice) => isProgramChoice(choice) === isSandboxed,
      );
      const made =
        isSandboxed || breadth === 'kind' ? offered.at(-1) : offered.slice(0, breadths.indexOf(breadth) + 1).at(-1);
      const isMade = !isSandboxed || harm !== 'danger';
      for (const rule of isMade ? (made ?? []) : []) rules.push({ scope: 'workspace', ...rule });
      const isAnswered = isSandboxed && asked.length === 0 && place === 'outside';
      if (harm !== 'none' && asked.length === 0) {
        if (place === 'inside') played.confined.push(command);
        else if (isAnswered && harm === 'changes') played.answered.push(command);
        else (harm === 'danger' ? played.dangers : played.changes).push(command);
      }
      if (harm !== 'none' || ++harmless <= 10) continue;
      played.harmless += 1;
      if (isAnswered) played.answered.push(command);
      if (asked.length > 0) (asked[0]!.plan.sandbox === 'outside' ? played.outside : played.questions).push(command);
    }
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    rmSync(temporary, { recursive: true, force: true });
    await workspace.cleanup();
  }
  return { ...played, asked: played.questions.length };
}

/** What a shell does of a command whose programs are not there. */
const makeOutputs: typeof runCommand = async (line) => {
  for (const [, path] of line.matchAll(/>>? *(\/[\w./-]+\/[\w.-]+)/g))
    if (path !== '/dev/null') writeFileSync(path!, '');
  return { exitCode: 0, output: '' };
};
