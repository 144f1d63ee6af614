import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { collectManifestTexts, mapManifestTexts, toTranslatableManifest } from '../../src/build/manifestText.ts';
import { germanFile } from './keys.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string) => JSON.parse(readFileSync(path.resolve(root, file), 'utf8'));

describe('What the editor shows of package.json', () => {
  const manifest = read('package.json');
  const german: Record<string, string> = read('src/l10n/package.nls.de.json');

  it('is all there in German, and nothing else is', () => {
    const words = collectManifestTexts(manifest);
    assert.ok(words.length > 150);
    assert.deepEqual(
      words.filter((english) => !german[english]),
      [],
    );
    assert.deepEqual(
      Object.keys(german).filter((english) => !words.includes(english)),
      [],
    );
  });

  it('keeps code, settings, links and lines in German', () => {
    const kept = (text: string) => text.match(/`[^`]*`|#towpath\.[\w.]+#|\]\([^)]*\)|\n/g)?.sort() ?? [];
    const isName = (part: string) => part === '`Anbieter/Modell`' || part === '`provider/model`';
    for (const [english, words] of Object.entries(german))
      assert.deepEqual(
        kept(words).filter((part) => !isName(part)),
        kept(english).filter((part) => !isName(part)),
        english,
      );
  });

  it('names commands in German as the palette does', () => {
    const names = (text: string) => [...text.matchAll(/\*Towpath: ([^*]+)\*/g)].map(([, name]) => name!);
    for (const [english, words] of Object.entries(german))
      assert.deepEqual(
        names(words),
        names(english).map((name) => german[name]),
        english,
      );
  });

  it('says the same in German as the panel and the questions, where those say the same in English', () => {
    const bundle: Record<string, string> = read(germanFile);
    const both = Object.keys(german).filter((english) => Object.hasOwn(bundle, english));
    assert.deepEqual(
      both.map((english) => [english, bundle[english]]),
      both.map((english) => [english, german[english]]),
    );
  });

  it('is found by keys that the editor and its packer understand, and reads as before in English', () => {
    const { manifest: keyed, english } = toTranslatableManifest(manifest);
    for (const key of Object.keys(english)) assert.match(key, /^[\w.-]+$/);
    assert.deepEqual(
      mapManifestTexts(keyed, (key) => english[key.slice(1, -1)]!),
      manifest,
    );
    assert.deepEqual(
      collectManifestTexts(keyed).filter((one) => !/^%.+%$/.test(one)),
      [],
    );
  });

  it('is no value of a setting', () => {
    const values = (of: object) => {
      const all: unknown[] = [];
      JSON.stringify(of, (key, value) => {
        if (key === 'default' || key === 'enum') all.push(value);
        return value;
      });
      return all;
    };
    assert.ok(values(manifest).length > 40);
    assert.deepEqual(values(toTranslatableManifest(manifest).manifest), values(manifest));
  });
});
