/** What people read in a manifest, by the names under which it stands there. Of a setting, what its schema says, too. */
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

/** Values of settings, which are the same in every language. */
const values = new Set(['default', 'enum']);

type Manifest = Record<string, unknown>;

/** The same manifest with other words for people: `say` is given each, and where it stands. */
export function withManifestTexts<Of extends Manifest>(
  manifest: Of,
  say: (english: string, place: string) => string,
): Of {
  const walk = (value: unknown, name: string, place: string): unknown => {
    if (typeof value === 'string') return spoken.has(name) ? say(value, place) : value;
    if (Array.isArray(value)) return value.map((one, nth) => walk(one, name, `${place}.${idOf(one) ?? nth}`));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, values.has(key) ? one : walk(one, key, `${place}.${key}`)]),
    );
  };
  const parts = { displayName: '', description: '', capabilities: '', contributes: '' };
  const told = Object.entries(manifest).map(([key, value]) => [key, key in parts ? walk(value, key, key) : value]);
  return Object.fromEntries(told);
}

/** By which the parts of a list are told apart in a key. */
function idOf(part: unknown): string | undefined {
  const { id, command } = (part ?? {}) as { id?: unknown; command?: unknown };
  return [id, command].find((one): one is string => typeof one === 'string');
}

/** Everything that people read in it, once each. */
export function manifestTexts(manifest: Manifest): string[] {
  const words = new Set<string>();
  withManifestTexts(manifest, (english) => {
    words.add(english);
    return english;
  });
  return [...words];
}

/** A manifest with keys in the place of its words, and the words by their keys: what an editor looks for as `package.nls.json` beside it. */
interface Translatable<Of> {
  manifest: Of;
  english: Record<string, string>;
}

export function translatable<Of extends Manifest>(manifest: Of): Translatable<Of> {
  const keys = new Map<string, string>();
  const keyed = withManifestTexts(manifest, (english, place) => {
    const key = keys.get(english) ?? place.replace(/[^\w.-]/g, '-');
    keys.set(english, key);
    return `%${key}%`;
  });
  return { manifest: keyed, english: Object.fromEntries([...keys].map(([english, key]) => [key, english])) };
}
