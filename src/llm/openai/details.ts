import { isObject, type JsonObject } from '../core/json.ts';

interface DetailCollector {
  add(details: unknown): void;
  readonly all: JsonObject[];
}

/**
 * Creates a collector of OpenRouter's `reasoning_details`: thinking blocks with signatures, which must be returned unchanged and in order.
 * Streamed texts of the same kind and index are joined; other details arrive once.
 */
export function createReasoningDetailCollector(): DetailCollector {
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
