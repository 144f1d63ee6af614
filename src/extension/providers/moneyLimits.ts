import * as vscode from 'vscode';
import { dayBudget, type SpendingBudget } from '../../engine/core/budget.ts';
import type { SpendingLimitKind } from '../../protocol/run/events.ts';
import { localizedDollars } from '../../protocol/run/money.ts';
import { t } from '../../protocol/text/l10n.ts';
import { DailySpendFiles } from '../../runs/dailySpend.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { settings } from '../settings/settings.ts';

export class MoneyLimits {
  readonly day: SpendingBudget;
  private readonly spent: DailySpendFiles;

  constructor(
    folder: string,
    private readonly modals: Dialogs,
  ) {
    this.spent = new DailySpendFiles(folder);
    this.day = dayBudget(this.spent, () => this.of('day'));
  }

  /** Returns the limit in US dollars; 0: unlimited; `NaN`: invalid. */
  of(what: SpendingLimitKind): number {
    return settings()[`limits.${what}`];
  }

  /** Reads the spending of all windows today in US dollars; undefined: no limit, or one that cannot be applied and refuses requests itself. */
  async today(): Promise<{ spent: number; limit: number } | undefined> {
    const limit = this.of('day');
    if (!(limit > 0)) return undefined;
    const today = await this.spent.today().catch(() => undefined);
    return today && { spent: today.spent, limit: limit + today.raised };
  }

  /**
   * Offers to raise the limit by the same amount again. Resolves to the added amount; undefined: declined, or no limit exists.
   *
   * @param why reason of the pause
   * @param title title of the run that would continue
   */
  async ask(what: SpendingLimitKind, why: string, title?: string): Promise<number | undefined> {
    const more = this.of(what);
    if (!(more > 0)) return undefined;
    const yes = t('Raise Limit by {0}', localizedDollars(more));
    const text =
      what === 'run'
        ? t('Allow this run to spend another {0}?', localizedDollars(more))
        : t('Allow Towpath to spend another {0} today?', localizedDollars(more));
    const scope =
      what === 'run'
        ? t('Your limit stays as it is. This applies to this run only.')
        : t('Your limit stays as it is. This applies until midnight, in all windows.');
    const detail = [title && t('“{0}”', title), why, scope];
    const answer = await this.modals.ask({ text, detail: detail.filter(Boolean).join('\n'), buttons: [yes] });
    return answer === yes ? more : undefined;
  }

  async raiseDay(more: number): Promise<number> {
    await this.spent.raise(more);
    const { raised } = await this.spent.today();
    return this.of('day') + raised;
  }

  async askForDay(why: string): Promise<boolean> {
    const more = await this.ask('day', why);
    if (more !== undefined) await this.raiseDay(more);
    return more !== undefined;
  }

  openSettings(): Thenable<unknown> {
    return vscode.commands.executeCommand('workbench.action.openSettings', 'towpath.limits');
  }
}
