import * as vscode from 'vscode';
import {
  type ApprovalPreset,
  approvalPresetNames,
  defaultApprovalPolicy,
  isMorePermissivePreset,
} from '../../protocol/content/policy.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { currentLocale, t } from '../../protocol/text/l10n.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import type { BackgroundCommandInfo } from '../../tools/shell/background.ts';
import type { LiveRunStatus } from '../runs/runStates.ts';
import { statusBarContent } from './status.ts';

interface Status {
  working: number;
  approvals: number;
  questions: number;
  inputs: number;
  runs: readonly LiveRunStatus[];
  /** The run with the most permissive preset among the displayed and running runs. */
  widest: { runId: string; preset: ApprovalPreset } | undefined;
  commands: readonly BackgroundCommandInfo[];
}

/**
 * Status bar items. The main item shows rest, work (click stops), approvals (click answers) or unseen ends (click lists), including other
 * windows. A second item appears for permissive presets, a third for background commands (click lists).
 */
export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('towpath.status', vscode.StatusBarAlignment.Left, 0);
  private readonly badge = vscode.window.createStatusBarItem('towpath.preset', vscode.StatusBarAlignment.Left, 0);

  private readonly background = vscode.window.createStatusBarItem(
    'towpath.commands',
    vscode.StatusBarAlignment.Left,
    0,
  );

  constructor() {
    this.item.name = 'Towpath';
    this.background.name = t('Towpath: background commands');
    this.background.command = 'towpath.commands';
    this.badge.name = t('Towpath: what runs without approval');
    this.show({ working: 0, approvals: 0, questions: 0, inputs: 0, runs: [], widest: undefined, commands: [] });
    this.item.show();
  }

  show({ working, approvals, questions, inputs, runs, widest, commands }: Status): void {
    this.showBadge(widest);
    this.showCommands(commands);
    const { text, tooltip, command, warns } = statusBarContent({ working, approvals, questions, inputs, runs });
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.command = command;
    this.item.accessibilityInformation = { label: tooltip };
    this.item.backgroundColor = warns ? warning : undefined;
    void vscode.commands.executeCommand('setContext', 'towpath.running', working > 0);
    void vscode.commands.executeCommand('setContext', 'towpath.asking', approvals + questions > 0);
  }

  private showBadge(widest: Status['widest']): void {
    if (!widest || !isMorePermissivePreset(widest.preset, defaultApprovalPolicy.preset)) {
      this.badge.hide();
      return;
    }
    const { runId, preset } = widest;
    const isAutopilot = preset === 'autopilot';
    const tooltip = t(badgeTooltips[preset === 'autopilot' || preset === 'sandbox' ? preset : 'edits-free']);
    this.badge.text = `${isAutopilot ? '$(warning)' : '$(unlock)'} ${t(approvalPresetNames[preset])}`;
    this.badge.tooltip = tooltip;
    this.badge.accessibilityInformation = { label: tooltip };
    this.badge.command = { title: tooltip, command: 'towpath.runPreset', arguments: [runId] };
    this.badge.backgroundColor = isAutopilot ? warning : undefined;
    this.badge.show();
  }

  private showCommands(commands: Status['commands']): void {
    if (commands.length === 0) {
      this.background.hide();
      return;
    }
    const since = (at: number) =>
      new Date(at).toLocaleTimeString(currentLocale(), { hour: '2-digit', minute: '2-digit' });
    const lines = commands.map(({ line, startedAt }) =>
      t('{0}, since {1}', truncateWithEllipsis(escapeInvisibleInLine(line), 60), since(startedAt)),
    );
    const click = t('Click to show its output or to stop it.');
    const tooltip = [t('Towpath: in the background'), ...lines, click].join('\n');
    this.background.text = `$(server-process) ${t('{0} running', commands.length)}`;
    this.background.tooltip = tooltip;
    this.background.accessibilityInformation = { label: tooltip };
    this.background.show();
  }

  dispose(): void {
    this.background.dispose();
    this.item.dispose();
    this.badge.dispose();
  }
}

const badgeTooltips = {
  'edits-free': 'Towpath changes files without approval. Click to change that.',
  sandbox: 'Towpath changes files and runs commands in a sandbox without approval. Click to change that.',
  autopilot: 'Towpath runs commands without approval. Click to change that.',
} as const;

const warning = new vscode.ThemeColor('statusBarItem.warningBackground');
