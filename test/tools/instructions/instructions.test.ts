import assert from 'node:assert/strict';
import { rmSync, symlinkSync } from 'node:fs';
import * as paths from 'node:path';
import { toEnglishText } from '../../../src/protocol/text/l10n.ts';
import { splitFrontmatter } from '../../../src/tools/instructions/header.ts';
import { parseGlobList, workspaceInstructions } from '../../../src/tools/instructions/instructions.ts';
import { parseIncludePaths } from '../../../src/tools/policy/includes.ts';
import { resolvePath } from '../../../src/tools/sandbox/paths.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';

describe('the workspace’s own instructions', () => {
  let workspace: TemporaryWorkspace;
  afterEach(() => workspace.cleanup());
  const begin = async (files: Record<string, string>, folders?: string[]) => {
    workspace = await temporaryWorkspace(files, { folders });
  };
  const look = (isKept: (path: string) => boolean = () => false) =>
    workspaceInstructions({ workspace, isExcluded: isKept });
  const told = async (isKept?: (path: string) => boolean) =>
    (await look(isKept).everywhere()).map(({ path, text }) => `${path}: ${text}`);
  const near = async (...of: string[]) =>
    (await look().near(of)).map(({ path, text, scope }) => `${path} for ${scope}: ${text}`);
  const skill = (name: string, about: string) => `---\nname: ${name}\ndescription: ${about}\n---\nDo it.`;

  // They go to the model before anybody is asked anything.
  const links: [target: string | undefined, text: string[]][] = [
    [undefined, ['AGENTS.md: Use tabs.']],
    ['docs/rules.md', ['docs/rules.md: Use blanks.']],
    ['.env', []],
    ['../outside.md', []],
    ['/dev/zero', []],
    ['nowhere.md', []],
  ];
  for (const [target, text] of links)
    it(`${target ? `AGENTS.md as a link to ${target}` : 'AGENTS.md as a file'}: ${text[0] ?? 'nothing is read'}`, async () => {
      await begin({
        'AGENTS.md': 'Use tabs.',
        'docs/rules.md': 'Use blanks.',
        '.env': 'KEY=CANARY',
        '../outside.md': 'CANARY',
      });
      if (target) {
        rmSync(paths.join(workspace.root, 'AGENTS.md'));
        symlinkSync(target, paths.join(workspace.root, 'AGENTS.md'));
      }
      assert.deepEqual(await told(), text);
    });

  it('are as the editor has them, and none in a workspace that is not trusted', async () => {
    await begin({ 'AGENTS.md': 'Use tabs.', 'docs/AGENTS.md': 'Shortly.', 'docs/a.md': 'a' });
    workspace.openInEditor('AGENTS.md', 'Use tabs, mostly.');
    assert.deepEqual(await told(), ['AGENTS.md: Use tabs, mostly.']);
    assert.deepEqual(await near('docs/a.md'), ['docs/AGENTS.md for docs/: Shortly.']);
    workspace.trusted = false;
    assert.deepEqual([await told(), await near('docs/a.md')], [[], []]);
  });

  it('come from every file that people have for agents, in every folder of the window, no text twice', async () => {
    await begin(
      {
        'one/AGENTS.md': 'One.',
        'two/AGENTS.md': 'Two.',
        'one/CLAUDE.md': 'One.\n',
        'two/CLAUDE.md': 'See @notes.md.',
        'two/notes.md': 'Noted.',
        'one/.github/copilot-instructions.md': 'Ours.',
        'one/.github/instructions/all.instructions.md': "---\napplyTo: '**'\n---\nAlways.",
        'one/.github/instructions/deep/ts.instructions.md': '---\napplyTo: **/*.ts\n---\nTypes.',
        'one/.github/instructions/asked.instructions.md': '---\ndescription: by hand\n---\nSometimes.',
        'one/.github/instructions/README.md': 'For people.',
        'two/.github/skills/pdf/SKILL.md': skill('pdf', 'Reads PDF files.'),
      },
      ['one', 'two'],
    );
    assert.deepEqual(await told(), [
      'one/AGENTS.md: One.',
      'two/AGENTS.md: Two.',
      'two/CLAUDE.md: See @notes.md.',
      'two/notes.md: Noted.',
      'one/.github/copilot-instructions.md: Ours.',
      'one/.github/instructions/all.instructions.md: Always.',
      'skills: - pdf (two/.github/skills/pdf/SKILL.md): Reads PDF files.',
    ]);
  });

  it('of CLAUDE.md come with what it includes: a few levels deep, once, and nothing from outside, no secret, nothing in code', async () => {
    await begin({
      'CLAUDE.md':
        'A @docs/a.md and @docs/a.md, `@docs/code.md`, @.env @../outside.md @~/home.md @gone.md me@docs.md\n```\n@docs/code.md\n```',
      'docs/a.md': '@b.md and back: @../CLAUDE.md',
      'docs/b.md': '@c1.md',
      ...Object.fromEntries([1, 2, 3, 4].map((at) => [`docs/c${at}.md`, `${at} @c${at + 1}.md`])),
      'docs/code.md': 'CANARY',
      'docs.md': 'CANARY',
      '.env': 'KEY=CANARY',
      '../outside.md': 'CANARY',
    });
    assert.deepEqual(
      (await look().everywhere()).map(({ path }) => path),
      ['CLAUDE.md', 'docs/a.md', 'docs/b.md', 'docs/c1.md', 'docs/c2.md', 'docs/c3.md'],
    );
    assert.ok(!(await told()).join().includes('CANARY'));
  });

  it('are not sent of files that a rule keeps', async () => {
    await begin({ 'AGENTS.md': 'Use tabs.', 'CLAUDE.md': '@private/plan.md', 'private/plan.md': 'CANARY' });
    assert.deepEqual(await told((path) => path.startsWith('private/')), ['AGENTS.md: Use tabs.']);
  });

  it('for some files are told when these are come to: the nearest AGENTS.md below, and what names them by a glob', async () => {
    await begin({
      'AGENTS.md': 'Top.',
      'a/AGENTS.md': 'A.',
      'a/b/AGENTS.md': 'B.',
      'a/b/c/d.ts': '',
      'a/e.py': '',
      'f.ts': '',
      '.github/instructions/ts.instructions.md': "---\napplyTo: '**/*.{ts,tsx}, *.mts'\n---\nTypes.",
      '.github/instructions/out.instructions.md': "---\napplyTo: '../**'\n---\nCANARY",
    });
    const types = '.github/instructions/ts.instructions.md for **/*.{ts,tsx}, *.mts: Types.';
    assert.deepEqual(await near('a/b/c/d.ts'), ['a/b/AGENTS.md for a/b/: B.', types]);
    assert.deepEqual(await near('a/e.py'), ['a/AGENTS.md for a/: A.']);
    assert.deepEqual(await near('f.ts', 'gone.ts', '../x.ts'), [types]);
    assert.deepEqual(await told(), ['AGENTS.md: Top.']);
  });

  it('list skills by name and purpose in a line each, the same text once', async () => {
    await begin({
      '.github/skills/pdf/SKILL.md': skill('pdf', '>\n  Reads\n  PDF files.'),
      '.claude/skills/pdf/SKILL.md': skill('pdf', '>\n  Reads\n  PDF files.'),
      '.agents/skills/pdf/SKILL.md': skill('pdf', 'Another one.'),
      '.agents/skills/group/deep/SKILL.md': skill('deep', 'In a group.'),
      '.claude/skills/nameless/SKILL.md': '---\ndescription: Has the name of its folder.\n---\n',
      '.agents/skills/mute/SKILL.md': 'Do it.',
      '.agents/skills/long/SKILL.md': skill('long', 'x'.repeat(1000)),
      '.agents/skills/long/notes.md': skill('notes', 'No skill.'),
    });
    const [skills] = await look().everywhere();
    assert.deepEqual(skills?.text.split('\n'), [
      '- pdf (.github/skills/pdf/SKILL.md): Reads PDF files.',
      '- nameless (.claude/skills/nameless/SKILL.md): Has the name of its folder.',
      '- deep (.agents/skills/group/deep/SKILL.md): In a group.',
      `- long (.agents/skills/long/SKILL.md): ${'x'.repeat(239)}…`,
      '- mute (.agents/skills/mute/SKILL.md)',
      '- pdf (.agents/skills/pdf/SKILL.md): Another one.',
    ]);
  });

  it('list all of 49 skills with a hundred files each, and one behind a link', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 49 }, (_, at) => [`.claude/skills/s${at}/SKILL.md`, skill(`s${at}`, `Does ${at}.`)]),
    );
    const more = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`.claude/skills/s0/reference/${at}.md`, 'More.']),
    );
    await begin({ ...files, ...more, 'shared/linked/SKILL.md': skill('linked', 'Behind a link.') });
    symlinkSync('../../shared/linked', paths.join(workspace.root, '.claude/skills/linked'));
    symlinkSync('/etc', paths.join(workspace.root, '.claude/skills/outside'));
    const names = (await look().skills()).map(({ name }) => name).sort();
    assert.deepEqual(names, ['linked', ...Array.from({ length: 49 }, (_, at) => `s${at}`)].sort());
    workspace.trusted = false;
    assert.deepEqual(await look().skills(), []);
  });

  it('read headers as they are written: YAML, lists, unquoted stars, bombs', () => {
    const applies = (source: string) => parseGlobList(splitFrontmatter(`---\n${source}\n---\ntext`).head.applyTo ?? '');
    assert.deepEqual(applies('applyTo: **/*.py'), ['**/*.py']);
    assert.deepEqual(applies('applyTo:\n  - "a/**"\n  - b.ts'), ['a/**', 'b.ts']);
    assert.deepEqual(applies('applyTo: "**/*.{a,b},c"'), ['**/*.{a,b}', 'c']);
    assert.deepEqual(splitFrontmatter('no header\n---\na: b\n---\n').head, {});
    assert.equal(splitFrontmatter('---\r\na: b\r\n---\r\nbelow').body, 'below');
    const bomb = `---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b]\nname: n\n---\n`;
    assert.equal(splitFrontmatter(bomb).head.name, 'n');
    assert.deepEqual(parseIncludePaths('@a.md, (@no) @b/c.md.'), ['a.md', 'b/c.md']);
  });

  it('are protected places, what CLAUDE.md includes among them: a change of it is asked about every time', async () => {
    await begin({
      'CLAUDE.md': '@docs/a.md @docs/new.md @gone/x.md',
      'docs/a.md': '@b.md',
      'docs/b.md': 'B',
      'docs/c.md': 'C',
      'sub/AGENTS.md': 'S',
    });
    const why = async (path: string) =>
      toEnglishText((await resolvePath(workspace.roots, path, 'write')).protected ?? 'free');
    const includedIt = 'CLAUDE.md includes it, so it instructs agents, this one included.';
    const itself = 'It instructs or configures agents, this one included.';
    assert.deepEqual(
      await Promise.all(
        [
          'docs/a.md',
          'docs/b.md',
          'docs/new.md',
          'docs/c.md',
          'CLAUDE.md',
          'sub/AGENTS.md',
          '.agents/skills/x/SKILL.md',
        ].map(why),
      ),
      [includedIt, includedIt, includedIt, 'free', itself, itself, itself],
    );
  });
});
