import assert from 'node:assert/strict';
import { findProjectPackages } from '../../../src/tools/commands/grants/projectPackages.ts';
import { checkJsonLimits, exceedsValueLimits, maxJsonBytes } from '../../../src/tools/core/parseLimits.ts';
import { parseYaml } from '../../../src/tools/core/yaml.ts';
import { updateFrontmatter } from '../../../src/tools/files/frontmatter.ts';
import { parseMcpConfig } from '../../../src/tools/mcp/config/config.ts';
import { hasInstallScriptChange } from '../../../src/tools/policy/protectedPaths.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';

const deep = /nested more than 50 levels/;
const large = /larger than 256 KiB/;

describe('JSON of a repository is refused before it is parsed', () => {
  const cases: [what: string, text: string, trouble: RegExp | undefined][] = [
    ['50 levels', '['.repeat(50) + ']'.repeat(50), undefined],
    ['51 levels', '['.repeat(51) + ']'.repeat(51), deep],
    ['levels of both kinds', '{"a":['.repeat(26), deep],
    ['side by side', `[${'[],'.repeat(5000)}{}]`, undefined],
    ['brackets in texts', `["${'['.repeat(500)}", "\\"${'{'.repeat(500)}"]`, undefined],
    ['brackets in comments', `// ${'['.repeat(500)}\n/* ${'{'.repeat(500)} */ {}`, undefined],
    ['ends in texts, which end nothing', '["]",'.repeat(60), deep],
    ['ends in comments, which end nothing', '[ // ]\n'.repeat(60), deep],
    ['ends of others, which end nothing', '[}'.repeat(60), deep],
    ['after a text that ends with its line', `"\n${'['.repeat(60)}`, deep],
    ['a comment without an end', `/* ${'['.repeat(60)}`, undefined],
    ['too much', ' '.repeat(maxJsonBytes + 1), large],
    ['as much as there may be', `"${'x'.repeat(maxJsonBytes - 2)}"`, undefined],
  ];
  for (const [what, text, expected] of cases)
    it(`${what}: ${expected ? 'refused' : 'read'}`, () => {
      const trouble = checkJsonLimits(text);
      if (expected) assert.match(trouble?.message ?? '', expected);
      else assert.equal(trouble, undefined);
    });
});

