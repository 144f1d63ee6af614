import * as vscode from 'vscode';

/** One item: rests, works (a click stops), or asks (a click answers). Another one as long as autopilot is on. */
export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('towpath.status', vscode.StatusBarAlignment.Left, 0);
  private readonly badge = vscode.window.createStatusBarItem('towpath.autopilot', vscode.StatusBarAlignment.Left, 0);

  constructor() {
    this.item.name = 'Towpath';
    this.badge.name = 'Towpath: autopilot';
    this.badge.text = '$(warning) Autopilot';
    this.badge.tooltip = 'Towpath runs without asking. Click to change that.';
    this.badge.accessibilityInformation = { label: this.badge.tooltip };
    this.badge.command = 'towpath.approvals';
    this.badge.backgroundColor = warning;
    this.show({ working: 0, asking: 0, autopilot: false });
    this.item.show();
  }

  show({ working, asking, autopilot }: { working: number; asking: number; autopilot: boolean }): void {
    if (autopilot) this.badge.show();
    else this.badge.hide();
    const state = asking > 0 ? asks : working > 0 ? works : rests;
    this.item.text = asking > 1 ? `${state.text} (${asking})` : state.text;
    this.item.tooltip = state.tooltip;
    this.item.command = state.command;
    this.item.accessibilityInformation = { label: state.tooltip };
    this.item.backgroundColor = asking > 0 ? warning : undefined;
    void vscode.commands.executeCommand('setContext', 'towpath.running', working > 0);
    void vscode.commands.executeCommand('setContext', 'towpath.asking', asking > 0);
  }

  dispose(): void {
    this.item.dispose();
    this.badge.dispose();
  }
}

const warning = new vscode.ThemeColor('statusBarItem.warningBackground');

const rests = {
  text: '$(comment-discussion) Towpath',
  tooltip: 'Towpath: open the chat',
  command: 'towpath.chat.focus',
};
const works = {
  text: '$(sync~spin) Towpath works',
  tooltip: 'Towpath is at work. Click to stop.',
  command: 'towpath.stop',
};
const asks = {
  text: '$(question) Towpath asks',
  tooltip: 'Towpath waits for your answer. Click to answer.',
  command: 'towpath.answer',
};
