import { type Document, isPair, isScalar, isSeq, type Node, type Pair, visit } from 'yaml';
import { parseYaml } from '../../tools/core/yaml.ts';

// A file that is being written: what is known of its language, and where in it something stands.

/** The part of a JSON schema that is read here. */
export interface Schema {
  description?: string;
  deprecated?: boolean;
  type?: string | string[];
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
}

/** Of an action: what it takes, and what its result holds. */
export interface ActionSchema extends Schema {
  gives?: Schema;
}

export interface Suggestion {
  label: string;
  kind: 'key' | 'value';
  description?: string;
}

/** What can be told about a file that is being written. */
export interface WorkflowLanguage {
  schema: Schema;
  /** Undefined: not known. */
  action(name: string): ActionSchema | undefined;
  /** Names of agents of the workspace. */
  agents: readonly string[];
}

/** Stands where something is being written. */
export const marker = 'towpath__here';
const tolerant = { strict: false, uniqueKeys: false, logLevel: 'silent' } as const;
/** Undefined: it is no file to help with. */
export const parsed = (text: string): Document | undefined => parseYaml(text, tolerant).document;
export type Path = readonly (string | number)[];

interface WritingPosition {
  /** The mapping or list that a key is in; of a value, where it stands. */
  path: Path;
  node: Node;
  isKey: boolean;
}

export function find(document: Document, wanted: (node: Node) => boolean): WritingPosition | undefined {
  let found: WritingPosition | undefined;
  visit(document, {
    Scalar(key, node, above) {
      if (!wanted(node as Node)) return undefined;
      found = { path: pathOf(above as Node[], key), node: node as Node, isKey: key === 'key' };
      return visit.BREAK;
    },
  });
  return found;
}

function pathOf(above: readonly (Node | Pair | Document)[], last: string | number | null): Path {
  const path: (string | number)[] = [];
  for (const [index, one] of above.entries()) {
    const next = above[index + 1];
    if (isPair(one) && (next || last === 'value')) path.push(String(isScalar(one.key) ? one.key.value : one.key));
    else if (isSeq(one)) path.push(next ? one.items.indexOf(next) : Number(last));
  }
  return path;
}
