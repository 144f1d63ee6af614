import { createDictionary } from '../../protocol/values/dictionary.ts';
import { maxFrontmatterBytes, maxYamlAliases, parseYaml } from '../../tools/core/yaml.ts';

/**
 * Front matter of an agent file. `values` is undefined if the file has none; `isLoose`: it is no valid YAML and was read line by line.
 * `unclear` names a key that limits the agent and cannot be read.
 */
interface AgentHeader {
  values?: Record<string, unknown>;
  isLoose?: true;
  unclear?: string;
  body: string;
}

/** Keys that take something away from an agent: without their values, the agent could do more than its file says. */
const limitingKeys = ['tools', 'allowed-tools', 'disallowedTools', 'permission', 'permissions', 'permissionMode'];

/**
 * Splits an agent file into front matter and body. Descriptions with a colon, which are invalid YAML, are common; other agents read such
 * files line by line.
 */
export function parseAgentHeader(text: string): AgentHeader {
  const whole = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const [all, source] = /^---[ \t]*\n([\s\S]*?)^---[ \t]*(?:\n|$)/m.exec(whole) ?? [];
  if (all === undefined || !whole.startsWith(all)) return { body: whole };
  const body = whole.slice(all.length);
  const values = fromYaml(source!);
  return values ? { values, body } : { ...fromLines(source!), isLoose: true, body };
}

function fromYaml(source: string): Record<string, unknown> | undefined {
  const { document } = parseYaml(source, { uniqueKeys: true }, maxFrontmatterBytes);
  if (!document || document.errors.length > 0) return undefined;
  try {
    const values: unknown = document.toJS({ maxAliasCount: maxYamlAliases });
    if (values === null) return createDictionary();
    if (typeof values !== 'object' || Array.isArray(values)) return undefined;
    return Object.assign(createDictionary(), values);
  } catch {
    return undefined; // more aliases than allowed
  }
}

function fromLines(source: string): Pick<AgentHeader, 'values' | 'unclear'> {
  const values = createDictionary<unknown>();
  let unclear: string | undefined;
  let last: string | undefined;
  for (const line of source.split('\n')) {
    const [, key, value = ''] = /^['"]?([\w-]+)['"]?[ \t]*:(?:[ \t]+(.*?))?[ \t]*$/.exec(line) ?? [];
    const [, item] = /^[ \t]*-[ \t]+([^:{}[\]]+?)[ \t]*$/.exec(line) ?? [];
    if (key !== undefined) {
      if (limitingKeys.includes(key) && Object.hasOwn(values, key)) unclear ??= key;
      values[key] = unquoted(value);
      last = key;
    } else if (last === undefined || line.trim() === '' || !limitingKeys.includes(last)) continue;
    else if (item !== undefined && isList(values[last])) values[last] = [...listed(values[last]), unquoted(item)];
    else unclear ??= last;
  }
  for (const key of limitingKeys) {
    const value = values[key];
    if (typeof value !== 'string') continue;
    const [, inside] = /^\[([^[\]]*)\]$/.exec(value) ?? [];
    if (/[[\]{}*&!|>]/.test(inside ?? value)) unclear ??= key;
    else if (inside !== undefined) values[key] = inside.split(',').map((one) => unquoted(one.trim()));
  }
  return { values, ...(unclear !== undefined && { unclear }) };
}

const unquoted = (value: string) => value.replace(/^(['"])(.*)\1$/, '$2');
const isList = (value: unknown) => value === '' || Array.isArray(value);
const listed = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
