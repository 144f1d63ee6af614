const spoken = new Set([
  'displayName',
  'description',
  'markdownDescription',
  'deprecationMessage',
  'markdownDeprecationMessage',
  'errorMessage',
  'patternErrorMessage',
  'enumDescriptions',
  'markdownEnumDescriptions',
  'enumItemLabels',
  'title',
  'category',
  'label',
  'name',
  'altText',
]);

const values = new Set(['default', 'enum']);

type Manifest = Record<string, unknown>;

export function mapManifestTexts<Of extends Manifest>(
  manifest: Of,
  mapText: (english: string, keyPath: string) => string,
): Of {
  const walk = (value: unknown, name: string, keyPath: string): unknown => {
    if (typeof value === 'string') return spoken.has(name) ? mapText(value, keyPath) : value;
    if (Array.isArray(value)) return value.map((one, nth) => walk(one, name, `${keyPath}.${idOf(one) ?? nth}`));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, values.has(key) ? one : walk(one, key, `${keyPath}.${key}`)]),
    );
  };
  const parts = { displayName: '', description: '', capabilities: '', contributes: '' };
  const mapped = Object.entries(manifest).map(([key, value]) => [key, key in parts ? walk(value, key, key) : value]);
  return Object.fromEntries(mapped);
}

function idOf(part: unknown): string | undefined {
  const { id, command } = (part ?? {}) as { id?: unknown; command?: unknown };
  return [id, command].find((one): one is string => typeof one === 'string');
}

export function collectManifestTexts(manifest: Manifest): string[] {
  const texts = new Set<string>();
  mapManifestTexts(manifest, (english) => {
    texts.add(english);
    return english;
  });
  return [...texts];
}

/** A manifest with keys instead of texts, and the texts by key, as VS Code expects in `package.nls.json`. */
interface Translatable<Of> {
  manifest: Of;
  english: Record<string, string>;
}

export function toTranslatableManifest<Of extends Manifest>(manifest: Of): Translatable<Of> {
  const keys = new Map<string, string>();
  const keyed = mapManifestTexts(manifest, (english, keyPath) => {
    const key = keys.get(english) ?? keyPath.replace(/[^\w.-]/g, '-');
    keys.set(english, key);
    return `%${key}%`;
  });
  return { manifest: keyed, english: Object.fromEntries([...keys].map(([english, key]) => [key, english])) };
}
