import * as vscode from 'vscode';
import { type TranscriptDetailLevel, transcriptDetailLevels } from '../../protocol/panel/panelMessages.ts';
import { t } from '../../protocol/text/l10n.ts';

const key = 'towpath.details';

const labels = {
  few: ['Minimal', 'One line per card'],
  usual: ['Usual', 'Also small changes and the last lines of failures'],
  all: ['All', 'Cards and thinking are expanded, nothing is folded'],
} as const satisfies Record<TranscriptDetailLevel, readonly [label: string, detail: string]>;

export class DetailLevelSetting {
  constructor(
    private readonly memory: vscode.Memento,
    private readonly changed: () => void,
  ) {}

  get level(): TranscriptDetailLevel {
    const stored = this.memory.get(key);
    return transcriptDetailLevels.find((one) => one === stored) ?? 'usual';
  }

  async choose(): Promise<void> {
    const { level } = this;
    const rows = [level, ...transcriptDetailLevels.filter((one) => one !== level)].map((one) => ({
      label: `${one === level ? '$(check)' : '$(blank)'} ${t(labels[one][0])}`,
      description: t(labels[one][1]),
      one,
    }));
    const chosen = await vscode.window.showQuickPick(rows, { title: t('Towpath: details in the panel') });
    if (!chosen || chosen.one === level) return;
    await this.memory.update(key, chosen.one);
    this.changed();
  }
}
