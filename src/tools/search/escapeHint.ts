/** Returns a hint for a pattern in grep syntax, where a backslash makes these characters operators; otherwise an empty list. */
export function grepEscapeHint({ pattern, fixed }: { pattern: string; fixed?: boolean }): string[] {
  const plain = pattern.replaceAll('\\\\', '');
  const escaped = fixed ? [] : [...new Set(plain.match(/\\[|(){}+?]/g) ?? [])];
  if (escaped.length === 0) return [];
  const operators = escaped.map((one) => one[1]).join(' ');
  return [`In this syntax ${escaped.join(' ')} is no operator; as operators write ${operators}.`];
}
