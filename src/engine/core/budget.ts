import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { SpendingLimitKind } from '../../protocol/run/events.ts';
import { formatDollars, spendingLimitErrorCodes } from '../../protocol/run/money.ts';
import type { Run } from '../../protocol/run/run.ts';
import { message } from '../../protocol/text/l10n.ts';
import { withMessageLinks } from '../../protocol/text/links.ts';
import { messageOf, toErrorInfo } from '../../protocol/text/localized.ts';
import type { DailySpendFiles } from '../../runs/dailySpend.ts';

export interface SpendingBudget {
  /**
   * Admits a call before its request.
   *
   * @param least minimum cost in US dollars; undefined: unknown price, no limit applies
   */
  admit(least: number | undefined): Promise<Admitted | SpendingRefusal>;
}

interface Admitted {
  /** Reports the recorded end of a call; undefined: unknown cost. */
  paid(cost: number | undefined): Promise<void>;
  unheld?: true;
}

interface SpendingRefusal {
  refused: ErrorInfo;
}

/** Reads a spending limit in US dollars; 0: no limit; `NaN`: invalid setting, nothing may be spent. */
export type ReadSpendingLimit = () => number;

/**
 * Daily budget of all windows. A call is counted before its request and then compared with all other calls, so that two windows cannot both
 * spend the last dollar. After a crash the call counts with its minimum cost.
 */
export function dayBudget(spent: DailySpendFiles, limit: ReadSpendingLimit): SpendingBudget {
  return {
    async admit(least) {
      const most = limit();
      if (most === 0 || least === undefined) return { paid: (cost) => note(spent, cost), ...unheld(most) };
      if (Number.isNaN(most)) return least > 0 ? { refused: unreadable('day') } : free;
      if (least === 0) return free;
      try {
        const count = await spent.count(least);
        const today = await spent.today();
        if (today.spent <= most + today.raised) return { paid: (cost) => count(cost ?? least).catch(() => {}) };
        await count(0);
        return { refused: reached('day', today.spent - least, most + today.raised, least) };
      } catch (error) {
        return { refused: unknown(error, most) };
      }
    },
  };
}

/**
 * Budget of one run within the daily budget, shared by all models of the run. Pending calls count with their minimum cost. The warning
 * about an unknown price appears once.
 */
export function runBudget(
  run: Pick<Run, 'usage' | 'allowed' | 'messages'>,
  limit: ReadSpendingLimit,
): (day?: SpendingBudget) => SpendingBudget {
  let onTheirWay = 0;
  let isReported: boolean | undefined;
  const unheldOnce = () => {
    if (isReported) return {};
    isReported = run.messages.some((one) => one.role === 'assistant' && one.warnings?.includes(unknownPriceWarning));
    if (isReported) return {};
    isReported = true;
    return { unheld: true as const };
  };
  return (day) => ({
    async admit(least) {
      const set = limit();
      if (least !== undefined && least > 0 && set !== 0) {
        if (Number.isNaN(set)) return { refused: unreadable('run') };
        const most = Math.max(set, run.allowed ?? 0);
        const spent = (run.usage.cost ?? 0) + onTheirWay;
        if (spent + least > most) return { refused: reached('run', spent, most, least) };
      }
      const reserved = least ?? 0;
      onTheirWay += reserved;
      const admitted = await day?.admit(least);
      if (admitted && 'refused' in admitted) {
        onTheirWay -= reserved;
        return admitted;
      }
      const isUnheld = least === undefined && (set !== 0 || admitted?.unheld);
      return {
        ...(isUnheld && unheldOnce()),
        async paid(cost) {
          onTheirWay -= reserved;
          await admitted?.paid(cost);
        },
      };
    },
  });
}

const free: Admitted = { async paid() {} };

const unheld = (limit: number): { unheld?: true } => (limit === 0 ? {} : { unheld: true });

/** Counts without a limit, because a limit may be set later that day. Not awaited. */
async function note(spent: DailySpendFiles, cost: number | undefined): Promise<void> {
  if (cost) void spent.count(cost).catch(() => {});
}

const spentOf = {
  run: "{0} of this run's {1} are spent, and the next answer costs at least {2}.",
  day: "{0} of today's {1} are spent, and the next answer costs at least {2}.",
} as const;

function reached(of: SpendingLimitKind, spent: number, most: number, least: number): ErrorInfo {
  const text = message(spentOf[of], formatDollars(spent), formatDollars(most), formatDollars(least));
  return { code: spendingLimitErrorCodes[of], ...toErrorInfo(text) };
}

const settingOf = (of: SpendingLimitKind): string => `towpath.limits.${of}`;

const unreadable = (of: SpendingLimitKind): ErrorInfo => ({
  code: 'LIMIT_UNREADABLE',
  ...toErrorInfo(
    withMessageLinks(
      message(
        'The setting {0} is not an amount in dollars, so nothing is spent. Correct it, then continue.',
        settingOf(of),
      ),
      { setting: settingOf(of) },
    ),
  ),
});

const unknown = (error: unknown, limit: number): ErrorInfo => ({
  code: 'LIMIT_DAY_UNKNOWN',
  ...toErrorInfo(
    withMessageLinks(
      message(
        "Today's spending is stored in a file that cannot be read ({0}), so the limit of {1} per day cannot be applied. Fix the file, or set {2} to 0; then continue.",
        messageOf(error),
        formatDollars(limit),
        settingOf('day'),
      ),
      { setting: settingOf('day') },
    ),
  ),
});

export const unknownPriceWarning =
  'The price of this model is unknown, so your spending limit cannot be applied. Set `prices` in `towpath.providers`.';
