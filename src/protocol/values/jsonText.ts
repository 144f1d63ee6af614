const number = /-?\d[\d.eE+-]*/y;

/**
 * Tells whether valid JSON has exactly one meaning: no duplicate key, no key `__proto__`, no infinite number. Only a string before a colon
 * is a key.
 */
export function isUnambiguousJson(text: string): boolean {
  const keysInScope: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '{' || character === '[') keysInScope.push(new Set());
    else if (character === '}' || character === ']') keysInScope.pop();
    else if (character === '"') {
      const end = endOfJsonString(text, at);
      if (isFollowedByColon(text, end + 1)) {
        const key = JSON.parse(text.slice(at, end + 1)) as string;
        const keys = keysInScope.at(-1)!;
        if (keys.has(key) || key === '__proto__') return false;
        keys.add(key);
      }
      at = end;
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      number.lastIndex = at;
      const digits = number.exec(text)![0];
      if (!Number.isFinite(Number(digits))) return false;
      at += digits.length - 1;
    }
  }
  return true;
}

function isFollowedByColon(text: string, at: number): boolean {
  while (' \t\n\r'.includes(text[at] ?? ':') && at < text.length) at++;
  return text[at] === ':';
}

export function endOfJsonString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/**
 * Parses JSON with at most `maxDepth` nested levels. Throws `SyntaxError`; `tooDeep` is its message for deeper text, which is not parsed:
 * `JSON.parse` accepts millions of levels, and `JSON.stringify` throws at thousands.
 */
export function parseJsonToDepth(text: string, maxDepth: number, tooDeep: string): unknown {
  if (isJsonDeeperThan(text, maxDepth)) throw new SyntaxError(tooDeep);
  return JSON.parse(text);
}

function isJsonDeeperThan(text: string, maxDepth: number): boolean {
  if (text.length <= 2 * maxDepth) return false; // each level needs two characters
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfJsonString(text, at);
        break;
      case 0x5b: // [
      case 0x7b:
        if (++depth > maxDepth) return true;
        break;
      case 0x5d:
      case 0x7d:
        depth--;
    }
  }
  return false;
}
