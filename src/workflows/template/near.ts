import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { joined, type LocalizableText } from '../../protocol/text/localized.ts';
import { nearest } from '../../tools/core/didYouMean.ts';

/** Returns `Did you mean "a" or "b"?`; undefined without a similar name. */
export function meant(name: string, candidates: Iterable<string>): LocalizedMessage | undefined {
  const [first, second, third] = nearest(name, candidates).map((one) => JSON.stringify(one));
  if (first === undefined) return undefined;
  if (second === undefined) return message('Did you mean {0}?', first);
  if (third === undefined) return message('Did you mean {0} or {1}?', first, second);
  return message('Did you mean {0} or {1} or {2}?', first, second, third);
}

export const withHint = (said: LocalizableText, hint: LocalizableText | undefined): LocalizableText =>
  hint === undefined || hint === '' ? said : joined([said, hint]);
