import * as vscode from 'vscode';
import { type ApprovalPolicy, type ApprovalPreset, isMorePermissivePreset } from '../../protocol/content/policy.ts';
import { type PermissionRule, permissionRuleSchema, type ScopedPermissionRule } from '../../protocol/content/rule.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t, toEnglishText } from '../../protocol/text/l10n.ts';
import type { Localizer } from '../../protocol/text/localized.ts';
import { localize } from '../../protocol/text/localized.ts';
import { formatRuleCoverage, parsePolicyRules } from '../../tools/policy/rules.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { notify, notifyWithActions } from '../dialogs/notify.ts';
import type { DecisionFile } from '../settings/decisionFile.ts';
import { saveSetting, settings } from '../settings/settings.ts';
import { NarrowedApprovalRules } from './narrowedRules.ts';
import { RunApprovalPresets } from './runPresets.ts';

const rulesName = 'approvals.rules';
const autopilotName = 'approvals.autopilot';

export type PolicyScope = ScopedPermissionRule['scope'];

/**
 * Policy of the user: presets and global rules from the settings, workspace rules from the extension's storage. Files of the workspace have
 * no influence.
 */
export class ApprovalPolicies implements vscode.Disposable {
  private readonly listeners: vscode.Disposable;
  private warned = new Set<string>();
  private asking = false;
  private readonly runs: RunApprovalPresets;
  readonly narrowed: NarrowedApprovalRules;
  /** True after a notice of this window about rules with reduced coverage. */
  hasShownUpdateNotice = false;
  private known?: ApprovalPreset;

