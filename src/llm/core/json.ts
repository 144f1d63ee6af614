import { parseJsonToDepth } from '../../protocol/values/jsonText.ts';

/** Maximum nesting. No legitimate message is deeper. */
const depthLimit = 200;

/** Parses untrusted text. Throws `SyntaxError`, also for nesting beyond `depthLimit`, which is checked first. */
export const parseJson = (text: string): unknown =>
  parseJsonToDepth(text, depthLimit, `JSON nested more than ${depthLimit} levels deep`);

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
