import { maxFrontmatterBytes, parseYaml } from '../core/yaml.ts';

/**
 * Splits a text into frontmatter and body. Values are text (a list is joined by commas). Invalid YAML is read as lines `key: value`,
 * because `applyTo: **` is common.
 */
export function splitFrontmatter(text: string): { head: Record<string, string>; body: string } {
  const found = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m.exec(text);
  if (!found || found.index > 0) return { head: {}, body: text };
  const [all, source] = found;
  return { head: fromYaml(source!) ?? fromLines(source!), body: text.slice(all.length) };
}

function fromYaml(source: string): Record<string, string> | undefined {
  const { document } = parseYaml(source, { uniqueKeys: true }, maxFrontmatterBytes);
  if (!document || document.errors.length > 0) return undefined;
  try {
    const values: unknown = document.toJS({ maxAliasCount: 0 });
    if (typeof values !== 'object' || values === null || Array.isArray(values)) return undefined;
    return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, asText(value)]));
  } catch {
    return undefined; // aliases
  }
}

const asText = (value: unknown): string => {
  if (Array.isArray(value)) return value.filter((one) => typeof one !== 'object').join(',');
  return typeof value === 'object' || value === undefined ? '' : String(value);
};

const fromLines = (source: string): Record<string, string> =>
  Object.fromEntries(
    [...source.matchAll(/^([\w-]+):[ \t]*(.*?)[ \t]*\r?$/gm)].map(([, key, value]) => [
      key,
      value!.replace(/^(['"])(.*)\1$/, '$2'),
    ]),
  );
