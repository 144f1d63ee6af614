import { type Document, isPair, isScalar, isSeq, type Node, type Pair, visit } from 'yaml';
import { parseYaml } from '../../tools/core/yaml.ts';

// Language knowledge and positions of a file during input.

export interface DescribedJsonSchema {
  description?: string;
  deprecated?: boolean;
  type?: string | string[];
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly DescribedJsonSchema[];
  properties?: Record<string, DescribedJsonSchema>;
  additionalProperties?: DescribedJsonSchema | boolean;
  items?: DescribedJsonSchema;
}

export interface WorkflowActionSchema extends DescribedJsonSchema {
  gives?: DescribedJsonSchema;
}

export interface WorkflowFileCompletion {
  label: string;
  kind: 'key' | 'value';
  description?: string;
}

export interface WorkflowLanguage {
  schema: DescribedJsonSchema;
  action(name: string): WorkflowActionSchema | undefined;
  agents: readonly string[];
}

export const cursorMarker = 'towpath__here';
const tolerant = { strict: false, uniqueKeys: false, logLevel: 'silent' } as const;
/** Parses tolerantly; returns undefined for an unsupported document. */
export const parseYamlTolerantly = (text: string): Document | undefined => parseYaml(text, tolerant).document;
export type YamlNodePath = readonly (string | number)[];

interface WritingPosition {
  /** Path of the containing mapping or list for a key, of the value itself for a value. */
  path: YamlNodePath;
  node: Node;
  isKey: boolean;
}

export function findWritingPosition(document: Document, wanted: (node: Node) => boolean): WritingPosition | undefined {
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

function pathOf(above: readonly (Node | Pair | Document)[], last: string | number | null): YamlNodePath {
  const path: (string | number)[] = [];
  for (const [index, one] of above.entries()) {
    const next = above[index + 1];
    if (isPair(one) && (next || last === 'value')) path.push(String(isScalar(one.key) ? one.key.value : one.key));
    else if (isSeq(one)) path.push(next ? one.items.indexOf(next) : Number(last));
  }
  return path;
}
