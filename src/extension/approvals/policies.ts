import * as vscode from 'vscode';
import { type ApprovalPolicy, type ApprovalPreset, isMorePermissivePreset } from '../../protocol/content/policy.ts';
import { type PermissionRule, permissionRuleSchema, type ScopedPermissionRule } from '../../protocol/content/rule.ts';
import { t, toEnglishText } from '../../protocol/text/l10n.ts';
import type { Localizer } from '../../protocol/text/localized.ts';
import { localize } from '../../protocol/text/localized.ts';
import { formatRuleCoverage, parsePolicyRules } from '../../tools/policy/rules.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { diskFolders } from '../dialogs/folders.ts';
import { isPanelInView, notify, notifyWithActions } from '../dialogs/notify.ts';
import type { DecisionFile } from '../settings/decisionFile.ts';
import { saveSetting, settings } from '../settings/settings.ts';
import { NarrowedApprovalRules } from './narrowedRules.ts';
import { confirmAutopilot } from './presetDialogs.ts';
import { RunApprovalPresets } from './runPresets.ts';
import { notifySandboxUnavailable, showSandboxHelp } from './sandboxNotices.ts';
import { effectivePreset, type SandboxStatus } from './sandboxStatus.ts';

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
  private hasReportedSandbox = false;
  private readonly runs: RunApprovalPresets;
  readonly narrowed: NarrowedApprovalRules;
  /** True after a notice of this window about rules with reduced coverage. */
  hasShownUpdateNotice = false;
  private known?: ApprovalPreset;

  constructor(
    private readonly memory: DecisionFile,
    userMemory: DecisionFile,
    private readonly modals: Dialogs,
    readonly sandbox: SandboxStatus,
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

  /** Effective preset of runs without their own. */
  get preset(): ApprovalPreset {
    return this.effective(this.chosen);
  }

  /** Chosen preset; autopilot only after agreement in this workspace, and only if trusted. */
  private get chosen(): ApprovalPreset {
    const chosen = settings()['approvals.preset'];
    const held = chosen !== 'autopilot' || (vscode.workspace.isTrusted && this.memory.get(autopilotName) === 'yes');
    return held ? chosen : 'reads-free';
  }

  private effective(preset: ApprovalPreset): ApprovalPreset {
    return effectivePreset(preset, { trusted: vscode.workspace.isTrusted, sandbox: this.sandbox.current });
  }

  private get hasSandbox(): boolean {
    return this.effective('sandbox') === 'sandbox';
  }

  shown(runId: string): { preset: ApprovalPreset; presetOfRun: boolean } {
    const own = this.chosen;
    const chosen = this.runs.of(runId, own);
    const held = chosen !== 'autopilot' || vscode.workspace.isTrusted;
    return { preset: this.effective(held ? (chosen ?? own) : own), presetOfRun: held && chosen !== undefined };
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
    const isReplaced = (one: unknown) => wanted.includes(JSON.stringify(one)) || rules.some(coversRegistriesOf(one));
    const others = this.written(scope).filter((one) => !isReplaced(one));
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
    if (preset === 'sandbox' && !(await this.prepareSandbox())) return;
    if (preset === 'autopilot') {
      if (!mayAutopilot() || this.preset === 'autopilot') return;
      const agreed = await this.agreeToAutopilot('ask');
      if (agreed !== 'autopilot') return;
    }
    await saveSetting('approvals.preset', preset);
    if (preset !== 'autopilot') this.forgetAutopilot();
    this.changed();
  }

  async chooseForRun(runId: string, preset: ApprovalPreset, title: string): Promise<void> {
    if (preset === 'sandbox' && !(await this.prepareSandbox())) return;
    let agreed = preset;
    if (preset === 'autopilot' && this.shown(runId).preset !== 'autopilot') {
      if (!mayAutopilot()) return;
      const text = t('Turn on Autopilot in the run “{0}”?', title);
      const answer = await this.askForAutopilot('ask', text, t(endsWithRun), this.shown(runId).preset);
      if (!answer) return;
      agreed = answer;
    }
    this.runs.choose(runId, agreed, this.chosen);
    this.changed();
  }

  /** Copies a narrower preset to a branch; a wider preset is not copied. */
  branched(from: string, to: string): void {
    const own = this.chosen;
    const preset = this.runs.of(from, own);
    if (preset && isMorePermissivePreset(own, preset)) this.runs.choose(to, preset, own);
  }

  /** Resets a wider preset, so that a restored run has no more permissions than others. */
  endForRun(runId: string): void {
    this.runs.end(runId, this.chosen);
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

  /** Warns about invalid rules and a missing sandbox, and requests agreement for an autopilot from the settings. */
  look(): void {
    this.warn();
    this.notifyNarrowed();
    if (settings()['approvals.preset'] !== 'autopilot') this.forgetAutopilot();
    else if (vscode.workspace.isTrusted && this.memory.get(autopilotName) === undefined)
      void this.agreeToAutopilot('askWhenQuiet');
    void this.checkSandbox();
    if (this.chosen !== this.known) this.runs.narrow(this.chosen);
    this.known = this.chosen;
    this.changed();
  }

  /** Probes the sandbox that the preset needs. The visible panel says once per window that the sandbox is not available. */
  async checkSandbox(): Promise<void> {
    if (this.chosen !== 'sandbox' || !vscode.workspace.isTrusted) return;
    const found = await this.sandbox.probe();
    const hasCommands = diskFolders().length > 0;
    if (found.isAvailable || this.hasReportedSandbox || !hasCommands || !isPanelInView()) return;
    this.hasReportedSandbox = true;
    await notifySandboxUnavailable(found.reason).catch((error) => this.log.error(error));
  }

  /** Returns false after opening the help about the sandbox, if it is not available. */
  private async prepareSandbox(): Promise<boolean> {
    await this.sandbox.probe();
    if (!this.hasSandbox) await showSandboxHelp();
    return this.hasSandbox;
  }

  /** Asks for agreement to autopilot. Closing the dialog declines until the preset is chosen again. */
  private async agreeToAutopilot(when: 'ask' | 'askWhenQuiet'): Promise<'autopilot' | undefined> {
    if (this.asking) return undefined;
    const text = t('Turn on Autopilot in this workspace?');
    const duration = t('It stays on until you select another preset.');
    const answer = await this.askForAutopilot(when, text, duration, this.chosen);
    const no = settings()['approvals.preset'] === 'autopilot' ? 'no' : undefined;
    this.memory.update(autopilotName, answer === 'autopilot' ? 'yes' : no);
    this.changed();
    if (answer === 'sandbox') await this.choose('sandbox');
    return answer === 'autopilot' ? answer : undefined;
  }

  private async askForAutopilot(when: 'ask' | 'askWhenQuiet', text: string, duration: string, now: ApprovalPreset) {
    if (this.asking) return undefined;
    this.asking = true;
    try {
      await this.sandbox.probe();
      return await confirmAutopilot(this.modals, {
        when,
        text,
        duration,
        offersSandbox: this.hasSandbox && now !== 'sandbox',
      });
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

/** Tests for a rule with all the registries of an earlier one, which takes its place. */
const coversRegistriesOf = (written: unknown) => {
  const earlier = permissionRuleSchema.safeParse(written).data?.registries;
  return ({ registries }: PermissionRule) =>
    earlier !== undefined && registries !== undefined && earlier.every((site) => registries.includes(site));
};

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
