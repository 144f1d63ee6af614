import * as z from 'zod';
import { isObject, type JsonObject } from '../core/json.ts';

/**
 * Arguments of a call that Vertex streams in pieces: `{jsonPath: "$.files[0].name", stringValue: "read"}`. A string arrives in fragments
 * until a piece without `willContinue`.
 */
export interface PartialArguments {
  add(pieces: unknown): void;
  readonly value: JsonObject;
  readonly whole: boolean;
}

export function createPartialArgumentsCollector(): PartialArguments {
  const value: JsonObject = {};
  const open = new Set<string>();
  let understood = true;

  const put = (piece: Piece): boolean => {
    const path = toPath(piece.jsonPath);
    const scalar = scalarOf(piece);
    if (!path || scalar === undefined) return false;
    const key = JSON.stringify(path);
    const continues = open.has(key);
    if (piece.willContinue) open.add(key);
    else open.delete(key);
    return assign(value, path, scalar, continues);
  };

  return {
    value,
    get whole() {
      return understood && open.size === 0;
    },
    add(pieces) {
      if (pieces === undefined) return;
      const list = Array.isArray(pieces) ? pieces : [undefined];
      for (const one of list) {
        const piece = pieceSchema.safeParse(one);
        understood = piece.success && put(piece.data) && understood;
      }
    },
  };
}

type Scalar = string | number | boolean | null;

const pieceSchema = z.object({
  jsonPath: z.string().startsWith('$'),
  stringValue: z.string().optional().catch(undefined),
  numberValue: z.number().optional().catch(undefined),
  boolValue: z.boolean().optional().catch(undefined),
  nullValue: z.unknown().optional(), // `null` or "NULL_VALUE"
  willContinue: z.boolean().optional().catch(undefined),
});
type Piece = z.infer<typeof pieceSchema>;

function scalarOf({ stringValue, numberValue, boolValue, nullValue }: Piece): Scalar | undefined {
  return stringValue ?? numberValue ?? boolValue ?? (nullValue === undefined ? undefined : null);
}

const segment = /\.([^.[\]'"]+)|\[(\d{1,6})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;

/** Parses a path: `$.a[0]['b c']` → `['a', 0, 'b c']`. */
function toPath(jsonPath: string): (string | number)[] | undefined {
  const path: (string | number)[] = [];
  segment.lastIndex = 1;
  while (segment.lastIndex < jsonPath.length) {
    const found = segment.exec(jsonPath);
    if (!found) return undefined;
    const [, plain, index, single, double] = found;
    path.push(index === undefined ? (plain ?? (single ?? double ?? '').replace(/\\(.)/g, '$1')) : Number(index));
  }
  return path.length > 0 && path.length < 100 && !path.includes('__proto__') ? path : undefined;
}

/** Returns false if the path crosses a scalar, leaves a gap in a list or repeats an assignment. */
function assign(root: JsonObject, path: readonly (string | number)[], scalar: Scalar, continues: boolean): boolean {
  let container: unknown = root;
  for (const [at, step] of path.entries()) {
    if (typeof step === 'number' ? !Array.isArray(container) || step > container.length : !isObject(container))
      return false;
    const holder = container as Record<string | number, unknown>;
    const known = Object.hasOwn(holder, step);
    if (at < path.length - 1) {
      if (!known) holder[step] = typeof path[at + 1] === 'number' ? [] : {};
      container = holder[step];
    } else if (!continues) {
      if (known) return false;
      holder[step] = scalar;
    } else {
      if (typeof holder[step] !== 'string' || typeof scalar !== 'string') return false;
      holder[step] += scalar;
    }
  }
  return true;
}
