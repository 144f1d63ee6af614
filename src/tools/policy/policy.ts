import { posix } from 'node:path';
import type { ApprovalBasis, ApprovalBasisCode } from '../../protocol/content/approvalBasis.ts';
import { approvalBasisMessages } from '../../protocol/content/basisMessages.ts';
import { type ApprovalPolicy, type ApprovalPreset, approvalPresets } from '../../protocol/content/policy.ts';
import type { PermissionRule } from '../../protocol/content/rule.ts';
import { commandRuleKindNames, type ScopedPermissionRule } from '../../protocol/content/rule.ts';
import { type LocalizedMessage, message, toEnglishText } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { type CommandPart, commandPartFolders } from '../core/commandPart.ts';
import { folderAccessTool } from '../core/commandSandbox.ts';
import { createGlobMatcher } from '../core/glob.ts';
import { ruleAppliesToOrigin, ruleMismatchReason, serverRuleLabel, type ToolOrigin } from '../core/toolOrigin.ts';
import { approximateArguments } from '../shellSyntax/commandLine.ts';

/**
 * Call in the view of a policy. `through` is the tool called instead; rules that ask or deny also match that name. `paths` and `folder` are
 * workspace-relative; `named` holds paths in the command (a folder ends in `/`, the workspace is ''). `site` is an origin:
 * `https://example.com`. `readsOnly`: the command only reads.
 */
export interface PolicySubject {
  tool: string;
  through?: string;
  risk: 'read' | 'change' | 'execute';
  paths: readonly string[];
  command?: string;
  folder?: string;
  parts?: readonly CommandPart[];
  named?: readonly string[];
  site?: string;
  origin?: ToolOrigin;
  readsOnly: boolean;
  /** The call always needs an approval: it could run code, weaken the gate, or disclose secrets. */
  always: boolean;
  /** The call needs an approval only because it discards files, and an undo restores all of them: the preset may allow it. */
  undoable?: true;
  /** The call would run in the sandbox. */
  sandboxed?: true;
  trusted: boolean;
}

export interface Verdict {
  effect: 'allow' | 'ask' | 'deny';
  reason: string;
  basis?: ApprovalBasis & { by: ApprovalBasisCode };
  said?: LocalizedMessage;
  /** Allowed only as a read: the checked argument vectors run without a shell. */
  onlyReads?: true;
  /** The call runs in the sandbox. */
  isSandboxed?: true;
  /** Allowed by rules for exactly this command, which run it as they were made. */
  isExact?: true;
  byRule?: true;
}

/** Decides on a call. Deny wins over ask, and ask over allow; no rule or preset covers calls that always need an approval. */
export function decideCallByPolicy(policy: ApprovalPolicy, subject: PolicySubject): Verdict {
  const matching = policy.rules.filter((rule) => matches(rule, subject));
  const first = (effect: PermissionRule['effect']) => matching.find((rule) => rule.effect === effect);
  const denied = first('deny');
  if (denied)
    return {
      effect: 'deny',
      reason: `Denied by ${toEnglishText(described(denied))}.`,
      basis: ruleBasis([denied]),
      byRule: true,
    };
  const asked = first('ask') ?? policy.rules.find((rule) => guardsNamed(rule, subject.named ?? []));
  const allowsLoss = policy.preset === 'autopilot' || (policy.preset === 'sandbox' && subject.sandboxed);
  if (subject.always)
    return subject.undoable && allowsLoss && !asked
      ? byPreset(policy.preset, subject)
      : { effect: 'ask', reason: 'This is asked about every time.' };
  if (asked) return askedBy(message('Needs approval because of {0}.', described(asked)));
  const allowed = first('allow') ? [first('allow')!] : coveringParts(policy, subject);
  if (allowed) {
    const rules = allowed.map((rule) => toEnglishText(described(rule)));
    const isExact = allowed.every(({ command, varies }) => command !== undefined && !varies);
    const reason = `Allowed by ${rules.join(' and ')}.`;
    return { effect: 'allow', reason, basis: ruleBasis(allowed), byRule: true, ...(isExact && { isExact }) };
  }
  if (subject.readsOnly && policy.readOnlyCommands && !policy.rules.some(guardsPath))
    return {
      effect: 'allow',
      reason: approvalBasisMessages['read-only-command'],
      basis: { by: 'read-only-command' },
      onlyReads: true,
    };
  // Rules for paths see only the names in a command line.
  const sandboxed = policy.rules.some(guardsPath) ? undefined : subject.sandboxed;
  return explained(byPreset(policy.preset, { ...subject, sandboxed }), policy, subject);
}

