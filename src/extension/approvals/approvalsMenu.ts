import * as vscode from 'vscode';
import { type PermissionRule, permissionRuleSchema } from '../../protocol/content/rule.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localize } from '../../protocol/text/localized.ts';
import type { SandboxAvailability } from '../../tools/core/commandSandbox.ts';
import { networkAccessTool } from '../../tools/core/commandSandbox.ts';
import type { RuleToolState } from '../../tools/mcp/toolChanges.ts';
import { parsePolicyRules } from '../../tools/policy/rules.ts';
import type { AgentConsent } from '../agents/agentConsent.ts';
import { describeAgentFile } from '../agents/agentText.ts';
import { notify } from '../dialogs/notify.ts';
import { describeNamedModel, type ModelConsent } from '../providers/modelConsent.ts';
import { hostList } from './hostList.ts';
import { type ApprovalPolicies, type PolicyScope, ruleEffectLabels, ruleLabel } from './policies.ts';
import { presetRows } from './presetRows.ts';
import { mcpRuleText } from './serverRules.ts';

interface Servers {
  whereabouts(server: NonNullable<PermissionRule['server']>): RuleToolState;
}

interface Consents {
  models: ModelConsent;
  agents: AgentConsent;
}

interface Choice extends vscode.QuickPickItem {
  run?(): Promise<unknown>;
  remove?(): Promise<unknown>;
}

export async function showApprovalSettingsMenu(
  policies: ApprovalPolicies,
  servers: Servers,
  consents: Consents,
): Promise<void> {
  const sandbox = await policies.sandbox.probe();
  const pick = vscode.window.createQuickPick<Choice>();
  pick.title = t('Towpath: approvals');
  pick.placeholder = t('Select a preset, or add a rule');
  const show = () => {
    pick.items = choices(policies, sandbox, servers, consents);
  };
  show();
  const closed = new Promise<void>((resolve) => pick.onDidHide(resolve));
  pick.onDidTriggerItemButton(({ item }) => item.remove?.().then(show, () => show()));
  const chosen = new Promise<Choice | undefined>((resolve) => {
    pick.onDidAccept(() => resolve(pick.selectedItems[0]));
    void closed.then(() => resolve(undefined));
  });
  pick.show();
  const choice = await chosen;
  pick.dispose();
  await choice?.run?.();
}

function choices(
  policies: ApprovalPolicies,
  sandbox: SandboxAvailability,
  servers: Servers,
  consents: Consents,
): Choice[] {
  const { preset, readOnlyCommands } = policies.current();
  return [
    separator(t('Approvals')),
    ...presetRows({ trusted: vscode.workspace.isTrusted, sandbox }).map(({ preset: one, name, description }) => ({
      label: `${one === preset ? '$(check)' : '$(blank)'} ${name}`,
      description,
      run: () => policies.choose(one),
    })),
    {
      label: `$(comment) ${t('For This Run…')}`,
      run: async () => vscode.commands.executeCommand('towpath.runPreset'),
    },
    separator(t('Commands')),
    {
      label: `${readOnlyCommands ? '$(check)' : '$(blank)'} ${t('Read-only commands run without approval')}`,
      description: t('ls, grep, cat … in the workspace, without a shell'),
      run: () => policies.setReadOnlyCommands(!readOnlyCommands),
    },
    ...rulesOf(policies, servers, 'workspace', t('Rules for this workspace')),
    ...rulesOf(policies, servers, 'user', t('Rules for all workspaces')),
    ...modelsOf(consents.models),
    ...agentsOf(consents.agents),
    separator(''),
    { label: `$(add) ${t('Add a Rule…')}`, run: () => addRule(policies) },
  ];
}

const trash = () => ({ iconPath: new vscode.ThemeIcon('trash'), tooltip: t('Delete this rule') });

function rulesOf(policies: ApprovalPolicies, servers: Servers, scope: PolicyScope, title: string): Choice[] {
  const written = policies.written(scope);
  if (written.length === 0) return [];
  const items = written.map((value, index) => {
    const { problems } = parsePolicyRules([value], scope);
    const rule = permissionRuleSchema.safeParse(value);
    const ofServer = rule.success ? mcpRuleText(rule.data, (bound) => servers.whereabouts(bound)) : undefined;
    const label = ofServer?.label ?? (rule.success ? ruleLabel(rule.data) : JSON.stringify(value).slice(0, 200));
    const narrowed = policies.narrowed.reason(scope, value);
    const hosts = rule.data?.registries && problems.length === 0 ? hostList(rule.data.registries) : undefined;
    const detail = problems[0] ?? ofServer?.detail ?? (narrowed && localize(narrowed)) ?? hosts;
    return {
      label: `${problems.length > 0 || ofServer?.isIdle ? '$(warning)' : '$(law)'} ${escapeInvisibleInLine(label)}`,
      ...(rule.success && sandboxDescription(policies, rule.data)),
      ...(detail && { detail: escapeInvisibleInLine(detail) }),
      buttons: [trash()],
      remove: () => policies.remove(scope, index),
    };
  });
  return [separator(title), ...items];
}

