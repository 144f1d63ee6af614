import { posix } from 'node:path';
import {
  commandRuleKindNames,
  type PermissionRule,
  permissionRuleSchema,
  type ScopedPermissionRule,
} from '../../protocol/content/rule.ts';
import { type LocalizedMessage, message, toEnglishText } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, type LocalizableText, type Localizer } from '../../protocol/text/localized.ts';
import { type CommandPart, commandPartFolders, readOnlyCommandsRuleId } from '../core/commandPart.ts';
import { folderAccessTool, networkAccessTool } from '../core/commandSandbox.ts';
import { createGlobMatcher } from '../core/glob.ts';
import type { ApprovalRequest, ToolCallPlan } from '../core/tool.ts';
import { serverRuleLabel } from '../core/toolOrigin.ts';
import { abbreviateHome } from './homePaths.ts';
import { cannotBeUndone } from './irreversibleVerbs.ts';

/**
 * Parses rules written by hand, with one sentence for each invalid rule. Invalid rules fail closed: an allow rule is dropped; other rules
 * apply to all calls of the tool.
 */
export function parsePolicyRules(
  written: unknown,
  scope: ScopedPermissionRule['scope'],
  localizer: Localizer = toEnglishText,
): { rules: ScopedPermissionRule[]; problems: string[] } {
  const rules: ScopedPermissionRule[] = [];
  const problems: string[] = [];
  for (const value of Array.isArray(written) ? written : [written]) {
    const parsed = permissionRuleSchema.safeParse(value);
    const problem = parsed.success ? problemOf(parsed.data) : parsed.error.issues.map(issueText).join('; ');
    if (parsed.success && problem === undefined) {
      rules.push({ scope, ...parsed.data });
      continue;
    }
    const closed = closedForm(value);
    if (closed) rules.push({ scope, ...closed });
    const until = closed
      ? message('Until then, {0} applies to all of {1}', closed.effect, closed.tool)
      : message('It is left out');
    const rule = `${JSON.stringify(value)?.slice(0, 200)}`;
    problems.push(localizer(message('The rule {0} is invalid ({1}). {2}.', rule, problem!, until)));
  }
  return { rules, problems };
}

function problemOf(rule: PermissionRule): LocalizedMessage | string | undefined {
  const { effect, tool, path, command, folder, varies, kind, site, registries, program, location, server } = rule;
  try {
    if (path !== undefined) createGlobMatcher(path);
  } catch (error) {
    return `path: ${error instanceof Error ? error.message : error}`;
  }
  if (path !== undefined && /\\|\/\/|\/\.\/|^\s|\s$/.test(path))
    return message('path: write it like {0}', 'src/lib/**');
  if (site !== undefined && originOf(site) !== site) return message('site: write it like {0}', 'https://example.com');
  if (registries?.some((one) => originOf(one) !== one))
    return message('registries: write them like {0}', 'https://example.com');
  if (server !== undefined && effect !== 'allow')
    return effect === 'ask' ? message('server: ask by its name') : message('server: deny by its name');
  if (server !== undefined && !/^(mcp|vscode)\.[^*]+$/.test(tool))
    return message('server: only for one tool of an MCP server or of the editor');
  if (effect !== 'allow' && (folder ?? varies ?? kind) !== undefined)
    return effect === 'ask'
      ? message('folder, varies, kind: ask for a command anywhere, by its first words')
      : message('folder, varies, kind: deny a command anywhere, by its first words');
  if ((folder !== undefined && (command ?? kind) === undefined) || (varies && command === undefined))
    return message('folder, varies: only for a command');
  const given = [path, command, kind, site, server].filter((one) => one !== undefined).length;
  if (registries && (effect !== 'allow' || tool !== networkAccessTool || given > 0))
    return message('registries: only to allow {0}', networkAccessTool);
  if (program !== undefined && (effect !== 'allow' || tool !== 'shell.run' || given > 0 || registries))
    return message('program: only to allow {0}', 'shell.run');
  const isFolderRule = effect === 'allow' && tool === folderAccessTool && given === 0 && !registries;
  if (location !== undefined && !isFolderRule) return message('location: only to allow {0}', folderAccessTool);
  if (isFolderRule && !isAbsoluteFolder(location ?? ''))
    return message('location: write the path of a folder: {0}', '/data');
  return given > 1 ? message('it has several of path, command, kind, site and server; use one') : undefined;
}

const isAbsoluteFolder = (path: string): boolean =>
  path.length > 1 && posix.isAbsolute(path) && posix.normalize(path) === path && !path.endsWith('/');

function originOf(site: string): string | undefined {
  try {
    const { protocol, origin } = new URL(site);
    return /^https?:$/.test(protocol) ? origin : undefined;
  } catch {
    return undefined;
  }
}

