import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, type LocalizableText } from '../../protocol/text/localized.ts';
import { closestNames } from '../../tools/core/didYouMean.ts';

/** Returns `Did you mean "a" or "b"?`; undefined without a similar name. */
export function didYouMeanHint(name: string, candidates: Iterable<string>): LocalizedMessage | undefined {
  const [first, second, third] = closestNames(name, candidates).map((one) => JSON.stringify(one));
  if (first === undefined) return undefined;
  if (second === undefined) return message('Did you mean {0}?', first);
  if (third === undefined) return message('Did you mean {0} or {1}?', first, second);
  return message('Did you mean {0} or {1} or {2}?', first, second, third);
}

export const appendHint = (text: LocalizableText, hint: LocalizableText | undefined): LocalizableText =>
  hint === undefined || hint === '' ? text : joinLocalizableTexts([text, hint]);
