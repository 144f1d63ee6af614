import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { UndoConfirmationAnswer, UndoConfirmationRequest, UndoResult } from '../../../src/engine/run/undo.ts';
import { runToMarkdown } from '../../../src/protocol/run/exportMarkdown.ts';
import { newestRedoableUndo } from '../../../src/protocol/run/runFiles.ts';
import { undoableCallIds } from '../../../src/runs/undoSteps.ts';
import { eventually } from '../../support/eventually.ts';
import { generator } from '../../support/random.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { RecordedFolder } from '../../tools/snapshot/folder.ts';
import { Conversation } from '../conversation.ts';
import { type Disk, stuckDisk } from '../stuckDisk.ts';

describe('undo of what commands did', () => {
  let talk: Conversation;
  let snapshots: string;
  let asked: UndoConfirmationRequest[];
  beforeEach(() => {
    snapshots = mkdtempSync(path.join(tmpdir(), 'towpath-snapshots-'));
  });
  afterEach(async () => {
    await talk.end();
    rmSync(snapshots, { recursive: true, force: true });
  });

  const run = (command: string) => call('shell.run', { command });
  const write = (name: string, content: string) => call('fs.write', { path: name, content });
  const build = (conversation: Conversation, store: string, isOn = () => true) => {
    conversation.maxTurns = 100;
    conversation.recordCommands(store, { isOn });
  };
  const prepare = async (files: Record<string, string>, replies: ScriptedReply[], isOn = () => true) => {
    talk = new Conversation(await temporaryWorkspace(files), [...replies, { text: 'Done.' }]);
    asked = [];
    build(talk, snapshots, isOn);
  };
  const begin = async (files: Record<string, string>, replies: ScriptedReply[], also = () => {}, isOn = () => true) => {
    await prepare(files, replies, isOn);
    also();
    await talk.start();
  };
  const at = (name: string) => path.join(talk.workspace.roots[0]!.path, name);
  const undo = async (scope: 'turn' | 'run', answer: UndoConfirmationAnswer = 'all') => {
    const toolCallIds = undoableCallIds(await talk.kept(), scope);
    return talk.engine.undo(talk.runId, { toolCallIds }, talk.workspace, async (question) => {
      asked.push(question);
      return answer;
    });
  };
  const redo = async () => {
    const undone = newestRedoableUndo(await talk.kept(), () => true);
    return talk.engine.undo(talk.runId, { undo: undone!.seq }, talk.workspace, async () => 'none');
  };
  const files = (...names: string[]) => names.map((name) => talk.file(name));

  it('puts every file back, and redo does it again', async () => {
    await begin({ a: 'A\n', b: 'B\n', gone: 'G\n' }, [
      { calls: [run("sed -i 's/A/a/' a; echo new > c; rm gone; printf '\\000\\001' > b; chmod 600 a")] },
    ]);
    assert.deepEqual(files('a', 'b', 'c', 'gone'), ['a\n', '\0\x01', 'new\n', undefined]);
    assert.deepEqual(await undo('run'), { undone: ['gone', 'a', 'b', 'c'], left: [] });
    assert.deepEqual(files('a', 'b', 'c', 'gone'), ['A\n', 'B\n', undefined, 'G\n']);
    assert.equal(statSync(at('a')).mode & 0o777, 0o644);
    assert.deepEqual(await redo(), { undone: ['c', 'b', 'a', 'gone'], left: [] });
    assert.deepEqual(files('a', 'b', 'c', 'gone'), ['a\n', '\0\x01', 'new\n', undefined]);
    assert.equal(statSync(at('a')).mode & 0o777, 0o600);
  });

  it('goes with edits in their true order', async () => {
    await begin({ a: '1\n' }, [
      { calls: [write('a', '2\n')] },
      { calls: [run('echo 3 > a && echo b > b')] },
      { calls: [write('b', 'c\n')] },
    ]);
    assert.deepEqual(files('a', 'b'), ['3\n', 'c\n']);
    await undo('turn');
    assert.deepEqual(files('a', 'b'), ['3\n', 'b\n']);
    await undo('turn');
    assert.deepEqual(files('a', 'b'), ['2\n', undefined]);
    await undo('turn');
    assert.deepEqual(files('a', 'b'), ['1\n', undefined]);
  });

  it('names what the user changed since, and leaves it', async () => {
    await begin({ a: 'A\n', b: 'B\n' }, [{ calls: [run('echo 1 > a; echo 1 > b')] }]);
    writeFileSync(at('b'), 'mine\n');
    const { left } = (await undo('run', 'unchanged')) as { left: { path: string }[] };
    assert.deepEqual(asked, [{ paths: ['a', 'b'], changedSince: ['b'] }]);
    assert.deepEqual(
      left.map(({ path }) => path),
      ['b'],
    );
    assert.deepEqual(files('a', 'b'), ['A\n', 'mine\n']);
  });

  it('leaves edited files of a folder that a command created', async () => {
    await begin({}, [{ calls: [run('mkdir out; for i in 1 2 3 4; do echo $i > out/$i; done')] }]);
    writeFileSync(at('out/2'), 'mine\n');
    writeFileSync(at('out/3'), 'mine\n');
    const { left } = (await undo('run', 'unchanged')) as UndoResult;
    assert.deepEqual(asked[0]!.changedSince, ['out/2', 'out/3']);
    assert.deepEqual(left, [
      { path: 'out', why: 'Something else is there now.' },
      { path: 'out/2', why: 'It has changed since.' },
      { path: 'out/3', why: 'It has changed since.' },
    ]);
    assert.deepEqual(files('out/1', 'out/2', 'out/3', 'out/4'), [undefined, 'mine\n', 'mine\n', undefined]);
  });

  it('names a file whose permissions the user changed since', async () => {
    await begin({ a: 'A\n', b: 'B\n' }, [{ calls: [run('echo 1 > a; echo 1 > b; echo 1 > c')] }]);
    for (const name of ['a', 'c']) chmodSync(at(name), 0o750);
    await undo('run', 'unchanged');
    assert.deepEqual(asked[0]!.changedSince, ['a', 'c']);
    assert.deepEqual(files('a', 'b', 'c'), ['1\n', 'B\n', '1\n']);
    await undo('run');
    assert.deepEqual(files('a', 'c'), ['A\n', undefined]);
    await redo();
    assert.deepEqual(files('a', 'c'), ['1\n', '1\n']);
    assert.deepEqual([statSync(at('a')).mode & 0o777, statSync(at('c')).mode & 0o777], [0o750, 0o750]);
  });

  it('names a file whose permissions the user changed between commands', async () => {
    await begin({ a: 'A\n', b: 'B\n' }, [
      { calls: [run('for name in a b c; do echo 1 > $name; done')] },
      { text: 'Done.' },
      { calls: [run('for name in a b c; do echo 2 > $name; done')] },
    ]);
    for (const name of ['a', 'c']) chmodSync(at(name), 0o750);
    await talk.continue('And now?');
    await undo('run', 'unchanged');
    assert.deepEqual(asked[0]!.changedSince, ['a', 'c']);
    assert.deepEqual(files('a', 'b', 'c'), ['2\n', 'B\n', '2\n']);
  });

  it('moves one of two equal files back, and removes the other', async () => {
    await begin({ a: 'A\n' }, [{ calls: [call('fs.move', { from: 'a', to: 'b' }), write('c', 'A\n')] }]);
    assert.deepEqual(((await undo('run')) as UndoResult).left, []);
    assert.deepEqual(files('a', 'b', 'c'), ['A\n', undefined, undefined]);
    assert.deepEqual(((await redo()) as UndoResult).left, []);
    assert.deepEqual(files('a', 'b', 'c'), [undefined, 'A\n', 'A\n']);
  });

  it('redoes a file that replaces an empty folder', async () => {
    await begin({ b: 'B\n', empty: '' }, [
      { calls: [run('rm b empty; mkdir b')] },
      { calls: [run('rmdir b; echo C > b')] },
    ]);
    await undo('turn');
    assert.ok(statSync(at('b')).isDirectory());
    assert.deepEqual(await redo(), { undone: ['b'], left: [] });
    assert.deepEqual(files('b'), ['C\n']);
  });

  it('restores names that no tool creates', async function () {
    if (process.platform === 'win32') this.skip();
    const names = ['it\'s "q"', 'a: b?', '~', '~$a', 'end.', 'back\\slash', 'aux', '.ɡit'];
    const originals = Object.fromEntries(names.map((name) => [name, `${name}\n`]));
    await begin({ ...originals, 'd:/e.': 'E\n', '1:': 'bin\0' }, [
      { calls: [run("rm -f -- * .?it; rm -r 'd:'")] },
      { calls: [run("echo 2 > 'it'; mkdir '3:'; ln -s it '4:'")] },
    ]);
    const all = [...names, 'd:/e.', '1:', 'it', '4:'];
    const left = [...[...names, 'd:/e.', '1:'].map(() => undefined), '2\n', '2\n'];
    assert.deepEqual(files(...all), left);
    assert.deepEqual(((await undo('run')) as UndoResult).left, []);
    assert.deepEqual(files(...all), [...names.map((name) => `${name}\n`), 'E\n', 'bin\0', undefined, undefined]);
    assert.deepEqual(((await redo()) as UndoResult).left, []);
    assert.deepEqual(files(...all), left);
    assert.ok(statSync(at('3:')).isDirectory());
  });

  it('restores permissions alone', async () => {
    await begin({ a: 'A\n' }, [{ calls: [run('chmod 755 a')] }], () => chmodSync(at('a'), 0o640));
    assert.equal(statSync(at('a')).mode & 0o777, 0o755);
    await undo('run');
    assert.equal(statSync(at('a')).mode & 0o777, 0o640);
    await redo();
    assert.equal(statSync(at('a')).mode & 0o777, 0o755);
  });

  it('restores permissions from before a later move', async () => {
    await begin({ 'd/a': 'A\n' }, [{ calls: [run('chmod 755 d/a')] }, { calls: [run('mv d e; mkdir d')] }], () =>
      chmodSync(at('d/a'), 0o640),
    );
    await undo('run');
    assert.deepEqual(files('d/a', 'e/a'), ['A\n', undefined]);
    assert.equal(statSync(at('d/a')).mode & 0o777, 0o640);
    await redo();
    assert.equal(statSync(at('e/a')).mode & 0o777, 0o755);
  });

  it('also of a command that failed', async () => {
    await begin({ a: 'A\n' }, [{ calls: [run('rm a; exit 3')] }]);
    await undo('run');
    assert.deepEqual(files('a'), ['A\n']);
  });

  it('tells the model which files a command changed, but no name of a secret file', async () => {
    await begin({ a: 'A\n', '.env': 'S=1\n' }, [{ calls: [run('echo 1 > a; echo S=2 > .env; echo n > n')] }]);
    const result = (await talk.kept()).messages.flatMap((one) => (one.role === 'tool' ? one.toolResults : []))[0]!;
    writeFileSync(at('.env'), 'S=secret3\n');
    writeFileSync(at('a'), 'mine\n');
    await talk.continue('And now?');
    const later = JSON.stringify(talk.client.requests.at(-1)!.messages);
    assert.match(later, /mine|changed/);
    assert.doesNotMatch(later.replace('> .env;', ''), /secret3|\.env/);
    assert.deepEqual(JSON.parse(result.content).data.files, ['changed a', 'created n', '1 more']);
  });

  it('stores a secret file privately: it is never exported, shown or sent unasked, and goes with its run', async () => {
    const store = path.join(snapshots, 'recorded');
    talk = new Conversation(await temporaryWorkspace({ a: 'A\n', '.env': 'KEY=hush\n' }), [
      { calls: [run('rm .env; seq 1 20000 | tee a')] },
      { text: 'Done.' },
      { text: 'I see.' },
    ]);
    asked = [];
    build(talk, store);
    await talk.start();
    const [change] = Object.values((await talk.kept()).calls).flatMap(({ changes = [] }) => changes);
    assert.deepEqual([change!.path, talk.file('.env')], ['.env', undefined]);
    await undo('run');
    assert.equal(talk.file('.env'), 'KEY=hush\n');
    await talk.continue('And now?');
    await talk.store.contents.trim(1_000_000, new Set());
    const exported = await talk.store.exported(talk.runId, (text) => text);
    const markdown = runToMarkdown(await talk.kept(), (text) => text);
    for (const left of [exported, markdown, talk.client.requests, talk.events])
      assert.doesNotMatch(JSON.stringify(left), /hush/);
    assert.equal(JSON.stringify(exported).includes(change!.before!), false, 'nor what names its content');
    const modes = (folder: string) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
        const stats = statSync(path.join(folder, name));
        return `${name}: ${(stats.mode & 0o777).toString(8)}${stats.isDirectory() ? ' folder' : ''}`;
      });
    const all = [...modes(talk.folder), ...modes(snapshots)];
    for (const part of [
      /^recorded\/.*\.pack: /,
      /contents\/.*\.pack: /,
      /contents\/\w{64}\.output: /,
      /^sizes\.json: /,
    ])
      assert.ok(
        all.some((line) => part.test(line)),
        `${part}: ${all.join(', ')}`,
      );
    assert.deepEqual(
      all.filter((line) => !/: (600|700 folder)$/.test(line)),
      [],
    );
    await talk.store.deleted.remove(await talk.store.delete(talk.runId));
    const left = readdirSync(talk.folder, { recursive: true, encoding: 'utf8' });
    assert.deepEqual(
      left.filter((name) => /contents/.test(name)),
      [],
    );
  });

  it('is not there for calls that only read, and says so where nothing is recorded', async () => {
    await begin({ a: 'A\n' }, [{ calls: [run('cat a'), run('rm a')] }], undefined, () => false);
    const calls = Object.values((await talk.kept()).calls);
    assert.deepEqual(
      calls.map(({ changes, unrecorded, snapshot }) => [changes, unrecorded, snapshot]),
      [
        [undefined, undefined, undefined],
        [undefined, 'off', undefined],
      ],
    );
  });

  const inKilledEditor = async (command: string, isAtKill: (disk: Disk) => boolean) => {
    await prepare({ a: 'A\n', b: 'B\n' }, [{ calls: [run(command)] }]);
    const disk = stuckDisk(talk);
    disk.sticksAt((event) => event !== 'open' && event.type === 'tool-end');
    void talk.start();
    await eventually('the editor may be killed', () => isAtKill(disk));
    const next = new Conversation(talk.workspace, [{ text: 'I see.' }]);
    const copied = path.join(next.folder, 'snapshots'); // another path: nothing is remembered
    cpSync(snapshots, copied, { recursive: true });
    cpSync(talk.folder, next.folder, { recursive: true });
    rmSync(path.join(next.folder, 'runs', talk.runId, 'lock'), { force: true });
    Object.assign(next, { runId: talk.runId });
    disk.release();
    await talk.engine.stop(talk.runId);
    try {
      build(next, copied);
      await next.continue('Go on.');
      const { calls } = await next.kept();
      const paths = Object.values(calls).flatMap(({ changes }) =>
        (changes ?? []).map(({ path, mixed }) => [path, mixed]),
      );
      assert.deepEqual(paths, [
        ['b', true],
        ['a', true],
      ]);
      const told = JSON.stringify(next.client.requests[0]!.messages);
      assert.match(told, /The run ended while this was running\./);
      const toolCallIds = undoableCallIds(await next.kept(), 'run');
      await next.engine.undo(next.runId, { toolCallIds }, next.workspace, async (question) => {
        asked.push(question);
        return 'all';
      });
      assert.deepEqual(asked, [{ paths: ['b', 'a'], changedSince: [], sameTime: ['b', 'a'] }]);
      assert.deepEqual(files('a', 'b'), ['A\n', 'B\n']);
    } finally {
      await next.engine.close();
      rmSync(next.folder, { recursive: true });
    }
  };

  it('of a command that was at work when the editor was killed, and names the model what it changed', () =>
    inKilledEditor('echo 1 > a; rm b; sleep 1000', () => talk.file('b') === undefined));

  it('of a command whose end was not on record yet when the editor was killed', () =>
    inKilledEditor('echo 1 > a; rm b', (disk) => disk.waits));

  it('asks about a file that an editor saved while the command ran', async () => {
    await prepare({ a: 'A\n', b: 'B\n' }, [
      { calls: [run('echo 1 > a; echo 1 > b; while [ ! -e go ]; do sleep 0.05; done; rm go')] },
    ]);
    const done = talk.start();
    await eventually('the command is at work', () => talk.file('b') === '1\n');
    writeFileSync(at('b'), 'mine\n');
    talk.recorder!.noteChange(at('b'));
    writeFileSync(at('go'), '');
    await done;
    await undo('run', 'unchanged');
    assert.deepEqual(asked, [{ paths: ['a', 'b'], changedSince: [], sameTime: ['b'] }]);
    assert.deepEqual(files('a', 'b'), ['A\n', 'mine\n']);
  });

  const git = (...args: string[]) => {
    const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false'];
    execFileSync('git', ['-C', talk.workspace.roots[0]!.path, ...author, ...args], { stdio: 'ignore' });
  };

  it('is promised where a command discards work', async () => {
    await prepare({ a: 'A\n' }, [{ calls: [run('git checkout .')] }]);
    for (const args of [['init'], ['add', '-A'], ['commit', '-m', 'one']]) git(...args);
    writeFileSync(at('a'), 'work\n');
    const losses: (string | undefined)[] = [];
    talk.approve = async ({ plan }) => {
      losses.push(plan.loss?.text);
      return { decision: 'allow' };
    };
    await talk.start();
    assert.deepEqual(losses, ['Discards uncommitted changes in 1 file: a. Undo restores them.']);
    assert.deepEqual(files('a'), ['A\n']);
    await undo('run');
    assert.deepEqual(files('a'), ['work\n']);
  });

  describe('under Autopilot', () => {
    /** Repository with two commits and unfinished work in `a`; returns the losses that were asked about. */
    const lossesAskedFor = async (
      command: string,
      { size = 10, isOn = true, rules = talk?.rules, before = () => {} } = {},
    ) => {
      await prepare({ a: 'A\n', b: 'B\n' }, [{ calls: [run(command)] }], () => isOn);
      for (const args of [['init'], ['add', '-A'], ['commit', '-m', 'one'], ['commit', '--allow-empty', '-m', 'two']])
        git(...args);
      before();
      writeFileSync(at('a'), 'w'.repeat(size));
      const losses: (string | undefined)[] = [];
      talk.preset = 'autopilot';
      if (rules) talk.rules = rules;
      talk.approve = async ({ plan }) => {
        losses.push(plan.loss?.text);
        return { decision: 'deny' };
      };
      build(talk, snapshots, () => isOn);
      await talk.start();
      return losses;
    };

    for (const command of ['git checkout .', 'git clean -fd && git checkout -- .', 'git restore .', 'rm -rf a'])
      it(`${command} needs no approval, because Undo restores it`, async () => {
        assert.deepEqual(await lossesAskedFor(command), []);
        assert.notEqual(talk.file('a'), 'w'.repeat(10));
        await undo('run');
        assert.deepEqual(files('a', 'b'), ['w'.repeat(10), 'B\n']);
      });

    for (const command of [
      'git reset --hard HEAD~1',
      'git stash',
      'git add a; git reset -q --hard',
      'git checkout -f',
      'git checkout HEAD -- a',
    ])
      it(`${command} asks: what Git has of it is not for ever`, async () => {
        const [loss = ''] = await lossesAskedFor(command);
        assert.match(loss, /Undo restores them\.$/);
      });

    for (const command of ['rm -rf nested', 'git branch -D side && git gc', 'git worktree remove --force tree'])
      it(`${command} asks, and promises nothing`, async () => {
        const before = () => {
          git('init', 'nested');
          writeFileSync(at('nested/f'), 'work');
          git('checkout', '-b', 'side');
          git('commit', '--allow-empty', '-m', 'side');
          git('checkout', '-');
          git('worktree', 'add', 'tree', '-b', 'tree');
          writeFileSync(at('tree/b'), 'work');
        };
        const [loss = ''] = await lossesAskedFor(command, { before });
        assert.match(loss, /discard|Deletes/i);
        assert.doesNotMatch(loss, /Undo restores/);
      });

    for (const [why, command, options, sentence] of [
      ['a file is too large', 'git checkout .', { size: 1_300_000 }, 'a, 1.3 MB, cannot be restored.'],
      ['recording is off', 'git checkout .', { isOn: false }, 'Cannot be undone: recording is off.'],
      [
        'commits leave another repository',
        'git push --force origin HEAD~1:main',
        {},
        'Could not determine what this command discards.',
      ],
      ['nobody can say what is lost', 'git prune', {}, 'Could not determine what this command discards.'],
    ] as const)
      it(`asks if ${why}`, async () => {
        const [loss = '', ...more] = await lossesAskedFor(command, options);
        assert.ok(loss.endsWith(sentence), loss);
        assert.deepEqual(more, []);
        assert.equal(talk.file('a')?.[0], 'w');
      });

    it('asks if a rule of the user asks', async () => {
      const rules = [{ effect: 'ask', tool: 'shell.run', command: 'git checkout', scope: 'user' }] as const;
      const losses = await lossesAskedFor('git checkout .', { rules: [...rules] });
      assert.equal(losses.length, 1);
    });

    it('asks after all if something else needs an approval, too', async () => {
      const losses = await lossesAskedFor('git checkout . && rm -rf .vscode');
      assert.equal(losses.length, 1);
    });
  });

  it('is not promised in vain: a command whose loss cannot be recorded does not run, and the next question says so', async () => {
    await prepare({ a: 'A\n' }, [{ calls: [run('git checkout .')] }, { calls: [run('git checkout . ')] }]);
    for (const args of [['init'], ['add', '-A'], ['commit', '-m', 'one']]) git(...args);
    writeFileSync(at('a'), 'work\n');
    const losses: (string | undefined)[] = [];
    talk.approve = async ({ plan }) => {
      losses.push(plan.loss?.text);
      return { decision: 'allow' };
    };
    const recorder = talk.recorder!;
    const begin = recorder.begin.bind(recorder);
    recorder.begin = async (recorded) => {
      recorder.begin = begin;
      writeFileSync(at('a'), 'w'.repeat(3_000_000)); // above the budget, after the last look at it
      return begin(recorded).finally(() => writeFileSync(at('a'), 'work\n'));
    };
    await talk.start();
    assert.deepEqual(losses, [
      'Discards uncommitted changes in 1 file: a. Undo restores them.',
      'Discards uncommitted changes in 1 file: a. Cannot be undone.',
    ]);
    const codes = Object.values((await talk.kept()).calls).map(({ code }) => code);
    assert.deepEqual(codes, ['E_PRECONDITION_FAILED', undefined]);
    assert.deepEqual(files('a'), ['A\n']);
    await undo('run'); // recorded all the same
    assert.deepEqual(files('a'), ['work\n']);
  });

  it('of a folder restores it, and names its files', async () => {
    await begin({ 'd/e/f': 'F\n' }, [{ calls: [run('rm -rf d')] }]);
    assert.deepEqual(await undo('run'), { undone: ['d/e/f'], left: [] });
    assert.deepEqual(files('d/e/f'), ['F\n']);
  });

  it('sees what happens in a folder that becomes a repository', async () => {
    await begin({ 'd/f': 'F\n' }, [{ calls: [run('cd d && git init -q && echo 1 > f')] }]);
    await undo('run');
    assert.deepEqual(files('d/f'), ['F\n']);
  });

  it('does not rely on a repository that the command removes', async () => {
    await prepare({ a: 'A\n', 'b/c': 'C\n' }, [{ calls: [run('rm -rf .git a b')] }]);
    for (const args of [['init'], ['add', '-A'], ['commit', '-m', 'one']]) git(...args);
    await talk.start();
    await undo('run');
    assert.deepEqual(files('a', 'b/c'), ['A\n', 'C\n']);
  });

  it('survives in a branch after the run is deleted', async () => {
    await begin({ a: 'A\n' }, [{ calls: [run('echo 1 > a; rm -f a')] }]);
    const last = (await talk.store.events(talk.runId)).events.findLast(({ type }) => type === 'tool-end')!;
    const { changes } = last as Extract<typeof last, { type: 'tool-end' }>;
    const fork = await talk.store.fork(talk.runId, last.seq);
    await talk.engine.close();
    await talk.store.delete(talk.runId);
    assert.equal(String(await talk.store.contents.readBytes(fork, changes![0]!.before!)), 'A\n');
  });

  it('of any number of random commands and edits restores every state', async () => {
    const random = generator(3838);
    const pick = <One>(all: readonly One[]): One => all[Math.floor(random() * all.length)]!;
    const names = ['a', 'b', 'd/c', 'd/e/f', 'n'];
    const commands = [
      () => `rm -rf ${pick([...names, 'd'])}`,
      () => `mkdir -p d/e; echo ${Math.floor(random() * 1e6)} > ${pick(names)}`,
      () => `mv -f ${pick(names)} ${pick(names)}`,
      () => `cp -f ${pick(names)} ${pick(names)}`,
      () => `head -c 20 /dev/urandom > ${pick(names)}`,
      () => `chmod ${pick(['600', '644', '755'])} ${pick(names)}`,
      () => `ln -sf a ${pick(['link', 'b'])}`,
      () => `mkdir -p ${pick(['empty', 'd/empty'])}`,
    ];
    const replies = Array.from(
      { length: 25 },
      (_, index): ScriptedReply => ({
        calls: [random() < 0.2 ? write(pick(['w', 'x']), `${index}\n`) : run(`${pick(commands)()} || true`)],
      }),
    );
    const states: Record<string, string>[] = [];
    const folder = Object.create(RecordedFolder.prototype) as RecordedFolder;
    await begin({ a: 'A\n', b: 'B\n', 'd/c': 'C\n', 'd/e/f': 'F\n' }, replies, () => {
      Object.assign(folder, { root: talk.workspace.roots[0]!.path });
      talk.told = (event) => {
        if (event.type === 'approval') states.push(folder.state());
      };
    });
    const end = folder.state();
    assert.equal(states.length, 25);
    const counts: number[] = [];
    for (const [index, state] of [...states.entries()].reverse()) {
      const ids = undoableCallIds(await talk.kept(), 'turn');
      const current = folder.state();
      if (JSON.stringify(current) === JSON.stringify(state)) continue; // the command changed nothing
      assert.ok(ids.length > 0, String(index));
      const { left } = (await undo('turn')) as { left: unknown[] };
      assert.deepEqual(left, [], JSON.stringify(replies[index]));
      assert.deepEqual(folder.state(), state, `${index}: ${JSON.stringify(replies[index])}`);
      counts.push(index);
    }
    for (const index of counts.reverse()) {
      const { left } = (await redo()) as { left: unknown[] };
      assert.deepEqual(left, [], `${index}: ${JSON.stringify(replies[index])}`);
      assert.deepEqual(folder.state(), states[index + 1] ?? end, `${index}: ${JSON.stringify(replies[index])}`);
    }
    assert.deepEqual(folder.state(), end);
  }).timeout(120_000);
});