const issueText = ({ path, message }: { path: PropertyKey[]; message: string }) =>
  path.length > 0 ? `${path.join('.')}: ${message}` : message;

function closedForm(value: unknown): PermissionRule | undefined {
  const { effect, tool } = Object(value) as { effect?: unknown; tool?: unknown };
  if (effect === 'allow') return undefined;
  const name = permissionRuleSchema.shape.tool.safeParse(tool);
  return { effect: effect === 'deny' ? 'deny' : 'ask', tool: name.success ? name.data : '*' };
}

/**
 * Returns the choices of *Always Allow…* for an approval, narrowest first; each choice is a set of rules. Empty for calls that always need
 * an approval, and if a rule would allow much more than shown.
 */
export function alwaysAllowRuleChoices({ call, plan }: Pick<ApprovalRequest, 'call' | 'plan'>): PermissionRule[][] {
  const tool = plan.tool ?? call.name;
  const allow = (more: Partial<PermissionRule> = {}): PermissionRule => ({ effect: 'allow', tool, ...more });
  if (plan.grant === undefined || plan.guarded) return [];
  if (plan.site !== undefined) {
    const { site, registries } = plan;
    return [[allow({ site })], ...(registries ? [[allow({ registries: [...registries] })]] : [])];
  }
  if (plan.origin) {
    const { starts, identity, definition } = plan.origin;
    return [[allow({ server: { starts, identity, definition } })]];
  }
  if (plan.command !== undefined) return [...commandRules(plan, allow), ...programRules(plan, allow)];
  const paths = plan.paths ?? (plan.change ? [plan.change.path] : []);
  const folder = paths.length > 0 ? commonFolder(paths) : '';
  const inFolder = folder !== '' && !/[*?[\]{}\\]/.test(folder);
  return [...(inFolder ? [[allow({ path: `${folder}/**` })]] : []), [allow()]];
}

/**
 * Returns at most four choices of `alwaysAllowRuleChoices`, most useful first. For a command: its table row (so that tests of other files need no
 * approval), its kind at the widest, and its exact words.
 */
export function offeredAllowChoices(offered: readonly PermissionRule[][]): PermissionRule[][] {
  const programs = offered.filter(isProgramChoice);
  const [exact, row, ...kinds] = offered.filter((rules) => !isProgramChoice(rules));
  if (exact === undefined || row === undefined || exact[0]?.command === undefined) return offered.slice(0, 3);
  return [row, ...kinds.slice(-1), exact, ...programs];
}

/** Tests for the choice that covers a program outside of the sandbox; it is offered for one workspace only. */
export const isProgramChoice = (rules: readonly PermissionRule[]): boolean =>
  rules.some(({ program }) => program !== undefined);

/** Returns the rule for a program that does not work in the sandbox, if nothing else in the command needs a rule. */
function programRules(
  { parts = [], sandbox }: Pick<ApprovalRequest['plan'], 'parts' | 'sandbox'>,
  allow: (more: Partial<PermissionRule>) => PermissionRule,
): PermissionRule[][] {
  const [program, ...others] = new Set(parts.filter(({ reads }) => !reads).map((part) => part.program));
  return sandbox === 'outside' && program !== undefined && others.length === 0 ? [[allow({ program })]] : [];
}

/**
 * Returns the rules for a command: the exact words in the folder; the matching table rows; the kinds of the rows; and all of these in all
 * packages of the project. Empty for commands that delete, move, publish or push.
 */
function commandRules(
  plan: ToolCallPlan,
  allow: (more: Partial<PermissionRule>) => PermissionRule,
): PermissionRule[][] {
  const { command = '', folder = '.', parts, packages = [] } = plan;
  const inFolder = (ruleFolder: string) => (ruleFolder === '.' ? {} : { folder: ruleFolder });
  const needed = (parts ?? []).filter(({ reads }) => !reads);
  // A row knows the meaning of its words: `-c Release` does not release.
  const unknownParts =
    needed.length > 0 && needed.every(({ words }) => words !== '')
      ? needed.filter(({ row }) => !row)
      : [{ words: command }];
  if (unknownParts.some(({ words }) => cannotBeUndone(words))) return [];
  const [only] = needed;
  // Neutral prefixes vary between calls, so the exact rule omits them.
  const exact =
    needed.length === 1 && only!.words !== '' && only!.folders.length === 1
      ? { command: only!.words, ...inFolder(only!.folders[0]!) }
      : { command: command.trim(), ...inFolder(folder) };
  const offered = exact.command.length > longestCommand ? [] : [[allow(exact)]];
  const known = needed.filter(({ row }) => row);
  const folders = [...new Set(known.flatMap(commandPartFolders))];
  // Parts without a row keep their exact rule, together with the whole line.
  const others = known.length < needed.length ? offered.flat() : [];
  if (known.length === 0 || (known.length < needed.length && others.length === 0)) return offered;
  const each = (of: (part: CommandPart) => Partial<PermissionRule>) => [
    ...distinct(
      known.flatMap((part) =>
        commandPartFolders(part).map((ruleFolder) => allow({ ...of(part), ...inFolder(ruleFolder) })),
      ),
    ),
    ...others,
  ];
  const kinds = [...new Set(known.map(({ row }) => row!.kind))];
  const inPackages = folders.every((ruleFolder) => packages.includes(ruleFolder)) && packages.length > 1;
  const everywhere = kinds.flatMap((kind) => packages.map((ruleFolder) => allow({ kind, ...inFolder(ruleFolder) })));
  return [
    ...offered,
    each(({ row }) => ({ command: row!.copies?.[0] ?? row!.command, varies: true })),
    each(({ row }) => ({ kind: row!.kind })),
    ...(inPackages ? [[...everywhere, ...others]] : []),
  ];
}

