import { visible } from '../../src/protocol/visible.ts';

/** A value for a reader: long strings stand by themselves with their name, the rest is indented JSON. */
export interface Section {
  label: string;
  text: string;
}

/** The sections of a value; several lines inside a string are shown as lines, not as `\n`. */
export function sections(value: unknown, label: string): Section[] {
  if (typeof value === 'string') return [{ label, text: visible(value) }];
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return [{ label, text: json(value) }];
  const entries = Object.entries(value);
  const standsAlone = (field: unknown): field is string =>
    typeof field === 'string' && (field.includes('\n') || field.length > 120);
  const short = entries.filter(([, field]) => !standsAlone(field));
  return [
    ...(short.length > 0 || entries.length === 0 ? [{ label, text: json(Object.fromEntries(short)) }] : []),
    ...entries.flatMap(([name, field]) =>
      standsAlone(field) ? [{ label: `${label}: ${visible(name)}`, text: visible(field) }] : [],
    ),
  ];
}

const json = (value: unknown): string => visible(JSON.stringify(value, null, 2) ?? String(value));

/** What a call is about, in one line: the argument that names its object. */
export function mainArgument(values: Record<string, unknown>): string {
  const name = mainNames.find((candidate) => typeof values[candidate] === 'string');
  const value = name ? values[name] : Object.values(values).find((candidate) => typeof candidate === 'string');
  return typeof value === 'string' ? value : '';
}

/** The same from arguments that are still being written. */
export function mainArgumentSoFar(argumentsText: string): string {
  const written = argumentsText.slice(0, 2000);
  for (const name of mainNames) {
    const found = new RegExp(`"${name}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)"`).exec(written)?.[1];
    if (found !== undefined) return readString(found);
  }
  return '';
}

const mainNames = ['command', 'path', 'from', 'pattern', 'query', 'url', 'name'];

function readString(written: string): string {
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return written;
  }
}
