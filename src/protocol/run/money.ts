import type { ErrorInfo } from '../content/messages.ts';
import { type LocalizedMessage, message, toEnglishText } from '../text/l10n.ts';
import type { SpendingLimitKind } from './events.ts';

/** Formats US dollars in English: `$2`, `$0.80`, `$12.40`, `$0.0034`. A positive amount never appears as zero: `under $0.0001`. */
export const formatDollars = (amount: number): string => toEnglishText(localizedDollars(amount));

// biome-ignore lint/suspicious/noTemplateCurlyInString: `{0}` is a place, `$` a dollar
const [even, uneven] = ['${0}', '${0}.{1}'] as const;

export function localizedDollars(amount: number): LocalizedMessage {
  if (Number.isInteger(amount)) return message(even, amount);
  if (amount > 0 && amount < 0.0001) return message('under {0}', localizedDollars(0.0001));
  return inParts(amount, amount > 0 && amount < 0.01 ? 4 : 2);
}

export const localizedDollarsAndCents = (amount: number): LocalizedMessage => inParts(amount, 2);

function inParts(amount: number, digits: number): LocalizedMessage {
  const [whole, part] = amount.toFixed(digits).split('.');
  return message(uneven, whole!, part!);
}

export const spendingLimitErrorCodes = { run: 'LIMIT_RUN_REACHED', day: 'LIMIT_DAY_REACHED' } as const;

export const spendingLimitKindOfError = (
  error: Pick<Partial<ErrorInfo>, 'code'> | undefined,
): SpendingLimitKind | undefined =>
  error?.code === spendingLimitErrorCodes.run ? 'run' : error?.code === spendingLimitErrorCodes.day ? 'day' : undefined;

/** A spending limit pauses the run for a decision of the user. The run has not failed. */
export const isSpendingLimitError = (error: ErrorInfo | undefined): boolean =>
  Boolean(error?.code.startsWith('LIMIT_'));
