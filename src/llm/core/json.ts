import { endOfJsonString } from '../../protocol/values/jsonText.ts';

/**
 * Maximum nesting. No legitimate message is deeper, and `JSON.stringify` throws at five thousand levels, although `JSON.parse` accepts five
 * million.
 */
const depthLimit = 200;

/** Parses untrusted text. Throws `SyntaxError`, also for nesting beyond `depthLimit`, which is checked first. */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError(`JSON nested more than ${depthLimit} levels deep`);
  return JSON.parse(text);
}

function isTooDeep(text: string): boolean {
  if (text.length <= 2 * depthLimit) return false; // each level needs two characters, so most events return here
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfJsonString(text, at);
        break;
      case 0x5b: // [
      case 0x7b:
        if (++depth > depthLimit) return true;
        break;
      case 0x5d:
      case 0x7d:
        depth--;
    }
  }
  return false;
}

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
