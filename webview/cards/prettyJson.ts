import { visible } from '../../src/protocol/text/escapeInvisible.ts';

export interface JsonSection {
  label: string;
  text: string;
}

export function sections(value: unknown, label: string): JsonSection[] {
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
