import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readVsixContents, vsixProblems } from '../../../src/build/check.ts';
import { collectManifestTexts, mapManifestTexts } from '../../../src/build/manifestText.ts';
import { readPackageFacts } from '../../../src/build/shippedPackages.ts';
import { type BuildOutput, buildAllBundles, llamaCppRelease } from '../../../src/build/stage.ts';
import {
  type BuildTarget,
  createTemporaryBuildFolder,
  currentBuildTarget,
  projectRoot,
} from '../../../src/build/targets.ts';
import { packVsix, type Vsix } from '../../../src/build/vsix.ts';

/** What a person installs: the package of this machine, and the one for every platform. */
describe('the packages', function () {
  this.timeout(600_000);
  let work: string;
  let into: string;
  let built: BuildOutput;
  const made = new Map<BuildTarget, { vsix: Vsix; contents: Map<string, Buffer> }>();
  const targets = [...new Set<BuildTarget>([currentBuildTarget(), 'universal'])];

  before(async () => {
    work = createTemporaryBuildFolder();
    into = mkdtempSync(path.join(tmpdir(), 'towpath-vsix-'));
    built = await buildAllBundles(work);
    for (const target of targets) {
      const vsix = packVsix(target, built, into);
      made.set(target, { vsix, contents: await readVsixContents(vsix.file) });
    }
  });
  after(() => {
    for (const folder of [work, into]) if (folder) rmSync(folder, { recursive: true, force: true });
  });
  const text = (target: BuildTarget, name: string) =>
    made.get(target)!.contents.get(`extension/${name}`)?.toString() ?? '';

  for (const target of targets)
    describe(target, () => {
      it('holds what is on the list, within its budget, and nothing of the machine that built it', () => {
        const { vsix, contents } = made.get(target)!;
        assert.deepEqual(vsixProblems(vsix, contents), []);
      });

      it('has every program that the build makes, and everything that the manifest names', () => {
        const { contents } = made.get(target)!;
        const manifest = JSON.parse(text(target, 'package.json'));
        const icons = JSON.stringify(manifest.contributes).match(/"icon":"[\w/.]+"/g) ?? [];
        const named = [manifest.main, manifest.icon, ...icons.map((one) => JSON.parse(`{${one}}`).icon)];
        const dist = readdirSync(path.join(work, 'dist'), { recursive: true, withFileTypes: true });
        const programs = dist.filter((one) => one.isFile()).map((one) => path.join(one.parentPath, one.name));
        const inside = programs.map((file) => path.relative(work, file).split(path.sep).join('/'));
        assert.ok(inside.includes('dist/worker.mjs'));
        for (const file of [...named, ...inside]) assert.ok(contents.has(path.posix.join('extension', file)), file);
        const undone = ['private', 'scripts', 'dependencies', 'devDependencies', 'overrides'];
        assert.deepEqual(
          Object.keys(manifest).filter((key) => undone.includes(key)),
          [],
        );
      });

      it('brings the licence of every package that ships, and lists it', () => {
        const notices = text(target, 'ThirdPartyNotices.txt');
        const { components } = JSON.parse(text(target, 'sbom.cdx.json'));
        const listed = components.map((one: { group?: string; name: string; version: string }) =>
          [one.group, one.name].filter(Boolean).join('/').concat(` ${one.version}`),
        );
        for (const one of shipped(target)) {
          assert.ok(notices.includes(`\n${one}\nLicence: `), `a notice for ${one}`);
          assert.ok(listed.includes(one), `${one} in the list`);
        }
        assert.equal(new Set(listed).size, listed.length);
      });

      it('says in the list of what ships what CycloneDX asks for', () => {
        const bill = JSON.parse(text(target, 'sbom.cdx.json'));
        assert.deepEqual([bill.bomFormat, bill.specVersion, bill.version], ['CycloneDX', '1.5', 1]);
        assert.equal(bill.metadata.component.name, 'towpath');
        for (const one of bill.components) {
          assert.match(one.purl, /^pkg:(npm\/(%40[\w.-]+\/)?[\w.-]+|github\/ggml-org\/llama\.cpp)@[\w.-]+$/);
          assert.ok(one.type === 'library' && one['bom-ref'] === one.purl && one.licenses.length === 1, one.purl);
          for (const { content } of one.hashes ?? []) assert.match(content, /^[0-9a-f]{128}$/);
        }
      });

      it('says everything for people by a key, which has its words in every language', () => {
        const manifest = JSON.parse(text(target, 'package.json'));
        const keys = collectManifestTexts(manifest).map((key) => key.slice(1, -1));
        const [english, german] = ['', '.de'].map((of) => JSON.parse(text(target, `package.nls${of}.json`)));
        assert.deepEqual(Object.keys(english), keys);
        assert.deepEqual(Object.keys(german), keys);
        const said = (words: Record<string, string>) => mapManifestTexts(manifest, (key) => words[key.slice(1, -1)]!);
        const { displayName, description, contributes } = JSON.parse(
          readFileSync(path.join(projectRoot, 'package.json'), 'utf8'),
        );
        const whole = said(english);
        assert.deepEqual(
          [whole.displayName, whole.description, whole.contributes],
          [displayName, description, contributes],
        );
        assert.match(JSON.stringify(said(german)), /"title":"Neuer Lauf","category":"Towpath"/);
        const { l10n } = manifest;
        assert.ok(made.get(target)!.contents.has(path.posix.join('extension', l10n, 'bundle.l10n.de.json')));
      });

      it('tells its own name', () => {
        const own = JSON.parse(text(target, 'dist/target.json'));
        assert.equal(own.target, target);
        assert.equal('engine' in own, target !== 'universal');
      });
    });

  it('built again, has the same bytes', async () => {
    const again = createTemporaryBuildFolder();
    try {
      const second = packVsix('universal', await buildAllBundles(again), again);
      assert.equal(second.sha256, made.get('universal')!.vsix.sha256);
    } finally {
      rmSync(again, { recursive: true });
    }
  });

  it('name llama.cpp in the version that the engines are made of', () =>
    assert.ok(
      readFileSync(path.join(projectRoot, 'src/build/llama.cpp.txt'), 'utf8').startsWith(
        `llama.cpp ${llamaCppRelease()}\n`,
      ),
    ));

  const faults: [string, BuildTarget, (contents: Map<string, Buffer>) => void, RegExp][] = [
    [
      'a map',
      'universal',
      (all) => all.set('extension/dist/extension.cjs.map', Buffer.from('{}')),
      /is not on the list/,
    ],
    ['a source', 'universal', (all) => all.set('extension/src/llm/client.ts', Buffer.from('')), /is not on the list/],
    [
      'an engine where none is',
      'universal',
      (all) => all.set('extension/dist/node_modules/a/a.js', Buffer.from('')),
      /not on the list/,
    ],
    [
      'a path of the builder',
      'universal',
      (all) => all.set('extension/dist/main.cjs', Buffer.from(`"${projectRoot}/src"`)),
      /tells of the builder's/,
    ],
    [
      'the same name in capitals',
      'universal',
      (all) => all.set('extension/dist/MAIN.cjs', Buffer.from('')),
      /is in it twice/,
    ],
    ['no engine where one belongs', 'linux-arm64', () => {}, /linux-arm64\/llama-addon\.node is missing/],
  ];
  for (const [what, target, plant, says] of faults)
    it(`with ${what} would be noticed`, () => {
      const { vsix, contents } = made.get('universal')!;
      const planted = new Map(contents);
      plant(planted);
      assert.match(vsixProblems({ ...vsix, target }, planted).join('\n'), says);
    });

  it('that are too large would be noticed', () => {
    const { vsix, contents } = made.get('universal')!;
    assert.deepEqual(vsixProblems({ ...vsix, bytes: 3_000_001 }, contents), [
      'It has 3000001 bytes, and 3000000 are allowed.',
    ]);
  });

  /** By what is in the package itself, and by what its programs were built from. */
  function shipped(target: BuildTarget): string[] {
    const inside = [...made.get(target)!.contents.keys()]
      .map((name) => /^extension\/dist\/(.*node_modules\/(?:@[^/]+\/)?[^/]+)\/package\.json$/.exec(name)?.[1])
      .filter((folder): folder is string => folder !== undefined)
      .map((folder) => JSON.parse(text(target, `dist/${folder}/package.json`)))
      .map(({ name, version }) => `${name} ${version}`);
    const bundled = built.bundled.map(readPackageFacts).map(({ name, version }) => `${name} ${version}`);
    assert.ok(bundled.some((one) => one.startsWith('zod ')));
    return [...inside, ...bundled];
  }
});
