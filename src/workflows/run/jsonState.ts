import { inEnglish, type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { type LocalizableText, messagesIn } from '../../protocol/text/localized.ts';
import { misfits } from '../plan/inputs.ts';
import type { WorkflowFile } from '../plan/schema.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * Values of the state as the run's record gives them back, so that a run goes on with the same ones in memory as after a reload. What
 * JSON has no word for is null.
 */
export function asStoredJson(values: Values): Record<string, unknown> {
  const entries = Object.entries(values).filter(([key]) => key !== '__proto__');
  return JSON.parse(JSON.stringify(Object.fromEntries(entries.map(([key, value]) => [key, value ?? null]))));
}

/** Bytes of JSON; a value of more is said. */
const largeValue = 1_000_000;

/**
 * What is to be said of a node with its event: what was noted (and is said once), and of the values that it sets which are not of their
 * declared type, or have become large by it.
 */
export function warned(
  { file, warnings: noted }: { file: WorkflowFile; warnings: LocalizableText[] },
  before: Values = {},
  set: Values = {},
): { warnings?: string[]; said?: LocalizedMessage[] } {
  const large = Object.keys(set).filter((key) => isLarge(set[key]) && !isLarge(before[key]));
  const all = [...noted.splice(0), ...misfits(file, set), ...large.map(tooLarge)];
  const once = new Map(all.map((words) => [inEnglish(words), words]));
  return once.size > 0 ? { warnings: [...once.keys()], ...messagesIn([...once.values()]) } : {};
}

const isLarge = (value: unknown): boolean => Buffer.byteLength(JSON.stringify(value) ?? '') > largeValue;

const tooLarge = (key: string): LocalizedMessage =>
  message(
    '`{0}` contains more than 1 MB. It is recorded whenever it is set, and every parallel branch has a copy. Store long data in a file.',
    key,
  );