function explained(verdict: Verdict, { rules }: ApprovalPolicy, { tool, origin }: PolicySubject): Verdict {
  if (verdict.effect !== 'ask' || !origin) return verdict;
  const near = rules.find((rule) => rule.effect === 'allow' && names(rule, tool));
  if (!near) return verdict;
  return askedBy(message('Not allowed by {0}: {1}.', described(near), ruleMismatchReason(near, origin)));
}

const askedBy = (said: LocalizedMessage): Verdict => ({
  effect: 'ask',
  reason: toEnglishText(said),
  said,
  byRule: true,
});

const guardsPath = ({ effect, path }: PermissionRule) => effect !== 'allow' && path !== undefined;

function guardsNamed(rule: PermissionRule, named: readonly string[]): boolean {
  if (!guardsPath(rule) || named.length === 0) return false;
  const { path } = rule as Required<PermissionRule>;
  const begins = path.includes('/')
    ? path
        .replace(/^\.\//, '')
        .split(/[^/]*[*?[{]/)[0]!
        .toLowerCase()
    : '';
  const mayHold = (folder: string) =>
    (folder === '' || folder.endsWith('/')) && begins.startsWith(folder.toLowerCase());
  const mayBeIn = (folder: string) => folder === '' || (begins === '' && folder.endsWith('/')) || mayHold(folder);
  return matchesPaths(path, named, false) || named.some(mayBeIn);
}

function coveringParts(
  { rules, preset }: ApprovalPolicy,
  { tool, command = '', folder = '.', parts = [], sandboxed }: PolicySubject,
): ScopedPermissionRule[] | undefined {
  const isForCommands = ({ command, kind, program }: PermissionRule) => (command ?? kind ?? program) !== undefined;
  const allows = rules.filter((rule) => rule.effect === 'allow' && names(rule, tool) && isForCommands(rule));
  const holdsIn = (rule: PermissionRule, folder: string) => (rule.folder ?? '.') === folder;
  const whole = allows.find((rule) => rule.command === command.trim() && !rule.varies && holdsIn(rule, folder));
  if (whole) return [whole];
  const needed = parts.filter(({ reads }) => !reads);
  const leavesSandbox = preset === 'sandbox' && !sandboxed;
  const covering = needed.flatMap(({ words, folders, row, program, needsOutside }) => {
    const exact = (rule: PermissionRule) => rule.kind === undefined && !rule.varies && rule.command === words;
    const own = folders.length === 1 && allows.find((rule) => exact(rule) && holdsIn(rule, folders[0]!));
    if (own) return [own];
    const ofProgram = program !== undefined && preset === 'sandbox' && allows.find((rule) => rule.program === program);
    if (ofProgram) return [ofProgram];
    if (leavesSandbox && !needsOutside) return [undefined]; // a wider rule runs it inside
    const covers = ({ kind, varies, command }: PermissionRule) =>
      kind !== undefined
        ? kind === row?.kind
        : varies && row && (command === row.command || row.copies?.some((copy) => command === copy));
    return commandPartFolders({ folders, row }).map((folder) =>
      allows.find((rule) => covers(rule) && holdsIn(rule, folder)),
    );
  });
  const all = covering.filter((rule) => rule !== undefined);
  return needed.length > 0 && all.length === covering.length ? [...new Set(all)] : undefined;
}

export function stricterVerdict(own: Verdict, other: Verdict): Verdict {
  const order = ['deny', 'ask', 'allow'];
  return order.indexOf(other.effect) < order.indexOf(own.effect) ? other : own;
}

/** Tests if reads of this tool never need an approval and are never denied. */
export const readsNeedNoApproval = ({ preset, rules }: ApprovalPolicy, tool: string): boolean =>
  preset !== 'ask-everything' && !rules.some((rule) => rule.effect !== 'allow' && names(rule, tool));

/**
 * Returns a test for files that a search below `folder` excludes: rules deny or protect their reading. Rules that already applied to the
 * search path are ignored.
 */
export function createSearchExclusionPredicate({ rules }: ApprovalPolicy, folder: string): (path: string) => boolean {
  const guards = rules.filter(
    (rule) =>
      guardsPath(rule) &&
      (names(rule, 'fs.read') || names(rule, 'fs.search')) &&
      !(rule.effect === 'ask' && names(rule, 'fs.search') && matchesPaths(rule.path!, [folder], false)),
  );
  return (path) => guards.some((rule) => matchesPaths(rule.path!, [path], false));
}

/** Returns the folders outside of the workspace that sandboxed commands may write by rules; none if a rule asks or denies. */
export function allowedFolderLocations({ preset, rules }: ApprovalPolicy, agent?: ApprovalPolicy): string[] {
  const all = [...rules, ...(agent?.rules ?? [])];
  if (preset !== 'sandbox' || all.some((rule) => rule.effect !== 'allow' && names(rule, folderAccessTool))) return [];
  return rules.flatMap(({ effect, location }) => (effect === 'allow' && location !== undefined ? [location] : []));
}

function byPreset(preset: ApprovalPreset, { risk, trusted, sandboxed }: PolicySubject): Verdict {
  const execute = sandboxed ? 'sandbox' : 'autopilot';
  const from = ({ read: 'reads-free', change: 'edits-free', execute } as const)[risk];
  const isAllowed = approvalPresets.indexOf(preset) >= approvalPresets.indexOf(from) && (risk === 'read' || trusted);
  if (!isAllowed || preset === 'ask-everything')
    return { effect: 'ask', reason: 'Nothing allows this without a question.' };
  const basis = preset === 'sandbox' ? from : preset; // the sandbox is no reason for a read or an edit
  return { effect: 'allow', reason: approvalBasisMessages[basis], basis: { by: 'preset', preset: basis } };
}

const described = (rule: ScopedPermissionRule): LocalizedMessage => message(owners[rule.scope], coverageOf(rule));

function coverageOf({
  tool,
  path,
  command,
  site,
  registries,
  server,
  kind,
  program,
}: ScopedPermissionRule): LocalizableText {
  if (program) return message('{0} outside the sandbox', program);
  if (registries) return message('network access to package registries');
  const covered = kind === undefined ? [path, command, site] : [commandRuleKindNames[kind]];
  return server ? serverRuleLabel(tool, server) : [tool, ...covered].filter(Boolean).join(' ');
}

const ruleBasis = (rules: readonly ScopedPermissionRule[]) => ({
  by: 'rules' as const,
  rules: rules.map((rule) => ({ scope: rule.scope, what: toEnglishText(coverageOf(rule)) })),
});

const owners = { user: 'your rule “{0}”', workspace: 'your rule for this workspace “{0}”' } as const;

function matches(rule: PermissionRule, subject: PolicySubject): boolean {
  const widens = rule.effect === 'allow';
  const isNamed =
    names(rule, subject.tool) || (!widens && subject.through !== undefined && names(rule, subject.through));
  if (widens ? !ruleAppliesToOrigin(rule, subject.origin, isNamed) : !isNamed) return false;
  if (rule.path !== undefined && !matchesPaths(rule.path, subject.paths, widens)) return false;
  if (rule.site !== undefined && !matchesSite(rule.site, subject.site, widens)) return false;
  if (rule.registries !== undefined && !rule.registries.includes(subject.site ?? '')) return false;
  if ((rule.kind ?? rule.program ?? rule.location) !== undefined) return false; // only for allow, see `coveringParts`
  if (rule.command === undefined) return true;
  return !widens && matchesCommand(rule.command, subject.command ?? ''); // for allow, see `coveringParts`
}

const names = (rule: PermissionRule, tool: string): boolean =>
  rule.tool.endsWith('*') ? tool.startsWith(rule.tool.slice(0, -1)) : tool === rule.tool;

const folded = (text: string) => text.normalize('NFC').toLowerCase();

// Matches paths: for allow, every path must match; for ask and deny, a single match in any spelling is enough.
function matchesPaths(glob: string, paths: readonly string[], widens: boolean): boolean {
  let test: (path: string) => boolean;
  try {
    const sensitive = createGlobMatcher(glob);
    const insensitive = createGlobMatcher(folded(glob));
    const covers = (path: string) => sensitive(path) || insensitive(folded(path));
    test = widens ? sensitive : (path) => covers(path) || covers(`${path}/`); // `src/**` includes the folder itself
  } catch {
    return !widens; // an invalid glob allows nothing and blocks everything
  }
  return widens ? paths.length > 0 && paths.every(test) : paths.some(test);
}

// Matches a site: for allow, the exact origin; for ask and deny, the host or a subdomain.
function matchesSite(site: string, asked: string | undefined, widens: boolean): boolean {
  if (asked === undefined) return false;
  if (widens) return asked === site;
  const [host, wanted] = [asked, site].map((one) => new URL(one).hostname.replace(/\.$/, ''));
  return host === wanted || host!.endsWith(`.${wanted}`);
}

// Matches a command prefix for ask and deny: any part of the text, with or without quotes, with any path of the program.
function matchesCommand(prefix: string, command: string): boolean {
  const parts = [command, command.replace(/[{}]/g, ' ')].flatMap(approximateArguments);
  const isProgram = (word: string) => word.startsWith('/');
  return parts.some((words) =>
    words.some((word, at) => {
      const rest = words.slice(at + 1);
      return begins(prefix, [word, ...rest]) || (isProgram(word) && begins(prefix, [posix.basename(word), ...rest]));
    }),
  );
}

const begins = (prefix: string, words: readonly string[]) =>
  prefix
    .trim()
    .split(/\s+/)
    .every((word, index) => words[index] === word);
