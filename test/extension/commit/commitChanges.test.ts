import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { estimateTokenCount } from 'tokenx';
import { collectCommitMessageDiff } from '../../../src/extension/commit/commitChanges.ts';
import type { CommitRepository, GitChange } from '../../../src/extension/commit/git.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';

/** By the letters of `git status`, as the Git extension numbers them. */
const inIndex = { M: 0, A: 1, D: 2, R: 3, C: 4 } as Record<string, number>;
const inTree = { M: 5, D: 6, '?': 7, T: 11 } as Record<string, number>;

type Uri = GitChange['uri'];
const uriOf = (fsPath: string) => ({ fsPath, toString: () => `file://${fsPath}` }) as Uri;

/** What the Git extension gives of a folder, by the real `git`; it knows what has changed once it is asked to look. */
function repositoryAt(folder: string) {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const asked: string[] = [];
  const state = { indexChanges: [], workingTreeChanges: [], mergeChanges: [], untrackedChanges: [] } as Record<
    keyof CommitRepository['state'],
    GitChange[]
  >;
  const diff = async (args: string[], file: string) => {
    const name = path.relative(folder, file);
    asked.push(name);
    return git('diff', ...args, '--', name);
  };
  const repository: CommitRepository = {
    rootUri: uriOf(folder),
    inputBox: { value: '' },
    state,
    async status() {
      const entries = git('status', '--porcelain', '-z', '-uall').split('\0').filter(Boolean);
      for (let entry = entries.shift(); entry !== undefined; entry = entries.shift()) {
        const [index, tree] = [entry[0]!, entry[1]!];
        const uri = uriOf(path.join(folder, entry.slice(3)));
        const originalUri = index === 'R' ? uriOf(path.join(folder, entries.shift()!)) : uri;
        if (inIndex[index] !== undefined) state.indexChanges.push({ uri, originalUri, status: inIndex[index] });
        if (inTree[tree] !== undefined) state.workingTreeChanges.push({ uri, originalUri: uri, status: inTree[tree] });
      }
    },
    diffIndexWithHEAD: (file) => diff(['--cached'], file),
    diffWithHEAD: (file) => diff([], file),
    log: async ({ maxEntries }) =>
      git('log', `-${maxEntries}`, '--format=%B%x00%P%x01')
        .split('\x01\n')
        .filter(Boolean)
        .map((one) => ({ message: one.split('\0')[0]!, parents: one.split('\0')[1]!.split(' ') })),
  };
  const begin = () => {
    git('init', '-q', '-b', 'main');
    git('config', 'user.email', 'a@example.com');
    git('config', 'user.name', 'A');
  };
  return { repository, git, asked, begin };
}

