/** Matches an English text against sentence forms and returns the form with its values. The first match wins. */
export function matchSentenceForm<Form extends string>(
  forms: readonly Form[],
  words: string,
): { form: Form; values: string[] } | undefined {
  for (const form of forms) {
    const values = patternOf(form).exec(words)?.slice(1);
    if (values) return { form, values };
  }
  return undefined;
}

const patterns = new Map<string, RegExp>();

function patternOf(form: string): RegExp {
  const known = patterns.get(form);
  if (known) return known;
  const parts = form.split(/\{\d\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(`^${parts.join('(.+?)')}$`, 's');
  patterns.set(form, pattern);
  return pattern;
}
