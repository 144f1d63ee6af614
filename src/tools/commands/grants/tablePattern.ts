const compiled = new Map<string, RegExp>();

export function compileGrantPattern(text: string): RegExp {
  const found = compiled.get(text);
  if (found) return found;
  const end = text.lastIndexOf('/');
  const pattern = new RegExp(text.slice(1, end), text.slice(end + 1));
  compiled.set(text, pattern);
  return pattern;
}