/** Under the preset of sandboxed commands, a rule runs a command where it was made for; see `Verdict.isExact`. */
function sandboxDescription(
  { sandbox }: ApprovalPolicies,
  { effect, tool, command, varies, program }: PermissionRule,
): { description?: string } {
  if (!sandbox.current?.isAvailable || effect !== 'allow' || tool !== 'shell.run' || program) return {};
  const isExact = command !== undefined && !varies;
  return { description: isExact ? t('outside the sandbox') : t('in the sandbox') };
}

function modelsOf(named: ModelConsent): Choice[] {
  const items = named.agreed().map((one) => {
    const { file, label, where } = describeNamedModel(one);
    const remove = async () => named.forget(one);
    return {
      label: `$(law) ${t('Allow {0} to use {1}', file, label)}`,
      description: where,
      buttons: [trash()],
      remove,
    };
  });
  return items.length === 0 ? [] : [separator(t('Models named in files')), ...items];
}

function agentsOf(consent: AgentConsent): Choice[] {
  const items = consent.agreed().map((one) => ({
    label: `$(law) ${t('Use the agent {0}', describeAgentFile(one.file))}`,
    buttons: [trash()],
    remove: async () => consent.forget(one),
  }));
  return items.length === 0 ? [] : [separator(t('Agents of this repository')), ...items];
}

async function addRule(policies: ApprovalPolicies): Promise<void> {
  const title = t('Towpath: add a rule');
  const effects = (['allow', 'ask', 'deny'] as const).map((effect) => ({ label: t(ruleEffectLabels[effect]), effect }));
  const placeholder = t('Deny overrides ask, ask overrides allow');
  const chosen = await vscode.window.showQuickPick(effects, { title, placeHolder: placeholder, ignoreFocusOut: true });
  if (!chosen) return;
  const { effect } = chosen;
  const which = t('The tool, or the start of its name and *');
  const tool = await input(title, which, 'fs.edit, fs.*, shell.run, mcp.*');
  if (!tool) return;
  const { key, prompt, example } = narrowings.get(tool) ?? files;
  const narrower = await input(title, t(prompt), example, '');
  if (narrower === undefined) return;
  const rule: PermissionRule = { effect, tool, ...(narrower && { [key]: narrower }) };
  const problem = parsePolicyRules([rule], 'user').problems[0];
  if (problem) {
    notify('error', t('Nothing was added. {0}', problem));
    return;
  }
  const label = mcpRuleText(rule, () => 'away')?.label ?? ruleLabel(rule);
  const scope = await pickScope(title, label);
  if (scope) await policies.add(scope, rule);
}

const files = {
  key: 'path',
  prompt: 'Files as a glob of workspace paths; empty: any',
  example: 'src/**',
} as const;
const commands = {
  key: 'command',
  prompt: 'The first words of the command; empty: any command',
  example: 'npm test',
} as const;
const sites = { key: 'site', prompt: 'The site; empty: any site', example: 'https://example.com' } as const;
const narrowings = new Map<string, typeof commands | typeof sites>([
  ['shell.run', commands],
  ['web.fetch', sites],
  [networkAccessTool, sites],
]);

async function pickScope(title: string, label: string): Promise<PolicyScope | undefined> {
  const items = availableRuleScopes().map(({ scope, label: where }) => ({ label: `${label} ${where}`, scope }));
  return (await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true }))?.scope;
}

/** Returns the available scopes of a rule: a workspace scope needs an open folder. */
export function availableRuleScopes(): { scope: PolicyScope; label: string }[] {
  const everywhere = { scope: 'user' as const, label: t('in all workspaces') };
  return vscode.workspace.workspaceFolders
    ? [{ scope: 'workspace' as const, label: t('in this workspace') }, everywhere]
    : [everywhere];
}

/** @param value initial value, which may stay empty */
async function input(title: string, prompt: string, placeholder: string, value?: string): Promise<string | undefined> {
  const text = await vscode.window.showInputBox({
    title,
    prompt,
    placeHolder: placeholder,
    value,
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === '' && value === undefined ? t('Enter a name.') : undefined),
  });
  return text?.trim();
}

function separator(label: string): Choice {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}