describe('YAML of a repository is refused before it is composed', () => {
  const cases: [what: string, text: string, trouble: RegExp | undefined][] = [
    ['lists in one line', '['.repeat(60), deep],
    ['maps in one line', '{a: '.repeat(60), deep],
    ['50 levels', '['.repeat(50) + ']'.repeat(50), undefined],
    ['lists in lists', '- '.repeat(60), deep],
    ['keys of keys', '? '.repeat(60), deep],
    ['maps below maps', Array.from({ length: 60 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'), deep],
    ['maps below lists', Array.from({ length: 40 }, (_, depth) => `${' '.repeat(4 * depth)}- a:`).join('\n'), deep],
    ['below tags and anchors', '!a &b [ '.repeat(60), deep],
    [
      'in texts',
      `a: "${'['.repeat(500)}"\nb: |\n  ${'{'.repeat(500)}\nc: '${'- '.repeat(500)}' # ${'['.repeat(500)}`,
      undefined,
    ],
    ['aliases', `a: &a 1\nb: [${'*a, '.repeat(101)}]`, /more than 100 times/],
    ['documents', '---\na: 1\n---\nb: 2\n', /several documents/],
    ['many documents, the last of them deep', `${'--- 1\n'.repeat(50)}${'['.repeat(2000)}`, /several documents/],
    ['quotes beside each other', '"'.repeat(100_000), /^Unexpected double-quoted-scalar/],
    ['quotes over two lines', 'a: "\n'.repeat(20_000), /./],
    ['a hundred mistakes', '"" '.repeat(101), undefined],
    ['an end, and nothing after it', 'a: 1\n...\n# that is all\n', undefined],
    ['too much', `# ${'x'.repeat(maxJsonBytes)}`, large],
  ];
  for (const [what, text, expected] of cases)
    it(`${what}: ${expected ? 'refused' : 'read'}`, () => {
      const { trouble } = parseYaml(text);
      if (expected) assert.match(trouble?.message ?? '', expected);
      else assert.equal(trouble, undefined);
    });

  it('also where there is more than can be read in a moment', () =>
    assert.match(parseYaml(`[${'a, '.repeat(100)}]`, {}, 100).trouble?.message ?? '', /more than 100 names/));
});

describe('what a file means is measured with all that it repeats', () => {
  const twice = (value: unknown): unknown => [value, value];
  let bomb: unknown = 'x';
  for (let depth = 0; depth < 40; depth++) bomb = twice(bomb);
  let nested: unknown = 'x';
  for (let depth = 0; depth < 60; depth++) nested = { nested };
  const cases: [what: string, value: unknown, expected: boolean][] = [
    ['a bomb of 40 doublings', bomb, true],
    ['60 levels that no bracket shows', nested, true],
    ['a long text, often', Array(100).fill('x'.repeat(100_000)), true],
    ['a file of people', { nodes: Array(500).fill({ name: 'a', with: { x: 1 } }) }, false],
  ];
  for (const [what, value, expected] of cases) it(what, () => assert.equal(exceedsValueLimits(value), expected));
});

describe('files that a repository has for others', () => {
  it('frontmatter that is deep, large or a bomb is not changed', () => {
    const refused = (yaml: string) =>
      assert.throws(
        () => updateFrontmatter(`---\n${yaml}\n---\n`, { a: 1 }),
        { code: 'E_INVALID_FRONTMATTER' },
        yaml.slice(0, 20),
      );
    refused(`x: ${'['.repeat(60)}`);
    refused(Array.from({ length: 6000 }, (_, index) => `k${index}: 1`).join('\n'));
    refused(
      `a: &a [x]\n${[...'bcdefghi'].map((name, at) => `${name}: &${name} [${`*${'abcdefghi'[at]},`.repeat(9)}]`).join('\n')}`,
    );
  });

  it('frontmatter keeps its last comments, and a long row of blanks costs nothing', () => {
    const blanks = '\n'.repeat(3000);
    const text = `---\nlist:\n  - one\n  # of the list\n\n# of the next\nnext: 1\n${blanks}---\nText\n`;
    const changed = updateFrontmatter(text, { list: ['two'] });
    assert.equal(changed, text.replace('- one', '- two'));
  });

  it('a package.json that cannot be read is asked about like one with scripts', () => {
    const both = (text: string) => hasInstallScriptChange('package.json', text, `${text} `);
    assert.equal(both('{"scripts":{"test":"x"}}'), false);
    assert.equal(both('{'), true);
    assert.equal(both(`{"x":${'['.repeat(60)}${']'.repeat(60)},"scripts":{"postinstall":"x"}}`), true);
    assert.equal(both(`{"x":"${'x'.repeat(maxJsonBytes)}","scripts":{"postinstall":"x"}}`), true);
  });

  const config = (content: string) =>
    parseMcpConfig({
      name: '.vscode/mcp.json',
      place: '/w/.vscode/mcp.json',
      content,
      folder: { path: '/w', all: [] },
    });
  it('MCP servers of a file that is deep or large are none', async () => {
    assert.deepEqual(await config(`{"servers": ${'{"a":'.repeat(60)}`), {
      problems: ['.vscode/mcp.json: Lists and maps are nested more than 50 levels deep here.'],
    });
    assert.match((await config(' '.repeat(maxJsonBytes + 1))).problems.join(), large);
  });
  it('MCP servers beyond a hundred are not used, and problems beyond 64 not told one by one', async () => {
    const many = (one: unknown) =>
      JSON.stringify({ servers: Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`s${at}`, one])) });
    const { definitions, problems } = await config(many({ command: 'x' }));
    assert.deepEqual(
      [definitions?.length, problems],
      [100, ['.vscode/mcp.json: servers: only the first 100 are used.']],
    );
    const wrong = (await config(many({}))).problems;
    assert.deepEqual([wrong.length, wrong.at(-1)], [65, '.vscode/mcp.json: there is more. Fix this first.']);
  });

  const manifests: [file: string, text: string, packages: string[]][] = [
    [
      'pnpm-workspace.yaml',
      'packages:\n  # ours\n  - "libs/*" # all\n  - \'apps/web\'\n\ncatalog:\n  - no/1\n',
      ['.', 'libs/a', 'apps/web'],
    ],
    ['pnpm-workspace.yaml', 'packages: ["libs/*", apps/web] # all\n', ['.', 'libs/a', 'apps/web']],
    ['pnpm-workspace.yaml', `packages:\n  - libs/*\nx: ${'['.repeat(100_000)}`, ['.', 'libs/a']],
    ['package.json', `{"workspaces": ["libs/*"], "x": ${'['.repeat(60)}${']'.repeat(60)}}`, ['.']],
    [
      'Cargo.toml',
      `${'\n'.repeat(100_000)}[workspace]\nmembers = [\n  "libs/a",\n  'apps/web',\n]\n`,
      ['.', 'libs/a', 'apps/web'],
    ],
    ['Cargo.toml', 'members = [\n'.repeat(15_000), ['.']],
    ['go.work', 'go 1.22\n\nuse (\n\t./libs/a\n\t./apps/web\n)\n', ['.', 'libs/a', 'apps/web']],
    ['go.work', 'use (\n'.repeat(30_000), ['.']],
  ];
  for (const [file, text, expected] of manifests)
    it(`the packages of ${file}: ${text.slice(0, 40).replace(/\s+/g, ' ')}`, async () => {
      const workspace = await temporaryWorkspace({ [file]: text, 'libs/a/x': '', 'apps/web/x': '' });
      try {
        assert.deepEqual(await findProjectPackages(workspace.roots), expected);
      } finally {
        workspace.cleanup();
      }
    });
});