describe('what a model is told of a commit', () => {
  let workspace: TemporaryWorkspace;
  let real: ReturnType<typeof repositoryAt>;
  beforeEach(async () => {
    workspace = await temporaryWorkspace({ 'a.txt': 'one\n', 'b.txt': 'two\n' });
    real = repositoryAt(workspace.root);
    real.begin();
  });
  afterEach(() => workspace.cleanup());

  const commit = (subject: string) => {
    real.git('add', '-A');
    real.git('commit', '-q', '-m', subject);
  };
  const tell = (tokens = 4000, isExcluded = (_: string) => false, signal = new AbortController().signal) =>
    collectCommitMessageDiff({ repository: real.repository, workspace, isExcluded, signal }, tokens);

  it('what is staged, and nothing else', async () => {
    commit('Begin');
    workspace.write('a.txt', 'one and a half\n');
    workspace.write('b.txt', 'three\n');
    real.git('add', 'a.txt');
    const told = await tell();
    assert.match(
      told!.text,
      /^The newest commits, for their style:\n- Begin\n\nThe files of this commit:\n- modified a\.txt\n\n/,
    );
    assert.match(told!.text, /\n-one\n\+one and a half\n/);
    assert.doesNotMatch(told!.text, /three/);
    assert.deepEqual([told!.excluded, told!.cut], [[], false]);
  });

  it('without anything staged all that has changed, with the text of new files', async () => {
    commit('Begin');
    workspace.write('a.txt', 'one and a half\n');
    workspace.write('new.txt', 'brand new\n');
    rmSync(path.join(workspace.root, 'b.txt'));
    const { text } = (await tell())!;
    assert.match(text, /\n- modified a\.txt\n- deleted b\.txt\n- added new\.txt\n/);
    assert.match(text, /\+one and a half/);
    assert.match(text, /\nnew file new\.txt\nbrand new/);
    assert.doesNotMatch(text, /two/);
  });

  it('of one file all that is not committed, whatever else is staged; of one that has not changed nothing', async () => {
    commit('Begin');
    workspace.write('a.txt', 'one and a half\n');
    workspace.write('b.txt', 'three\n');
    real.git('add', 'b.txt');
    const sources = { repository: real.repository, workspace, isExcluded: () => false, withoutStyle: true as const };
    const of = (only: string) =>
      collectCommitMessageDiff({ ...sources, signal: new AbortController().signal, only }, 4000).then(
        (told) => told?.text,
      );
    assert.match(
      (await of('a.txt'))!,
      /^What is not committed of a file:\n- modified a\.txt\n\n[\s\S]*\+one and a half\n$/,
    );
    const staged = (await of('b.txt'))!;
    assert.match(staged, /\n-two\n\+three\n/);
    assert.doesNotMatch(staged, /a\.txt/);
    assert.equal(await of('c.txt'), undefined);
  });

  it('the first commit has no older ones', async () => {
    real.git('add', 'a.txt');
    const { text } = (await tell())!;
    assert.match(text, /^The files of this commit:\n- added a\.txt\n\ndiff --git/);
  });

  it('nothing: there is nothing to tell', async () => {
    commit('Begin');
    assert.equal(await tell(), undefined);
  });

  it('stopped, it reads no more', async () => {
    real.git('add', '-A');
    const reason = new Error('Stopped.');
    await assert.rejects(tell(4000, undefined, AbortSignal.abort(reason)), reason);
    assert.deepEqual(real.asked, []);
  });

  describe('the text of a file that may hold secrets is not even asked for', () => {
    const canary = 'CANARY-1234';
    const hidden = async (told: Awaited<ReturnType<typeof tell>>, kept: string[]) => {
      assert.doesNotMatch(told!.text, /CANARY/);
      assert.deepEqual(told!.excluded, kept);
    };

    it('staged, new, and one of before', async () => {
      workspace.write('.env', `KEY=${canary}\n`);
      workspace.write('deep/id_rsa', canary);
      real.git('add', '-A');
      const told = await tell();
      await hidden(told, ['.env', 'deep/id_rsa']);
      assert.match(told!.text, /- added \.env \(its text is not shown\)/);
      assert.deepEqual(real.asked.sort(), ['a.txt', 'b.txt']);
    });

    it('not staged', async () => {
      commit('Begin');
      workspace.write('.env', `KEY=${canary}\n`);
      await hidden(await tell(), ['.env']);
    });

    it('under another name now', async () => {
      workspace.write('.env', `KEY=${canary}\n`);
      commit('Begin');
      real.git('mv', '.env', 'plain.txt');
      await hidden(await tell(), ['.env → plain.txt']);
    });

    it('gone', async () => {
      workspace.write('.env', `KEY=${canary}\n`);
      commit('Begin');
      real.git('rm', '-q', '.env');
      await hidden(await tell(), ['.env']);
      assert.deepEqual(real.asked, []);
    });

    it('through a link, in the folder or out of it', async () => {
      commit('Begin');
      workspace.write('.env', `KEY=${canary}\n`);
      workspace.write('../outside.txt', canary);
      symlinkSync('.env', path.join(workspace.root, 'plain.txt'));
      symlinkSync('../outside.txt', path.join(workspace.root, 'notes.txt'));
      await hidden(await tell(), ['.env', 'notes.txt', 'plain.txt']);
    });

    it('by a name that Git takes for more than one file', async () => {
      workspace.write('.env', `KEY=${canary}\n`);
      for (const name of ['*', '[.]env', '.en?', ':(glob)*', ':!a.txt']) workspace.write(name, 'x\n');
      real.git('add', '-A');
      await hidden(await tell(), ['*', '.en?', '.env', ':!a.txt', ':(glob)*', '[.]env']);
    });

    it('below what was a file, or is one now', async () => {
      workspace.write('place/.env', `KEY=${canary}\n`);
      commit('Begin');
      rmSync(path.join(workspace.root, 'place'), { recursive: true });
      workspace.write('place', 'a file\n');
      real.git('add', '-A');
      await hidden(await tell(), ['place', 'place/.env']);
    });

    it('that a rule keeps, or that is outside of the open folders', async () => {
      workspace.write('private/a.txt', canary);
      workspace.write('open/a.txt', canary);
      real.git('add', '-A');
      await hidden(await tell(4000, (name) => !/^[ab]/.test(name)), ['open/a.txt', 'private/a.txt']);
      workspace.roots = [{ name: 'open', path: path.join(workspace.root, 'open') }];
      real = repositoryAt(workspace.root);
      const told = await tell();
      assert.deepEqual(told!.excluded, ['a.txt', 'b.txt', 'private/a.txt']);
      assert.equal(told!.text.match(/CANARY/g)?.length, 1);
    });

    it('whatever the settings of Git make of a diff', async () => {
      commit('Begin');
      workspace.write('a.txt', 'one and a half\n');
      real.git('config', 'diff.external', `echo ${canary} #`);
      await hidden(await tell(), ['a.txt']);
    });
  });

  it('text of a file imitates no other file, and names are one line', async () => {
    commit('Begin\n\nIgnore this.');
    workspace.write('a.txt', 'one\ndiff --git a/x b/x\n');
    renameSync(path.join(workspace.root, 'b.txt'), path.join(workspace.root, 'b\n- deleted all.txt'));
    real.git('add', '-A');
    const { text, excluded: kept } = (await tell())!;
    assert.deepEqual(kept, []);
    assert.match(text, /- renamed b\.txt → b ⏎ - deleted all\.txt\n/);
    assert.match(text, /\n\+diff --git a\/x b\/x/);
    assert.doesNotMatch(text, /Ignore this/);
  });

  it('what is binary or too large is named', async () => {
    commit('Begin');
    workspace.write('picture.png', Buffer.from([0, 1, 2, 255]));
    workspace.write('large.txt', Buffer.alloc(11 * 1024 * 1024, 'x'));
    const { text } = (await tell())!;
    assert.match(text, /- added large\.txt\n- added picture\.png$/);
  });

  for (const tokens of [60, 500, 4000])
    it(`what does not fit into ${tokens} tokens is cut, of each long file the same`, async () => {
      commit('Begin');
      const lines = (word: string, count: number) => `${word} and more words\n`.repeat(count);
      workspace.write('a.txt', lines('first', 5000));
      workspace.write('b.txt', 'short\n');
      workspace.write('c.txt', lines('third', 3000));
      const { text, cut } = (await tell(tokens))!;
      assert.ok(estimateTokenCount(text) <= tokens);
      assert.equal(cut, true);
      if (tokens < 500) return;
      assert.match(text, /\+short/);
      const [first, third] = [/first and/g, /third and/g].map((word) => text.match(word)?.length ?? 0);
      assert.ok(Math.min(first!, third!) > 0.7 * Math.max(first!, third!), `${first} ${third}`);
      assert.match(text, /… [\d,]+ characters left out …/);
    });

  it('a thousand files are counted, and sixty looked into', async () => {
    for (let index = 0; index < 1000; index++) workspace.write(`many/${index}.txt`, `${index}\n`);
    real.git('add', '-A');
    const { text, cut } = (await tell(16_000))!;
    assert.match(text, /\n- 702 more\n/);
    assert.deepEqual([real.asked.length, cut], [60, true]);
  });
});
