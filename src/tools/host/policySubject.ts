import { approvalBasisMessages } from '../../protocol/content/basisMessages.ts';
import type { ApprovalPolicy } from '../../protocol/content/policy.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import type { CallContext, Tool, ToolCallPlan, ToolContext } from '../core/tool.ts';
import { toolGrantsForRun } from '../core/toolOrigin.ts';
import type { Workspace } from '../core/workspace.ts';
import { decideCallByPolicy, type PolicySubject, stricterVerdict, type Verdict } from '../policy/policy.ts';
import { resolvePathForReading } from '../sandbox/resolveReadPath.ts';

/** Checked call. `plan` is absent for free reads. `through` is the tool that was called instead. */
export interface PlannedToolCall {
  tool: Tool;
  args: unknown;
  plan?: ToolCallPlan;
  through?: string;
}

export async function decidePlannedCallByPolicy(
  planned: PlannedToolCall,
  policy: ApprovalPolicy,
  context: Pick<CallContext, 'grants' | 'policy'>,
  workspace: Workspace,
): Promise<Verdict> {
  const subject = await subjectOf(planned, workspace, policy.preset === 'sandbox');
  const own = decideCallByPolicy(forTool(planned.tool, policy), subject);
  const verdict = context.policy
    ? stricterVerdict(own, decideCallByPolicy(forTool(planned.tool, context.policy), subject))
    : own;
  if (planned.plan?.free !== undefined && verdict.effect !== 'deny')
    return { effect: 'allow', reason: approvalBasisMessages[planned.plan.free], basis: { by: planned.plan.free } };
  const grant = planned.plan ? planned.plan.grant : planned.tool.definition.name;
  if (verdict.effect !== 'ask' || grant === undefined) return verdict;
  const grants = toolGrantsForRun(grant, planned.tool.origin?.(planned.args));
  if (!grants.some((one) => context.grants.has(one))) return verdict;
  return { effect: 'allow', reason: `Allowed earlier in this run: ${grant}.`, basis: { by: 'grant', grant } };
}

const forTool = (tool: Tool, policy: ApprovalPolicy): ApprovalPolicy =>
  tool.ofRun && policy.preset === 'ask-everything' ? { ...policy, preset: 'reads-free' } : policy;

async function subjectOf(
  { tool, args, plan, through }: PlannedToolCall,
  workspace: Workspace,
  mayBeSandboxed: boolean,
): Promise<PolicySubject> {
  const sandboxed = mayBeSandboxed ? plan?.sandboxed : undefined;
  const loss = plan?.loss;
  return {
    tool: tool.definition.name,
    ...(through !== undefined && { through }),
    risk: plan && tool.risk === 'read' ? 'execute' : tool.risk, // a read with its own plan is not free
    paths: plan?.paths ?? (plan?.change ? [plan.change.path] : (await filesRead(args, workspace)).map(relativeOf)),
    ...(plan?.command !== undefined && {
      command: plan.command,
      folder: plan.folder,
      parts: plan.parts,
      named: plan.named,
    }),
    ...(plan?.site !== undefined && { site: plan.site }),
    ...(tool.origin && { origin: tool.origin(args) }),
    readsOnly: typeof plan?.reading === 'function',
    // In the sandbox, a command is asked about only if an undo cannot restore what it changes.
    always: sandboxed
      ? loss !== undefined || !(await sandboxed.isUndoable())
      : plan !== undefined && (plan.grant === undefined || plan.guarded === true),
    ...(loss?.isCertain && (loss.isOnlyReason || sandboxed) && { undoable: true as const }),
    ...(sandboxed && { sandboxed: true as const }),
    trusted: workspace.trusted,
  };
}

export async function planReadOnlyCall(tool: Tool, args: unknown, workspace: Workspace): Promise<ToolCallPlan> {
  const { name } = tool.definition;
  const files = await filesRead(args, workspace);
  const { path: _, ...others } = Object(args) as Record<string, unknown>;
  const shownPaths = files.map(relativeOf).join(', ');
  return {
    what: tool.describe?.(args) ?? readMessage(name, shownPaths),
    where: files.map(({ path }) => path).join('\n') || allOf(workspace).join('\n'),
    why: message('Its result is sent to the model.'),
    paths: files.map(relativeOf),
    ...(Object.keys(others).length > 0 && { details: JSON.stringify(others, null, 2) }),
    grant: name,
    run: (context: ToolContext) => tool.run!(args, context),
  };
}

function readMessage(name: string, shownPaths: string): LocalizedMessage {
  const phrase = Object.hasOwn(phrases, name) ? phrases[name as keyof typeof phrases] : undefined;
  if (phrase && shownPaths) return message(phrase, shownPaths);
  return shownPaths ? message('Use {0}: {1}', name, shownPaths) : message('Use {0}', name);
}

const phrases = {
  'fs.read': 'Read {0}',
  'fs.list': 'List {0}',
  'fs.find': 'Look in {0}',
  'fs.search': 'Search {0}',
} as const;

// Resolves the paths of a read; a missing path stays as spelled, and the tool reports the error.
async function filesRead(args: unknown, workspace: Workspace): Promise<{ path: string; relative: string }[]> {
  const { path } = Object(args) as { path?: unknown };
  if (typeof path !== 'string') return [];
  const found = await resolvePathForReading(workspace, path, 'search').catch(() => undefined);
  return [found ?? { path, relative: path }];
}

const allOf = ({ roots, virtual }: Workspace): string[] => [
  ...(virtual?.folders ?? []).map(({ address }) => address),
  ...roots.map(({ path }) => path),
];
const relativeOf = ({ relative }: { relative: string }) => relative;
