import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';

/**
 * Result of an interrupted step as a person types it. Empty is null. A JSON object or list, `true`, `false`, `null`, a text in quotes and a
 * number as JSON writes it are that value; everything else is text as it stands, so that `1.10` and `007` keep their digits.
 * Throws a `UserFacingError` for a text that begins like an object, a list or a quoted text and is none.
 */
export function typedResult(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  const value = parsed(trimmed);
  if (value === undefined) {
    if (/^[[{"]/.test(trimmed))
      throw new UserFacingError(message('Not valid JSON. Put a text that starts with {, [ or " in quotes.'));
    return text;
  }
  return typeof value === 'number' && String(value) !== trimmed ? text : value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
