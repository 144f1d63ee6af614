import { type LocalizedMessage, message, toEnglishText } from '../../protocol/text/l10n.ts';
import { type LocalizableText, storedLocalizedForms } from '../../protocol/text/localized.ts';
import { stateTypeWarnings } from '../plan/inputs.ts';
import type { WorkflowFile } from '../plan/schema.ts';

type Values = Readonly<Record<string, unknown>>;

/** Normalizes state values as the event log restores them, so that memory and reload are equal. Values outside of JSON become null. */
export function normalizeStateValues(values: Values): Record<string, unknown> {
  const entries = Object.entries(values).filter(([key]) => key !== '__proto__');
  return JSON.parse(JSON.stringify(Object.fromEntries(entries.map(([key, value]) => [key, value ?? null]))));
}

const largeValue = 1_000_000;

export function warnAboutStateValues(
  { file, warnings: noted }: { file: WorkflowFile; warnings: LocalizableText[] },
  before: Values = {},
  set: Values = {},
): { warnings?: string[]; said?: LocalizedMessage[] } {
  const large = Object.keys(set).filter((key) => isLarge(set[key]) && !isLarge(before[key]));
  const all = [...noted.splice(0), ...stateTypeWarnings(file, set), ...large.map(tooLarge)];
  const once = new Map(all.map((words) => [toEnglishText(words), words]));
  return once.size > 0 ? { warnings: [...once.keys()], ...storedLocalizedForms([...once.values()]) } : {};
}

const isLarge = (value: unknown): boolean => Buffer.byteLength(JSON.stringify(value) ?? '') > largeValue;

const tooLarge = (key: string): LocalizedMessage =>
  message(
    '`{0}` contains more than 1 MB. It is recorded whenever it is set, and every parallel branch has a copy. Store long data in a file.',
    key,
  );
