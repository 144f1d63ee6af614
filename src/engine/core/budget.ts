import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { LimitOf } from '../../protocol/run/events.ts';
import { dollars, limitCodes } from '../../protocol/run/money.ts';
import type { Run } from '../../protocol/run/run.ts';
import { message } from '../../protocol/text/l10n.ts';
import { linked } from '../../protocol/text/links.ts';
import { messageOf, toErrorInfo } from '../../protocol/text/localized.ts';
import type { SpentFiles } from '../../runs/dailySpend.ts';

/** What may be spent on model calls. */
export interface Budget {
  /**
   * Asked before each call.
   * @param least US dollars that it surely costs; undefined: its price is not known, and no limit can hold it
   */
  admit(least: number | undefined): Promise<Admitted | Refused>;
}

interface Admitted {
  /** The call is over, and on record; undefined: nobody knows what it cost. */
  paid(cost: number | undefined): Promise<void>;
  /** A limit is set that cannot hold this call. */
  unheld?: true;
}

/** The call would pass a limit, and does not go out. */
export interface Refused {
  refused: ErrorInfo;
}

/** Reads a limit that the person has set, in US dollars; 0: none; `NaN`: what is set cannot be understood, so that nothing is spent. */
export type ReadLimit = () => number;

/**
 * What all windows may spend in a day. A call is counted before it goes out, and then looked at beside what all others count, so that
 * two windows cannot both take the last dollar; killed in between, it counts with what it surely cost.
 */
export function dayBudget(spent: SpentFiles, limit: ReadLimit): Budget {
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
 * What one run may spend, as far as the day allows it: gives the same for whichever model it asks. Calls that are on their way count
 * with what they surely cost. That a limit cannot be held is said once.
 */
export function runBudget(
  run: Pick<Run, 'usage' | 'allowed' | 'messages'>,
  limit: ReadLimit,
): (day?: Budget) => Budget {
  let onTheirWay = 0;
  let isSaid: boolean | undefined;
  const sayUnheld = () => {
    if (isSaid) return {};
    isSaid = run.messages.some((one) => one.role === 'assistant' && one.warnings?.includes(unheldWarning));
    if (isSaid) return {};
    isSaid = true;
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
        ...(isUnheld && sayUnheld()),
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

/** Without a limit it is counted all the same, for one may be set later on the same day; nobody waits for it. */
async function note(spent: SpentFiles, cost: number | undefined): Promise<void> {
  if (cost) void spent.count(cost).catch(() => {});
}

const spentOf = {
  run: "{0} of this run's {1} are spent, and the next answer costs at least {2}.",
  day: "{0} of today's {1} are spent, and the next answer costs at least {2}.",
} as const;

function reached(of: LimitOf, spent: number, most: number, least: number): ErrorInfo {
  const words = message(spentOf[of], dollars(spent), dollars(most), dollars(least));
  return { code: limitCodes[of], ...toErrorInfo(words) };
}

const settingOf = (of: LimitOf): string => `towpath.limits.${of}`;

const unreadable = (of: LimitOf): ErrorInfo => ({
  code: 'LIMIT_UNREADABLE',
  ...toErrorInfo(
    linked(
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
    linked(
      message(
        "Today's spending is stored in a file that cannot be read ({0}), so the limit of {1} per day cannot be applied. Fix the file, or set {2} to 0; then continue.",
        messageOf(error),
        dollars(limit),
        settingOf('day'),
      ),
      { setting: settingOf('day') },
    ),
  ),
});

/** Said once where a limit is set and a model has no known price. */
export const unheldWarning =
  'The price of this model is unknown, so your spending limit cannot be applied. Set `prices` in `towpath.providers`.';
