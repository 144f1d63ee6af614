import type { LimitOf } from './events.ts';
import type { ErrorInfo } from './messages.ts';

/** `$2`, `$0.80`, `$12.40`, `$0.0034`; what is not nothing never looks like it: `under $0.0001`. */
export function dollars(amount: number): string {
  if (Number.isInteger(amount)) return `$${amount}`;
  if (amount > 0 && amount < 0.0001) return 'under $0.0001';
  return `$${amount.toFixed(amount > 0 && amount < 0.01 ? 4 : 2)}`;
}

/** A limit of money that the person has set is reached. */
export const limitCodes = { run: 'LIMIT_RUN_REACHED', day: 'LIMIT_DAY_REACHED' } as const;

/** Which limit an error is about that the person can raise. */
export const limitReached = (error: Pick<Partial<ErrorInfo>, 'code'> | undefined): LimitOf | undefined =>
  error?.code === limitCodes.run ? 'run' : error?.code === limitCodes.day ? 'day' : undefined;

/** A run rests with this until the person decides about money: it is no failure of the work. */
export const isOverLimit = (error: ErrorInfo | undefined): boolean => Boolean(error?.code.startsWith('LIMIT_'));
