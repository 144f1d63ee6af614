import * as z from 'zod';
import { globTest } from '../files/glob.ts';
import { parseCommandLine } from './commandLine.ts';

/** What is free without a rule; each is also free in the ones after it. */
export const presets = ['ask-everything', 'reads-free', 'edits-free', 'autopilot'] as const;
export type Preset = (typeof presets)[number];

/**
 * What a person has decided once for many calls. `tool` is a name, or a beginning and `*` (`fs.*`); `path` a glob of
 * workspace-relative paths, all of which must match; `command` the words a command begins with.
 */
export const ruleSchema = z.strictObject({
  effect: z.enum(['allow', 'ask', 'deny']),
  tool: z.string().min(1).max(200),
  path: z.string().min(1).max(500).optional(),
  command: z.string().min(1).max(1000).optional(),
});
export type Rule = z.infer<typeof ruleSchema>;

/** A rule and whose it is, for the reason that is shown. */
export interface OwnedRule extends Rule {
  scope: 'workspace' | 'user';
}

export interface Policy {
  preset: Preset;
  /** Commands that are known to only read run without a question. */
  readOnlyCommands: boolean;
  rules: readonly OwnedRule[];
}

/** The rules of nobody: what a person gets who has set nothing. */
export const defaultPolicy: Policy = { preset: 'reads-free', readOnlyCommands: false, rules: [] };

/** A call as a policy sees it. */
export interface Subject {
  tool: string;
  risk: 'read' | 'change' | 'execute';
  /** Workspace-relative. */
  paths: readonly string[];
  command?: string;
  /** The command is known to only read. */
  readsOnly: boolean;
  /** It is asked about every time, whatever was allowed: it could run code, loosen the gate, or give secrets away. */
  always: boolean;
  trusted: boolean;
}

export interface Verdict {
  effect: 'allow' | 'ask' | 'deny';
  /** Why, in words for the card, the question or the model. */
  reason: string;
}

/** Deny beats ask beats allow; what is always asked about is covered by no rule and no preset. */
export function decide(policy: Policy, subject: Subject): Verdict {
  const matching = policy.rules.filter((rule) => matches(rule, subject));
  const first = (effect: Rule['effect']) => matching.find((rule) => rule.effect === effect);
  const denied = first('deny');
  if (denied) return { effect: 'deny', reason: `Denied by ${described(denied)}.` };
  if (subject.always) return { effect: 'ask', reason: 'This is asked about every time.' };
  const asked = first('ask');
  if (asked) return { effect: 'ask', reason: `Asked about because of ${described(asked)}.` };
  const allowed = first('allow');
  if (allowed) return { effect: 'allow', reason: `Allowed by ${described(allowed)}.` };
  if (subject.readsOnly && policy.readOnlyCommands)
    return { effect: 'allow', reason: 'Allowed because this command only reads.' };
  return byPreset(policy.preset, subject);
}

function byPreset(preset: Preset, { risk, trusted }: Subject): Verdict {
  const freeFrom: Record<Subject['risk'], Preset> = { read: 'reads-free', change: 'edits-free', execute: 'autopilot' };
  const free = presets.indexOf(preset) >= presets.indexOf(freeFrom[risk]) && (risk === 'read' || trusted);
  if (!free) return { effect: 'ask', reason: 'Nothing allows this without a question.' };
  return { effect: 'allow', reason: `Allowed because ${presetWords[preset]}.` };
}

const presetWords: Record<Preset, string> = {
  'ask-everything': 'everything is asked about',
  'reads-free': 'reads are free',
  'edits-free': 'edits are free',
  autopilot: 'autopilot is on',
};

/** A rule in words: `your rule “shell.run npm test”`. */
export function described({ scope, tool, path, command }: OwnedRule): string {
  const what = [tool, path, command].filter(Boolean).join(' ');
  return `${scope === 'user' ? 'your rule' : 'your rule for this workspace'} “${what}”`;
}

function matches(rule: Rule, subject: Subject): boolean {
  const named = rule.tool.endsWith('*') ? subject.tool.startsWith(rule.tool.slice(0, -1)) : subject.tool === rule.tool;
  if (!named) return false;
  const widens = rule.effect === 'allow';
  if (rule.path !== undefined && !matchesPaths(rule.path, subject.paths, widens)) return false;
  return rule.command === undefined || matchesCommand(rule.command, subject.command ?? '', widens);
}

/** To allow, every path must match; to ask or deny, one is enough. */
function matchesPaths(glob: string, paths: readonly string[], widens: boolean): boolean {
  let test: (path: string) => boolean;
  try {
    test = globTest(glob);
  } catch {
    return !widens; // a glob that cannot be understood allows nothing and stops everything
  }
  return widens ? paths.length > 0 && paths.every(test) : paths.some(test);
}

/**
 * To allow, the command must be one plain command that begins with the rule's words: nothing can hang on behind. To ask or
 * deny, it is enough that some part of the text does, quotes or not.
 */
function matchesCommand(prefix: string, command: string, widens: boolean): boolean {
  const wanted = prefix.trim().split(/\s+/);
  const begins = (words: readonly string[]) => wanted.every((word, index) => words[index] === word);
  if (widens) {
    const parsed = parseCommandLine(command);
    const only = parsed?.length === 1 && parsed[0]!.commands.length === 1 ? parsed[0]!.commands[0] : undefined;
    return only !== undefined && begins(only.words);
  }
  const parts = command.split(/&&|[;|&\n()`{}]/);
  return parts.some((part) => {
    const words = part.split(/[\s'"\\]+/).filter(Boolean);
    return words.some((_, at) => begins(words.slice(at)));
  });
}
