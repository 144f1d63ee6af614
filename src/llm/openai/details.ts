import { isObject, type JsonObject } from '../core/json.ts';

interface DetailCollector {
  /** `reasoning_details` of one delta. */
  add(details: unknown): void;
  /** As a message that was not streamed would have them. */
  readonly all: JsonObject[];
}

/**
 * OpenRouter's `reasoning_details`: the upstream's thinking blocks with their signatures, which it wants back
 * unchanged and in order. Streamed in pieces: texts of the same kind and index belong together, the rest comes once.
 */
export function collectDetails(): DetailCollector {
  const all: JsonObject[] = [];
  return {
    all,
    add(details) {
      for (const piece of Array.isArray(details) ? details.filter(isObject) : []) {
        const last = all.at(-1);
        const joinedValues = () =>
          Object.fromEntries(Object.entries(piece).map(([name, value]) => [name, joined(name, last?.[name], value)]));
        if (last && piece.type !== 'reasoning.encrypted' && last.type === piece.type && last.index === piece.index) {
          all[all.length - 1] = { ...last, ...joinedValues() };
        } else all.push({ ...piece });
      }
    },
  };
}

function joined(name: string, before: unknown, value: unknown): unknown {
  const grows = name === 'text' || name === 'summary';
  if (grows && typeof before === 'string' && typeof value === 'string') return before + value;
  return value === null || value === undefined || value === '' ? before : value;
}
