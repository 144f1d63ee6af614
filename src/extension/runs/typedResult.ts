import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';

/**
 * Parses the typed result of an interrupted step. Empty is null. JSON objects, arrays, `true`, `false`, `null`, quoted strings and JSON
 * numbers are values; other text stays text, so that `1.10` and `007` retain their digits. Throws a `UserFacingError` for text that starts
 * like an object, an array or a quoted string and is invalid.
 */
export function parseUserEnteredResult(text: string): unknown {
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
