import { isDeepStrictEqual } from 'node:util';
import { parse } from 'jsonc-parser';
import { visible, visibleLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import type { QuestionText } from '../dialogs/approvalText.ts';

/** Setting from an obsolete file; `own` is the value of the user's settings, if any. */
export interface FormerValue {
  name: string;
  value: unknown;
  own?: unknown;
}

const mostBrackets = 5000;

const longestDetail = 2000;

/**
 * Returns settings of a file that the user's settings lack. Lists and tables are merged with the user's values.
 *
 * @param names full names: `towpath.model`
 * @param ownValue value of the user's settings; undefined: none
 */
export function formerValues(
  text: string,
  names: readonly string[],
  ownValue: (name: string) => unknown,
): FormerValue[] {
  const written = read(text);
  if (!isTable(written)) return [];
  return names.flatMap((name) => {
    if (!Object.hasOwn(written, name)) return [];
    const own = ownValue(name);
    const value = together(own, written[name]);
    return isDeepStrictEqual(value, own) ? [] : [{ name, value, ...(own !== undefined && { own }) }];
  });
}

/** `isWhole`: the dialog shows all values; else the user must open the file first. */
export function formerText(file: string, values: readonly FormerValue[]): QuestionText & { isWhole: boolean } {
  const lines = values.map(({ name, value, own }) => {
    const line = `${name}: ${JSON.stringify(value)}`;
    return visibleLine(own === undefined ? line : t('{0} (now {1})', line, JSON.stringify(own)));
  });
  const all = lines.join('\n');
  const isWhole = all.length <= longestDetail;
  const why = t(
    "They were in this machine's settings file, which a repository's devcontainer.json can write. Towpath no longer reads them there. If you adopt them, they become your own settings in every window.",
  );
  const careful = isWhole
    ? t('Adopt them only if you wrote all of them yourself.')
    : t('That is not the whole file. Read the file first.');
  const shown = isWhole ? all : `${all.slice(0, longestDetail)}…`;
  return {
    message: t('Adopt the former settings of Towpath ({0})?', values.length),
    detail: visible([why, shown, careful, file].join('\n\n')),
    isWhole,
  };
}

function read(text: string): unknown {
  const brackets = text.match(/[[{]/g)?.length ?? 0;
  return brackets > mostBrackets ? undefined : parse(text, [], { allowTrailingComma: true });
}

function together(own: unknown, former: unknown): unknown {
  if (Array.isArray(own) && Array.isArray(former))
    return [...own, ...former.filter((one) => !own.some((other) => isDeepStrictEqual(one, other)))];
  if (!isTable(own) || !isTable(former)) return former;
  const keys = [...new Set([...Object.keys(own), ...Object.keys(former)])];
  const value = (key: string) => {
    if (!Object.hasOwn(former, key)) return own[key];
    return Object.hasOwn(own, key) ? together(own[key], former[key]) : former[key];
  };
  return Object.fromEntries(keys.map((key) => [key, value(key)]));
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
