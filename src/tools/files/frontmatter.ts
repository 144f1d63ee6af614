import { isDeepStrictEqual } from 'node:util';
import { type Document, isCollection, isMap, isNode, isScalar, stringify, type YAMLMap } from 'yaml';
import { exceedsValueLimits } from '../core/parseLimits.ts';
import { ToolError } from '../core/tool.ts';
import { maxFrontmatterBytes, parseYaml } from '../core/yaml.ts';

type Values = Record<string, unknown>;

/**
 * Sets keys in the YAML frontmatter of a text. A value replaces the whole old value; a key without a value is removed. Other keys, comments
 * and the body stay byte-identical. Missing frontmatter is created. Throws `E_INVALID_FRONTMATTER`.
 * @param values the new values, or a function of the current values
 */
export function updateFrontmatter(text: string, values: Values | ((before: Values) => Values)): string {
  const ending = text.includes('\r\n') ? '\r\n' : '\n';
  const found = /^(---[ \t]*\r?\n)([\s\S]*?)(^---[ \t]*(?:\r?\n|$))/m.exec(text);
  const begins = /^---[ \t]*(\r?\n|$)/.test(text);
  if (begins && found?.index !== 0) throw invalid('it begins with "---" and is not closed by another.');
  const source = begins ? found![2]!.replaceAll('\r\n', '\n') : '';
  const updated = updateYaml(source, values).replaceAll('\n', ending);
  if (!begins) return `---${ending}${updated}---${ending}${text === '' ? '' : ending}${text}`;
  return found![1]! + updated + text.slice(found![1]!.length + found![2]!.length);
}

function updateYaml(source: string, update: Values | ((before: Values) => Values)): string {
  const { document, values: before } = read(source);
  const values = typeof update === 'function' ? update(before ?? {}) : update;
  const entries = Object.entries(values);
  if (entries.length === 0) return source;
  if (entries.every(([, value]) => value !== undefined)) {
    const edited = editSource(source, document, values);
    if (edited !== undefined && isDeepStrictEqual(read(edited).values, { ...before, ...values })) return edited;
  }
  for (const [key, value] of entries) {
    if (value === undefined) document.delete(key);
    else document.set(key, value);
  }
  return document.toString({ lineWidth: 0 });
}

function read(source: string): { document: Document; values: Values | null } {
  const { document, trouble } = parseYaml(source, { uniqueKeys: true }, maxFrontmatterBytes);
  if (trouble) throw invalid(trouble.message);
  const problem = document.errors[0];
  if (problem) throw invalid(problem.message.split('\n')[0]!.replace(/:$/, '.'));
  if (document.contents !== null && !isMap(document.contents)) throw invalid('it is not a map of keys to values.');
  let values: Values | null;
  try {
    values = document.toJS({ maxAliasCount: 50 });
  } catch (error) {
    throw invalid((error as Error).message); // aliases that expand to far more than the source
  }
  if (exceedsValueLimits(values)) throw invalid('it holds too much.');
  return { document, values };
}

// Edits only the lines of changed keys; undefined if keys share lines.
function editSource(source: string, document: Document, values: Values): string | undefined {
  const map = document.contents as YAMLMap | null;
  if (map?.flow) return undefined;
  let made = source === '' || source.endsWith('\n') ? source : `${source}\n`;
  const written = (key: string, value: unknown) => stringify({ [key]: value }, { lineWidth: 0 });
  const spans = Object.entries(values).map(([key, value]) => ({ key, value, span: spanOf(source, map, key) }));
  for (const { key, value, span } of spans.toSorted((a, b) => (b.span?.[0] ?? -1) - (a.span?.[0] ?? -1))) {
    if (span) made = made.slice(0, span[0]) + written(key, value).trimEnd() + made.slice(span[1]);
  }
  for (const { key, value, span } of spans) if (!span) made += written(key, value);
  return made;
}

// Returns the span from a key's first character to the value's last character, without following lines and comments.
function spanOf(source: string, map: YAMLMap | null, key: string): [number, number] | undefined {
  const pair = map?.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
  if (!pair || !isNode(pair.key) || !pair.key.range) return undefined;
  const [start, end] = [pair.key.range[0], isNode(pair.value) ? pair.value.range?.[1] : undefined];
  const whole = source.slice(start, Math.max(end ?? 0, pair.key.range[1]));
  return [start, start + (isCollection(pair.value) ? withoutLastComments(whole) : whole.trimEnd()).length];
}

function withoutLastComments(text: string): string {
  const lines = text.trimEnd().split('\n');
  while (lines.length > 1 && /^[ \t]*(#|\r?$)/.test(lines.at(-1)!)) lines.pop();
  return lines.join('\n').trimEnd();
}

const invalid = (why: string) =>
  new ToolError('E_INVALID_FRONTMATTER', `The YAML frontmatter cannot be changed: ${why}`);
