import * as vscode from 'vscode';
import type { OwnedRule, Policy, Preset, Rule } from '../protocol/policy.ts';
import { coverage, readRules } from '../tools/gate/rules.ts';
import type { Memory } from './memory.ts';
import { withoutLinks } from './questionText.ts';
import { saveSetting, settings } from './settings.ts';

const rulesName = 'approvals.rules';
const autopilotName = 'approvals.autopilot';

/** Where a rule holds: in this workspace, or in all of them. */
export type Scope = OwnedRule['scope'];

/**
 * The person's policy: presets and rules for everywhere from the settings, rules of this workspace from the extension's own
 * storage. What is in the workspace's files can set none of it.
 */
export class Policies implements vscode.Disposable {
  private readonly listeners: vscode.Disposable;
  private warned = new Set<string>();
  private asking = false;

  constructor(
    private readonly memory: Memory,
    private readonly log: vscode.LogOutputChannel,
    /** The policy is another one. */
    private readonly changed: () => void,
  ) {
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

  /** As it holds now. */
  readonly current = (): Policy => ({
    preset: this.preset,
    readOnlyCommands: settings()['approvals.readOnlyCommands'],
    rules: [...this.read('workspace').rules, ...this.read('user').rules],
  });

  /** The chosen preset; autopilot only once it was agreed to in this workspace, and only in a trusted one. */
  get preset(): Preset {
    const chosen = settings()['approvals.preset'];
    const held = chosen !== 'autopilot' || (vscode.workspace.isTrusted && this.memory.get(autopilotName) === 'yes');
    return held ? chosen : 'reads-free';
  }

  /** Rules as they are written, good or not, for a list that can delete each. */
  written(scope: Scope): unknown[] {
    const value: unknown = scope === 'user' ? settings()['approvals.rules'] : (this.memory.get(rulesName) ?? []);
    return Array.isArray(value) ? value : [value];
  }

  async add(scope: Scope, ...rules: Rule[]): Promise<void> {
    const wanted = rules.map((rule) => JSON.stringify(rule));
    const others = this.written(scope).filter((one) => !wanted.includes(JSON.stringify(one)));
    await this.write(scope, [...others, ...rules]);
  }

  /** @param index within `written` */
  async remove(scope: Scope, index: number): Promise<void> {
    await this.write(scope, this.written(scope).toSpliced(index, 1));
  }

  async choose(preset: Preset): Promise<void> {
    if (preset === 'autopilot') {
      if (!vscode.workspace.isTrusted) {
        void vscode.window.showWarningMessage(
          'Autopilot is for trusted workspaces only. Trust this one first (Manage Workspace Trust).',
        );
        return;
      }
      if (this.preset === 'autopilot' || !(await this.agreeToAutopilot())) return;
    }
    await saveSetting('approvals.preset', preset);
    if (preset !== 'autopilot') this.forgetAutopilot();
    this.changed();
  }

  async setReadOnlyCommands(free: boolean): Promise<void> {
    await saveSetting('approvals.readOnlyCommands', free);
  }

  /** Warns of rules that cannot be used, and asks about an autopilot that was switched on in the settings. */
  look(): void {
    for (const problem of [...this.read('user').problems, ...this.read('workspace').problems]) this.warn(problem);
    if (settings()['approvals.preset'] !== 'autopilot') this.forgetAutopilot();
    else if (vscode.workspace.isTrusted && this.memory.get(autopilotName) === undefined) void this.agreeToAutopilot();
    this.changed();
  }

  /** Closing the dialog is a no, which holds until the preset is chosen anew. */
  private async agreeToAutopilot(): Promise<boolean> {
    if (this.asking) return false;
    this.asking = true;
    const yes = 'Turn Autopilot On';
    const detail =
      'Changes, commands, web pages and MCP tools then run without a question, as you and with your rights. Places that can ' +
      'run code by themselves are still asked about. It stays on in this workspace until you choose another preset.';
    const keep = 'Keep Asking';
    const question = 'Turn autopilot on in this workspace?';
    try {
      const chosen = await vscode.window.showWarningMessage(question, { modal: true, detail }, keep, yes);
      const no = settings()['approvals.preset'] === 'autopilot' ? 'no' : undefined;
      this.memory.update(autopilotName, chosen === yes ? 'yes' : no);
      return chosen === yes;
    } finally {
      this.asking = false;
      this.changed();
    }
  }

  private forgetAutopilot(): void {
    if (this.memory.get(autopilotName) !== undefined) this.memory.update(autopilotName, undefined);
  }

  private read(scope: Scope): ReturnType<typeof readRules> {
    return readRules(this.written(scope), scope);
  }

  private async write(scope: Scope, rules: unknown[]): Promise<void> {
    if (scope === 'user') await saveSetting('approvals.rules', rules);
    else this.memory.update(rulesName, rules);
    this.changed();
  }

  private warn(problem: string): void {
    if (this.warned.has(problem)) return;
    this.warned.add(problem);
    this.log.warn(problem);
    const mend = 'Open Approvals';
    void vscode.window.showWarningMessage(withoutLinks(`Towpath: ${problem}`), mend).then((chosen) => {
      if (chosen === mend) void vscode.commands.executeCommand('towpath.approvals');
    });
  }
}

/** A rule in a list: `Allow fs.edit in src/**`. */
export const ruleWords = (rule: Rule): string => `${effectWords[rule.effect]} ${coverage(rule)}`;

export const effectWords = { allow: 'Allow', ask: 'Ask about', deny: 'Deny' };
