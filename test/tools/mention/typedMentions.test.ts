import assert from 'node:assert/strict';
import { mentionTextOf } from '../../../src/protocol/content/mentionText.ts';
import { resolveTypedMention, withoutPunctuation } from '../../../src/tools/mention/typed.ts';

const files = [
  'README.md',
  'src/cli.ts',
  'src/odd,name.ts',
  'docs/guide.md',
  '.env',
  'Makefile',
  'property',
  'a.b/c.ts',
];
const folders = ['src', 'docs', 'docs/deep', 'a.b'];
const kindOf = async (path: string) =>
  files.includes(path) ? ('file' as const) : folders.includes(path) ? ('folder' as const) : undefined;
const has = (extension: string) => files.some((file) => file.endsWith(`.${extension}`));

describe('A word typed after an @', () => {
  const rows: [word: string, names: string | 'unknown' | undefined][] = [
    // What is there.
    ['@src/cli.ts', 'file @src/cli.ts'],
    ['@src/cli.ts,', 'file @src/cli.ts'],
    ['@src/cli.ts).', 'file @src/cli.ts'],
    ['@src/cli.ts:', 'file @src/cli.ts'],
    ['@README.md?', 'file @README.md'],
    ['@.env', 'file @.env'],
    ['@src/', 'folder @src'],
    ['@docs/deep.', 'folder @docs/deep'],
    ['@docs/deep/', 'folder @docs/deep'],
    ['@src/cli.ts:3', 'lines @src/cli.ts:3'],
    ['@src/cli.ts:3-9.', 'lines @src/cli.ts:3-9'],
    ['@selection', 'selection @selection'],
    ['@changes,', 'changes @changes'],
    ['@problems', 'problems @problems'],
    ['@terminal.', 'terminal @terminal'],
    // What is meant and not there.
    ['@src/clii.ts', 'unknown'],
    ['@src/cli.ts/x', 'unknown'],
    ['@docs/nothing', 'unknown'],
    ['@READMEE.md', 'unknown'],
    ['@cli.ts,', 'unknown'],
    ['@src/clii.ts:3-9', 'unknown'],
    ['@src/cli.ts:9-3', 'unknown'],
    // What is no mention: decorators, packages, users, versions, styles, annotations, addresses.
    ['@Injectable()', undefined],
    ['@Component({', undefined],
    ['@property', undefined],
    ['@Makefile', undefined],
    ['@src', undefined],
    ['@dataclass', undefined],
    ['@app.route("/x")', undefined],
    ['@pytest.fixture', undefined],
    ['@app.get', undefined],
    ['@types/node', undefined],
    ['@angular/core', undefined],
    ['@types/node@18', undefined],
    ['@scope/package/file.ts', undefined],
    ['@octocat', undefined],
    ['@media', undefined],
    ['@param', undefined],
    ['@https://example.com/a.ts', undefined],
    ['@example.com', undefined],
    ['@v1.2', undefined],
    ['@...', undefined],
    ['@', undefined],
    // What is out of the workspace, or no path.
    ['@/etc/passwd', undefined],
    ['@../secret.ts', undefined],
    ['@src/../../x.ts', undefined],
    ['@src//cli.ts', undefined],
    ['@~/x.ts', undefined],
    ['@C:\\x.ts', undefined],
  ];
  for (const [word, names] of rows)
    it(`${word}: ${names ?? 'text'}`, async () => {
      const found = await resolveTypedMention(word, kindOf, has);
      assert.equal(typeof found === 'object' ? `${found.kind} ${mentionTextOf(found)}` : found, names);
    });

  it('asks for no path that is none', async () => {
    const asked: string[] = [];
    for (const [word] of rows)
      await resolveTypedMention(
        word,
        async (path) => {
          asked.push(path);
          return kindOf(path);
        },
        has,
      );
    assert.deepEqual(
      asked.filter((path) => path.startsWith('/') || path.split('/').includes('..') || path === ''),
      [],
    );
  });

  it('is marked without what ends the sentence', () =>
    assert.equal(withoutPunctuation('@src/clii.ts).'), '@src/clii.ts'));
});
