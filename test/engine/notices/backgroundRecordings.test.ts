import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { overlappingCallIds } from '../../../src/engine/run/recordedCalls.ts';
import type { RunEvent } from '../../../src/protocol/run/events.ts';
import { undoableCallIds } from '../../../src/runs/undoSteps.ts';
import type { BackgroundCommands } from '../../../src/tools/shell/background.ts';
import { OrphanedCommands } from '../../../src/tools/shell/orphanedCommands.ts';
import { StillClock } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const author = '-c user.name=a -c user.email=a@example.com -c commit.gpgsign=false';

// Holds background-changes-are-recorded.
describe('what a command changes in the background', () => {
  let talk: Conversation;
  let background: BackgroundCommands;
  let snapshots: string;
  let steps: string[];
  let signals: string;
  let isOn: boolean;
  let root: string;
  const clock = new StillClock();
  const isThere = (file: string) => existsSync(file);
  const signal = (name: string) => path.join(signals, name);

  /** Starts a command that does one step after the other, each when it is told to. */
  const begin = async (commands: Record<string, string>, ...replies: ScriptedReply[]) => {
    steps = Object.keys(commands);
    const lines = Object.entries(commands).map(
      ([name, line]) => `until [ -e '${signal(name)}' ]; do sleep 0.02; done; ${line}; touch '${signal(name)}.done'`,
    );
    const run = { calls: [call('shell.run', { command: ['echo listening', ...lines].join('; '), background: true })] };
    talk = new Conversation(await temporaryWorkspace({ a: 'A\n', b: 'B\n' }), [run, ...replies]);
    root = talk.workspace.roots[0]!.path;
    const git = (...args: string[]) => execFileSync('git', [...author.split(' '), ...args], { cwd: root });
    git('init', '-q', '-b', 'main');
    git('add', '-A');
    git('commit', '-qm', 'first');
    background = talk.recordCommands(snapshots, { after: clock.after, isOn: () => isOn });
    const resting = talk.start();
    await talk.seen('tool-output');
    clock.pass(1000);
    await resting;
    await written(); // that of the rest has begun
  };
  /** Lets the command do a step. */
  const step = async (name: string) => {
    writeFileSync(signal(name), '');
    await eventually(`the command has done ${name}`, () => existsSync(`${signal(name)}.done`));
  };
  const changes = () =>
    talk.events.filter(({ type }) => type === 'command-changes') as (RunEvent & { type: 'command-changes' })[];
  const recorded = () =>
    changes().flatMap((one) => (one.changes ?? []).map(({ path, mixed }) => (mixed ? `${path}?` : path)));
  const written = async () => talk.backgroundRecordings!.record(talk.runId);
  const undo = async (ids?: readonly string[], meanwhile = async () => {}) => {
    await written();
    const toolCallIds = ids ?? undoableCallIds(await talk.kept(), 'run');
    return talk.engine.undo(talk.runId, { toolCallIds }, talk.workspace, async () => {
      await meanwhile();
      return 'all';
    });
  };
  const redo = async () => {
    const { undos = [] } = await talk.kept();
    return talk.engine.undo(talk.runId, { undo: undos.at(-1)!.seq }, talk.workspace, async () => 'all');
  };
  const files = (...names: string[]) => names.map((name) => talk.file(name));

  beforeEach(() => {
    isOn = true;
    snapshots = mkdtempSync(path.join(tmpdir(), 'towpath-snapshots-'));
    signals = mkdtempSync(path.join(tmpdir(), 'towpath-signals-'));
  });
  afterEach(async () => {
    for (const name of steps) writeFileSync(signal(name), '');
    await background.close();
    await talk.end();
    for (const folder of [snapshots, signals]) rmSync(folder, { recursive: true, force: true });
  });

  it('is recorded at each rest and at its end, and undone at any time', async () => {
    await begin({ one: 'echo 1 > a; rm b', two: 'echo 2 > a; echo c > c' }, { text: 'It runs.' }, { text: 'And on.' });
    await step('one');
    await talk.continue('And now?');
    await written();
    assert.deepEqual(recorded(), ['b?', 'a?'], 'at rest, anybody may have changed them');
    await undo();
    assert.deepEqual(files('a', 'b', 'c'), ['A\n', 'B\n', undefined]);
    await redo();
    assert.deepEqual(files('a', 'b', 'c'), ['1\n', undefined, undefined]);
    await step('two');
    await eventually('its end', () => talk.events.some(({ type }) => type === 'command-end'));
    assert.deepEqual(recorded().slice(2), ['c?', 'a?'].sort(), 'without what the undo has changed');
    await undo();
    assert.deepEqual(files('a', 'b', 'c'), ['A\n', 'B\n', undefined]);
    const [state] = Object.values((await talk.kept()).calls);
    assert.equal(state!.unrecorded, undefined);
  });

  it('does not include what file tools change meanwhile, in true order', async () => {
    await begin(
      { one: 'echo 1 > a', two: 'echo 2 > a; echo c > c', three: 'echo d > sub/d' },
      { text: 'It runs.' },
      { calls: [call('fs.read', { path: 'a' })] },
      {
        calls: [call('fs.write', { path: 'a', content: 'edit\n' }), call('fs.write', { path: 'b', content: 'mine\n' })],
      },
      { calls: [call('fs.move', { from: 'b', to: 'sub/b' })] },
      { text: 'Edited.' },
      { text: 'Seen.' },
    );
    await step('one');
    await talk.continue('Edit them.');
    await step('two');
    await step('three');
    await eventually('its end', () => talk.events.some(({ type }) => type === 'command-end'));
    assert.deepEqual(files('a', 'b', 'c', 'sub/b', 'sub/d'), ['2\n', undefined, 'c\n', 'mine\n', 'd\n']);
    const all = recorded();
    assert.deepEqual(
      all.filter((name) => /b/.test(name) && !/d/.test(name)),
      [],
      'the tools changed b',
    );
    await undo();
    assert.deepEqual(files('a', 'b', 'c', 'sub/b', 'sub/d'), ['A\n', 'B\n', undefined, undefined, undefined]);
    await redo();
    assert.deepEqual(files('a', 'b', 'c', 'sub/b', 'sub/d'), ['2\n', undefined, 'c\n', 'mine\n', 'd\n']);
  });

  it('and what another command changes are one after the other; both are named', async () => {
    const commit = `git ${author} commit -qam`;
    await begin(
      { one: `echo 1 > a; ${commit} one`, two: `echo 2 > b; ${commit} two` },
      { text: 'It runs.' },
      { calls: [call('shell.run', { command: `echo 3 > c; git add c; ${commit} three` })] },
      { text: 'Committed.' },
    );
    const log = () => execFileSync('git', ['log', '--format=%s'], { cwd: root }).toString().trim().split('\n');
    await step('one');
    await talk.continue('Commit.');
    await written();
    await step('two');
    await eventually('its end', () => talk.events.some(({ type }) => type === 'command-end'));
    assert.deepEqual(log(), ['two', 'three', 'one', 'first']);
    assert.deepEqual(
      recorded().filter((name) => /^[abc]/.test(name)),
      ['a?', 'b?'],
    );
    const run = await talk.kept();
    const [first, second] = Object.keys(run.calls);
    assert.deepEqual(overlappingCallIds(run, second!), [first]);
    await undo();
    assert.deepEqual(log(), ['first']);
    assert.deepEqual(files('a', 'b', 'c'), ['A\n', 'B\n', undefined]);
    await redo();
    assert.deepEqual(log(), ['two', 'three', 'one', 'first']);
  });

  it('while an undo asks is undone by the next undo', async () => {
    await begin(
      { one: 'echo 1 > a', two: 'rm b; echo c > c; git checkout -qb other', three: 'true' },
      { text: 'It runs.' },
      { text: 'And on.' },
    );
    await step('one');
    let next: Promise<unknown> | undefined;
    await undo(undefined, async () => {
      next = talk.say('And now?'); // waits for the undo
      await step('two');
    });
    await next;
    assert.deepEqual(files('a', 'b', 'c'), ['A\n', undefined, 'c\n']);
    assert.deepEqual(await undo(), { undone: ['b', 'c', '.git'], left: [] });
    assert.deepEqual(files('a', 'b', 'c'), ['A\n', 'B\n', undefined]);
    assert.equal(execFileSync('git', ['branch', '--show-current'], { cwd: root }).toString(), 'main\n');
    await redo();
    await redo();
    assert.deepEqual(files('a', 'b', 'c'), ['1\n', undefined, 'c\n']);
  });

  it('is recorded after the window is gone', async () => {
    await begin({ one: 'echo 1 > a; rm b', two: 'true' }, { text: 'It runs.' }, { text: 'Lost.' });
    await step('one');
    const former = background;
    const { backgroundRecordings } = talk;
    try {
      talk.events.length = 0;
      background = talk.recordCommands(snapshots, { after: clock.after }); // another window, which does not know the command
      talk.client.requests.length = 1;
      await talk.continue('And now?');
      assert.deepEqual(recorded(), ['b?', 'a?'], 'anything may have changed them');
      await undo();
      assert.deepEqual(files('a', 'b'), ['A\n', 'B\n']);
    } finally {
      talk.backgroundRecordings = backgroundRecordings!;
      writeFileSync(signal('two'), '');
      await former.close();
    }
  });

  it('may be what the next window records beside it, which is said', async () => {
    const next = call('shell.run', { command: 'echo 2 > b' });
    await begin({ one: 'echo 1 > a' }, { text: 'It runs.' }, { calls: [next] }, { text: 'Done.' });
    const former = background;
    const { backgroundRecordings } = talk;
    try {
      talk.left = new OrphanedCommands();
      background = talk.recordCommands(snapshots, { after: clock.after });
      await talk.continue('And now?');
      const [first, second] = Object.values((await talk.kept()).calls);
      assert.deepEqual([first!.ended?.by, first!.unrecorded], ['lost', 'background']);
      assert.deepEqual(
        second!.changes?.map(({ path, mixed }) => [path, mixed]),
        [['b', true]],
      );
    } finally {
      talk.backgroundRecordings = backgroundRecordings!;
      writeFileSync(signal('one'), '');
      await former.close();
    }
  });

  it('goes before the command that follows, which changes the same files', async () => {
    const commit = `git ${author} commit -qam`;
    await begin(
      { one: `echo 1 > a; ${commit} one` },
      { text: 'It runs.' },
      { calls: [call('fs.read', { path: 'b' })] },
      { calls: [call('shell.run', { command: `echo 3 > a; ${commit} three` })] },
      { text: 'Done.' },
    );
    talk.told = ({ type }) => {
      if (type === 'tool-start' && !isThere(signal('one.done'))) {
        writeFileSync(signal('one'), ''); // at the start of the call that reads
      }
    };
    talk.approve = async () => {
      await eventually('the command has done one', () => isThere(signal('one.done')));
      return { decision: 'allow' };
    };
    await talk.continue('Go on.');
    await eventually('its end', () => talk.events.some(({ type }) => type === 'command-end'));
    assert.deepEqual(files('a'), ['3\n']);
    assert.deepEqual(await undo(), { undone: ['a', '.git'], left: [] });
    assert.deepEqual(files('a'), ['A\n']);
    assert.equal(execFileSync('git', ['log', '--format=%s'], { cwd: root }).toString(), 'first\n');
    await redo();
    assert.deepEqual(files('a'), ['3\n']);
  });

  it('belongs to the command beside it if that waits for its end', async () => {
    await begin(
      { one: 'echo 1 > a' },
      { text: 'It runs.' },
      {
        calls: [
          call('shell.run', {
            command: `touch '${signal('one')}'; until [ -e '${signal('one')}.done' ]; do sleep 0.02; done; rm b`,
          }),
        ],
      },
      { text: 'Done.' },
    );
    await talk.continue('Wait for it.');
    await eventually('its end', () => talk.events.some(({ type }) => type === 'command-end'));
    assert.deepEqual(recorded(), []);
    const [first, second] = Object.values((await talk.kept()).calls);
    assert.deepEqual(
      [first!.changes ?? [], second!.changes!.map(({ path, mixed }) => [path, mixed])],
      [
        [],
        [
          ['b', true],
          ['a', true],
        ],
      ],
    );
    await undo();
    assert.deepEqual(files('a', 'b'), ['A\n', 'B\n']);
  });

  it('is unknown, and marked so, while recording is off', async () => {
    await begin({ one: 'echo 1 > a', two: 'echo 2 > b' }, { text: 'It runs.' }, { text: 'And on.' });
    isOn = false;
    await written();
    await step('one');
    isOn = true;
    await written();
    await step('two');
    await eventually('its end', () => talk.events.some(({ type }) => type === 'command-end'));
    assert.deepEqual(
      changes()
        .map(({ unrecorded }) => unrecorded)
        .filter(Boolean),
      ['off'],
    );
    assert.deepEqual(recorded(), ['b?']);
    const run = await talk.kept();
    assert.deepEqual([run.ran, Object.values(run.calls)[0]!.unrecorded], [true, 'off']);
  });
});
