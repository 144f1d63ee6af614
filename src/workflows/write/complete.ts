import { type Document, isMap, isScalar, isSeq } from 'yaml';
import { workflowStateCompletionsAt } from './stateSuggestions.ts';
import {
  cursorMarker,
  type DescribedJsonSchema,
  findWritingPosition,
  parseYamlTolerantly,
  type WorkflowFileCompletion,
  type WorkflowLanguage,
  type YamlNodePath,
} from './writing.ts';

/** Returns completions for the word before `offset`; `from` is the start of the word. Never throws. */
export function workflowFileCompletionsAt(
  text: string,
  offset: number,
  language: WorkflowLanguage,
): { from: number; all: WorkflowFileCompletion[] } {
  const named = workflowStateCompletionsAt(text, offset, language);
  if (named) return named;
  const from = offset - /[\w.*-]*$/.exec(text.slice(0, offset))![0].length;
  const to = offset + /^[\w.*-]*/.exec(text.slice(offset))![0].length;
  const before = text.slice(text.lastIndexOf('\n', from - 1) + 1, from);
  if (before.includes('#')) return { from, all: [] };
  const isValue = /:\s+["']?$/.test(before) || /:\s*\[[^\]]*$/.test(before);
  const [start, rest] = [text.slice(0, from), text.slice(to)];
  const asKey = parseYamlTolerantly(`${start}${cursorMarker}${/^\s*:/.test(rest) ? '' : ': '}${rest}`);
  const asValue = parseYamlTolerantly(`${start}${cursorMarker}${rest}`);
  if (!asKey || !asValue) return { from, all: [] };
  const keys = isValue ? [] : keysAt(asKey, language);
  const values = isValue || /^\s*-\s+$/.test(before) ? valuesAt(asValue, language) : [];
  return { from, all: [...keys, ...values] };
}

/** Returns the description of the key or action at `offset`. Never throws. */
export function workflowHoverAt(text: string, offset: number, language: WorkflowLanguage): string | undefined {
  const document = parseYamlTolerantly(text);
  if (!document) return undefined;
  const found = findWritingPosition(
    document,
    ({ range }) => range !== undefined && range![0] <= offset && offset <= range![1],
  );
  if (!found) return undefined;
  const { path, node } = found;
  const value = isScalar(node) ? node.value : undefined;
  if (!found.isKey && path.at(-1) === 'uses' && typeof value === 'string') return language.action(value)?.description;
  const known = schemasAt(document, found.isKey ? [...path, String(value)] : path, language);
  const described = known.find(({ description }) => description)?.description;
  if (described !== undefined || !found.isKey || path.at(-1) !== 'with' || known.length === 0) return described;
  const action = document.getIn([...path.slice(0, -1), 'uses']);
  return typeof action === 'string' ? language.action(action)?.description : undefined;
}

function keysAt(document: Document, language: WorkflowLanguage): WorkflowFileCompletion[] {
  const found = findWritingPosition(document, (node) => isScalar(node) && node.value === cursorMarker);
  if (!found?.isKey) return [];
  const map = found.path.length > 0 ? document.getIn(found.path, true) : document.contents;
  const existing = isMap(map) ? map.items.map(({ key }) => String(key)) : [];
  const known = schemasAt(document, found.path, language).flatMap(({ properties = {} }) => Object.entries(properties));
  return known
    .filter(([key, { deprecated }], index) => {
      const first = known.findIndex(([other]) => other === key) === index;
      return first && !deprecated && !existing.includes(key);
    })
    .map(([label, { description }]) => ({ label, kind: 'key', ...(description && { description }) }));
}

function valuesAt(document: Document, language: WorkflowLanguage): WorkflowFileCompletion[] {
  const found = findWritingPosition(document, (node) => isScalar(node) && node.value === cursorMarker);
  if (!found || found.isKey) return [];
  const key = found.path.findLast((part) => typeof part === 'string');
  const values = schemasAt(document, found.path, language).flatMap(valuesOf);
  const names = [...namesFor(String(key), found.path, document), ...(key === 'agent' ? language.agents : [])];
  return [...new Set([...names, ...values])].map((label) => {
    const description = key === 'uses' || key === 'action' ? language.action(label)?.description : undefined;
    return { label, kind: 'value', ...(description && { description }) };
  });
}

function namesFor(key: string, path: YamlNodePath, document: Document): string[] {
  if (!['goto', 'to', 'from', 'fan_in'].includes(key) || (key === 'fan_in' && path[0] !== 'edges')) return [];
  const nodes = document.get('nodes');
  const names = isSeq(nodes) ? nodes.items.map((node) => (isMap(node) ? node.get('name') : undefined)) : [];
  const ends = { goto: ['__end__'], to: ['__end__'], from: ['__start__'], fan_in: [] }[key] ?? [];
  return [...names.filter((name) => typeof name === 'string' && name !== cursorMarker), ...ends] as string[];
}

function valuesOf({ enum: values = [], const: only, type }: DescribedJsonSchema): string[] {
  const all = [...values, ...(only === undefined ? [] : [only]), ...(type === 'boolean' ? [true, false] : [])];
  return all.map(String);
}

function schemasAt(document: Document, path: YamlNodePath, language: WorkflowLanguage): DescribedJsonSchema[] {
  let all = alternatives(language.schema);
  for (const [index, part] of path.entries()) {
    const action = part === 'with' ? document.getIn([...path.slice(0, index), 'uses']) : undefined;
    const known = typeof action === 'string' ? language.action(action) : undefined;
    const inner = all.flatMap(({ items, properties = {}, additionalProperties: more }) => {
      if (typeof part === 'number') return items ? [items] : [];
      const own = Object.hasOwn(properties, part) ? properties[part] : undefined;
      return own ? [own] : typeof more === 'object' ? [more] : [];
    });
    all = (known ? [{ ...inner[0], ...known }] : inner).flatMap(alternatives);
  }
  return all;
}

const alternatives = (schema: DescribedJsonSchema): DescribedJsonSchema[] => [
  schema,
  ...(schema.anyOf ?? []).flatMap(alternatives),
];
