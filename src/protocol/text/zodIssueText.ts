import type * as z from 'zod';

export function zodIssueText({ path, message }: z.core.$ZodIssue): string {
  const location = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  const reason = message.replace(/^Invalid input: /, '').replace(/received undefined$/, 'but it is missing');
  return location ? `${location.replace(/^\./, '')}: ${reason}` : reason;
}