  constructor(
    private readonly memory: DecisionFile,
    userMemory: DecisionFile,
    private readonly modals: Dialogs,
    private readonly log: vscode.LogOutputChannel,
    private readonly changed: () => void,
  ) {
    this.runs = new RunApprovalPresets(memory);
    this.narrowed = new NarrowedApprovalRules({ workspace: memory, user: userMemory });
    this.listeners = vscode.Disposable.from(
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('towpath.approvals')) this.look();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.look()),
    );
  }

  dispose(): void {
    this.listeners.dispose();
  }

  readonly current = (runId?: string): ApprovalPolicy => ({
    preset: runId === undefined ? this.preset : this.shown(runId).preset,
    readOnlyCommands: settings()['approvals.readOnlyCommands'],
    rules: [...this.read('workspace').rules, ...this.read('user').rules],
  });

  /** Chosen preset; autopilot only after agreement in this workspace, and only if trusted. */
  get preset(): ApprovalPreset {
    const chosen = settings()['approvals.preset'];
    const held = chosen !== 'autopilot' || (vscode.workspace.isTrusted && this.memory.get(autopilotName) === 'yes');
    return held ? chosen : 'reads-free';
  }

  shown(runId: string): { preset: ApprovalPreset; presetOfRun: boolean } {
    const own = this.preset;
    const chosen = this.runs.of(runId, own);
    const held = chosen !== 'autopilot' || vscode.workspace.isTrusted;
    return { preset: held ? (chosen ?? own) : own, presetOfRun: held && chosen !== undefined };
  }

  /** Returns the run with the widest preset; the first of equal runs. */
  widest(runIds: readonly string[]): { runId: string; preset: ApprovalPreset } | undefined {
    const all = runIds.map((runId) => ({ runId, preset: this.shown(runId).preset }));
    return all.find(({ preset }) => !all.some((other) => isMorePermissivePreset(other.preset, preset)));
  }

  written(scope: PolicyScope): unknown[] {
    const value: unknown = scope === 'user' ? settings()['approvals.rules'] : (this.memory.get(rulesName) ?? []);
    return Array.isArray(value) ? value : [value];
  }

  async add(scope: PolicyScope, ...rules: PermissionRule[]): Promise<void> {
    this.notifyNarrowed(true); // before creating a rule that never covered more
    const wanted = rules.map((rule) => JSON.stringify(rule));
    const others = this.written(scope).filter((one) => !wanted.includes(JSON.stringify(one)));
    await this.write(scope, [...others, ...rules]);
  }

  async remove(scope: PolicyScope, index: number): Promise<void> {
    await this.write(scope, this.written(scope).toSpliced(index, 1));
  }

  async forgetServer(identity: string): Promise<void> {
    for (const scope of ['workspace', 'user'] as const) {
      const written = this.written(scope);
      const left = written.filter((rule) => permissionRuleSchema.safeParse(rule).data?.server?.identity !== identity);
      if (left.length < written.length) await this.write(scope, left);
    }
  }

  async choose(preset: ApprovalPreset): Promise<void> {
    if (preset === 'autopilot') {
      if (!mayAutopilot() || this.preset === 'autopilot' || !(await this.agreeToAutopilot('ask'))) return;
    }
    await saveSetting('approvals.preset', preset);
    if (preset !== 'autopilot') this.forgetAutopilot();
    this.changed();
  }

  async chooseForRun(runId: string, preset: ApprovalPreset, title: string): Promise<void> {
    if (preset === 'autopilot' && this.shown(runId).preset !== 'autopilot') {
      const text = t('Turn on Autopilot in the run “{0}”?', title);
      if (!mayAutopilot() || !(await this.askForAutopilot('ask', text, t(endsWithRun)))) return;
    }
    this.runs.choose(runId, preset, this.preset);
    this.changed();
  }

  /** Copies a narrower preset to a branch; a wider preset is not copied. */
  branched(from: string, to: string): void {
    const { preset, presetOfRun } = this.shown(from);
    if (presetOfRun && isMorePermissivePreset(this.preset, preset)) this.runs.choose(to, preset, this.preset);
  }

  /** Resets a wider preset, so that a restored run has no more permissions than others. */
  endForRun(runId: string): void {
    this.runs.end(runId, this.preset);
    this.changed();
  }

  async setReadOnlyCommands(free: boolean): Promise<void> {
    await saveSetting('approvals.readOnlyCommands', free);
  }

  get problems(): string[] {
    return this.problemsIn(localize);
  }

  private problemsIn(localizer: Localizer): string[] {
    return [...this.read('user', localizer).problems, ...this.read('workspace', localizer).problems];
  }

  /** Warns about invalid rules, and requests agreement for an autopilot from the settings. */
  look(): void {
    this.warn();
    this.notifyNarrowed();
    if (settings()['approvals.preset'] !== 'autopilot') this.forgetAutopilot();
    else if (vscode.workspace.isTrusted && this.memory.get(autopilotName) === undefined)
      void this.agreeToAutopilot('askWhenQuiet');
    if (this.preset !== this.known) this.runs.narrow(this.preset);
    this.known = this.preset;
    this.changed();
  }

  /** Asks for agreement to autopilot. Closing the dialog declines until the preset is chosen again. */
  private async agreeToAutopilot(when: 'ask' | 'askWhenQuiet'): Promise<boolean> {
    if (this.asking) return false;
    const agreed = await this.askForAutopilot(
      when,
      t('Turn on Autopilot in this workspace?'),
      t('It stays on here until you select another preset.'),
    );
    const no = settings()['approvals.preset'] === 'autopilot' ? 'no' : undefined;
    this.memory.update(autopilotName, agreed ? 'yes' : no);
    this.changed();
    return agreed;
  }

  private async askForAutopilot(when: 'ask' | 'askWhenQuiet', question: string, duration: string): Promise<boolean> {
    if (this.asking) return false;
    this.asking = true;
    const yes = t('Turn On Autopilot');
    const unasked = t(
      'Commands, web pages and MCP tools run without approval, with your permissions. Protected files and secrets still ask. It stays on until you select another preset.',
    );
    const detail = `${unasked} ${duration}`;
    try {
      const chosen = await this.modals[when]({
        text: escapeInvisibleInLine(question),
        detail,
        buttons: [t('Keep Asking'), yes],
      });
      return chosen === yes;
    } finally {
      this.asking = false;
    }
  }

  private forgetAutopilot(): void {
    if (this.memory.get(autopilotName) !== undefined) this.memory.update(autopilotName, undefined);
  }

  private read(scope: PolicyScope, localizer: Localizer = localize): ReturnType<typeof parsePolicyRules> {
    return parsePolicyRules(this.written(scope), scope, localizer);
  }

  private async write(scope: PolicyScope, rules: unknown[]): Promise<void> {
    if (scope === 'user') await saveSetting('approvals.rules', rules);
    else this.memory.update(rulesName, rules);
    this.changed();
  }

  /** Notifies once about rules with reduced coverage. A workspace without rules stores nothing. */
  private notifyNarrowed(adding = false): void {
    const [user, workspace] = (['user', 'workspace'] as const).map((scope) => {
      const written = this.written(scope);
      return (scope === 'user' || adding || written.length > 0) && this.narrowed.find(scope, written);
    });
    if (!user && !workspace) return;
    this.hasShownUpdateNotice = true;
    const open = t('Open Approvals');
    const text = t('Some of your approval rules cover fewer commands than before. Those commands ask again.');
    void notifyWithActions('info', `Towpath: ${text}`, open).then((chosen) => {
      if (chosen === open) void vscode.commands.executeCommand('towpath.approvals');
    });
  }

  private warn(): void {
    const inEnglishToo = this.problemsIn(toEnglishText);
    for (const [index, problem] of this.problems.entries()) {
      if (this.warned.has(problem)) continue;
      this.warned.add(problem);
      this.log.warn(inEnglishToo[index]!);
      const mend = t('Open Approvals');
      void notifyWithActions('warning', `Towpath: ${problem}`, mend).then((chosen) => {
        if (chosen === mend) void vscode.commands.executeCommand('towpath.approvals');
      });
    }
  }
}

const endsWithRun = 'It ends with this run, when the window reloads, or when you select another preset.';

function mayAutopilot(): boolean {
  if (vscode.workspace.isTrusted) return true;
  notify(
    'warning',
    t('Autopilot is available in trusted workspaces only. Trust this workspace first (Manage Workspace Trust).'),
  );
  return false;
}

export const ruleLabel = (rule: PermissionRule): string =>
  t(rulePhrases[rule.effect], formatRuleCoverage(rule, localize));

const rulePhrases = { allow: 'Allow {0}', ask: 'Approval for {0}', deny: 'Deny {0}' } as const;
export const ruleEffectLabels = { allow: 'Allow', ask: 'Approval for', deny: 'Deny' } as const;
