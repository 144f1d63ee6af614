import type * as z from 'zod';

export function zodIssueText({ path, message }: z.core.$ZodIssue): string {
  const place = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  const words = message.replace(/^Invalid input: /, '').replace(/received undefined$/, 'but it is missing');
  return place ? `${place.replace(/^\./, '')}: ${words}` : words;
}
