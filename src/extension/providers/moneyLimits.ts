import * as vscode from 'vscode';
import { type Budget, dayBudget } from '../../engine/core/budget.ts';
import type { LimitOf } from '../../protocol/run/events.ts';
import { money } from '../../protocol/run/money.ts';
import { t } from '../../protocol/text/l10n.ts';
import { SpentFiles } from '../../runs/dailySpend.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { settings } from '../settings/settings.ts';

/** The person's limits of money, and the one question by which they are raised. */
export class MoneyLimits {
  /** Of a day, in all windows. */
  readonly day: Budget;
  private readonly spent: SpentFiles;

  /** @param folder that all windows share */
  constructor(
    folder: string,
    private readonly modals: Dialogs,
  ) {
    this.spent = new SpentFiles(folder);
    this.day = dayBudget(this.spent, () => this.of('day'));
  }

  /** US dollars; 0: no limit; `NaN`: it cannot be understood. */
  of(what: LimitOf): number {
    return settings()[`limits.${what}`];
  }

  /**
   * Asks whether as much as the limit may be spent once more. Resolves to how much that is; undefined: no, or there is no limit to raise.
   * @param why the sentence with which the work rests
   * @param title of the run that goes on then
   */
  async ask(what: LimitOf, why: string, title?: string): Promise<number | undefined> {
    const more = this.of(what);
    if (!(more > 0)) return undefined;
    const yes = t('Raise Limit by {0}', money(more));
    const text =
      what === 'run'
        ? t('Allow this run to spend another {0}?', money(more))
        : t('Allow Towpath to spend another {0} today?', money(more));
    const scope =
      what === 'run'
        ? t('Your limit stays as it is. This applies to this run only.')
        : t('Your limit stays as it is. This applies until midnight, in all windows.');
    const detail = [title && t('“{0}”', title), why, scope];
    const answer = await this.modals.ask({ text, detail: detail.filter(Boolean).join('\n'), buttons: [yes] });
    return answer === yes ? more : undefined;
  }

  /** Allows so many dollars more today. Resolves to what may be spent in all. */
  async raiseDay(more: number): Promise<number> {
    await this.spent.raise(more);
    const { raised } = await this.spent.today();
    return this.of('day') + raised;
  }

  /** Asks for the day's, and allows it. */
  async askForDay(why: string): Promise<boolean> {
    const more = await this.ask('day', why);
    if (more !== undefined) await this.raiseDay(more);
    return more !== undefined;
  }

  openSettings(): Thenable<unknown> {
    return vscode.commands.executeCommand('workbench.action.openSettings', 'towpath.limits');
  }
}