const longestCommand = 2000;

const distinct = (rules: readonly PermissionRule[]): PermissionRule[] => [
  ...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values(),
];

function commonFolder(paths: readonly string[]): string {
  const [first, ...others] = paths.map((path) => path.split('/').slice(0, -1));
  let length = first!.length;
  for (const other of others)
    while (first!.slice(0, length).join('/') !== other.slice(0, length).join('/')) length -= 1;
  return first!.slice(0, length).join('/');
}

export const formatRuleCoverage = (rule: PermissionRule, localizer: Localizer = toEnglishText): string =>
  [coveredBy(rule), whereOf(rule)].flatMap((one) => (one === undefined ? [] : [localizer(one)])).join(' ');

export function summarizeRuleCoverage(
  rules: readonly PermissionRule[],
  localizer: Localizer = toEnglishText,
): { what: string; where?: string } {
  const each = (of: (rule: PermissionRule) => LocalizableText | undefined) => [
    ...new Set(rules.map(of).flatMap((one) => (one === undefined ? [] : [localizer(one)]))),
  ];
  const where = each(whereOf);
  const what = each(coveredBy).reduce(
    (all, one) => (all === '' ? one : localizer(message('{0} and {1}', all, one))),
    '',
  );
  return { what, ...(where.length > 0 && { where: where.join(', ') }) };
}

function coveredBy(rule: PermissionRule): LocalizableText {
  const { effect, tool, path, command, kind, varies, site, registries, program, location, server } = rule;
  if (server !== undefined) return message('{0} as it is now', serverRuleLabel(tool, server));
  if (site !== undefined && tool === networkAccessTool) return message('network access to {0}', new URL(site).host);
  if (site !== undefined) return message('{0} of {1}', tool, site);
  if (registries) return message('network access to package registries');
  if (location !== undefined) return message('writing to {0} in the sandbox', abbreviateHome(location));
  if (program !== undefined) return message('{0} outside the sandbox', program);
  if (kind !== undefined) return message(commandRuleKindNames[kind]);
  if (command === undefined) return path === undefined ? tool : message('{0} in {1}', tool, path);
  const started = varies ? copyIn(command).started : command;
  const what = varies && command === readOnlyCommandsRuleId ? message('commands that only read') : started;
  const words = tool === 'shell.run' ? what : joinLocalizableTexts([`${tool}:`, what]);
  if (effect !== 'allow') return joinLocalizableTexts([words, '…']);
  return varies ? message('{0} with other names and harmless options', words) : words;
}

function whereOf({ effect, command, kind, folder, varies }: PermissionRule): LocalizableText | undefined {
  if (effect !== 'allow' || (command ?? kind) === undefined) return undefined;
  const ruleFolder = folder === undefined ? message('in the workspace’s root') : message('in {0}', folder);
  const launchers = varies && launchersOf(copyIn(command!).copy);
  return launchers ? joinLocalizableTexts([launchers, ruleFolder]) : ruleFolder;
}

function copyIn(command: string): { copy?: string; started: string } {
  const [, copy, started] = /^(npm|venv|uv): (.*)$/s.exec(command) ?? [];
  return copy === undefined ? { started: command } : { copy, started: started! };
}

function launchersOf(copy: string | undefined): LocalizedMessage | undefined {
  switch (copy) {
    case 'npm':
      return message('run through npx, exec or .bin,');
    case 'venv':
      return message('run through .venv/bin, poetry run or pdm run,');
    case 'uv':
      return message('run through uv run or .venv/bin,');
    default:
      return undefined;
  }
}
