import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { CommandEnd } from '../../../src/protocol/content/commandRecord.ts';
import type { ToolOutcome } from '../../../src/protocol/content/tools.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { type BackgroundCommandInfo, BackgroundCommands } from '../../../src/tools/shell/background.ts';
import { markedAlive } from '../../support/alive.ts';
import { StillClock } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { type Conversation, type ConversationOptions, conversation, data, error } from '../conversation.ts';

interface Answered {
  id: string;
  running?: boolean;
  exitCode?: number | null;
  signal?: string;
  by?: string;
  output: string;
  text: string;
  note?: string;
  cut?: string;
  outputId?: string;
}

// Holds background-commands-belong-to-a-window.
describe('tools: a command in the background', () => {
  let workspace: TemporaryWorkspace;
  let background: BackgroundCommands;
  let clock: StillClock;
  let ends: [BackgroundCommandInfo, CommandEnd][];
  let talking: Conversation;
  let outputs: string[];

  const talk = (options: ConversationOptions = {}) => {
    talking = conversation(workspace, { tools: builtinTools({ shell: { background } }), ...options });
    return talking;
  };
  beforeEach(async () => {
    workspace = await temporaryWorkspace({ 'a.txt': 'one\n' });
    clock = new StillClock();
    ends = [];
    outputs = [];
    background = new BackgroundCommands({
      after: clock.after,
      ended: (command, end) => ends.push([command, end]),
      keep: async (_, text) => String(outputs.push(text)),
    });
    talk();
  });
  afterEach(async () => {
    await background.close();
    workspace.cleanup();
  });

  const run = (command: string, more: object = {}) => talking.call('shell.run', { command, background: true, ...more });
  const read = (id: string, more: object = {}) => data<Answered>(talking.call('output.read', { id, ...more }));
  const stop = (id: string) => data<Answered>(talking.call('shell.stop', { id }));
  const said = () => talking.events.flatMap((event) => (event.type === 'tool-output' ? [event.text] : [])).join('');
  /** Lets it say what it says first, and then a second of silence pass. */
  const begun = async (command: string, first: string, more: object = {}) => {
    const answer = run(command, more);
    await eventually('it has said it', () => said().includes(first));
    clock.pass(1000);
    return data<Answered>(answer);
  };
  const settled = async (answer: Promise<ToolOutcome>) =>
    Promise.race([answer.then(() => true), new Promise((resolve) => setTimeout(resolve, 50, false))]);

  it('answers with its id and what it said first, once it is quiet for a second', async () => {
    const answer = run('echo ready; while sleep 1; do :; done');
    await eventually('it has said it', () => said() === 'ready\n');
    clock.pass(999);
    assert.equal(await settled(answer), false);
    clock.pass(1);
    const { id, ...rest } = await data<Answered>(answer);
    assert.match(id, /^[0-9a-f]{8}$/);
    assert.deepEqual(rest, { running: true, output: 'ready\n' });
    const end = talking.events.find((event) => event.type === 'tool-end');
    assert.ok(end?.type === 'tool-end' && end.ok && end.background?.id === id);
    assert.equal(end.background.owner?.pid, process.platform === 'linux' ? process.pid : end.background.owner?.pid);
    assert.deepEqual(
      background.atWork.map(({ line, folder, runId }) => [line, folder, runId]),
      [['echo ready; while sleep 1; do :; done', workspace.root, 'run']],
    );
    assert.equal(clock.waiting, 0);
  });

  it('answers after ten seconds when it says nothing, or never stops to talk', async () => {
    const silent = run('sleep 60');
    await eventually('it is waited for', () => clock.waiting > 0);
    clock.pass(9999);
    assert.equal(await settled(silent), false);
    clock.pass(1);
    assert.equal((await data<Answered>(silent)).output, '');

    const talkative = run('while echo more; do sleep 0.01; done');
    await eventually('it talks', () => said().length > 20);
    clock.pass(10_000);
    assert.match((await data<Answered>(talkative)).output, /^more\nmore\n/);
  });

  it('that has ended by then has ended like any other', async () => {
    assert.deepEqual(await data(run('echo no; exit 3')), { exitCode: 3, output: 'no\n' });
    assert.deepEqual([background.atWork, ends], [[], []]);
  });

  it('has of a line that is drawn anew its last state alone', async () => {
    const { id, output } = await begun(
      "printf 'start\\n10%%'; while [ ! -e go ]; do sleep 0.02; done; printf '\\r20%%\\r30%%\\nend\\n'; sleep 60",
      '10%',
    );
    assert.equal(output, 'start\n10%');
    workspace.write('go', '');
    await eventually('it has said it', () => background.textOf(id) === 'start\n30%\nend\n');
    assert.equal((await read(id)).text, '30%\nend\n');
  });

  it('is read on: what is new, or lines from an offset, and how it ended', async () => {
    const { id } = await begun(
      'echo 1; echo 2; while [ ! -e go ]; do sleep 0.02; done; echo 3; sleep 0.1; exit 4',
      '2',
    );
    const reading = read(id);
    await eventually('it waits for more', () => clock.waiting > 0);
    workspace.write('go', '');
    const { text, ...standing } = await reading;
    assert.deepEqual([text, standing], ['3\n', { running: false, exitCode: 4 }]);
    assert.deepEqual(await read(id), { running: false, exitCode: 4, text: '' });
    const lines = await read(id, { offset: 2, limit: 1 });
    assert.deepEqual([lines.text, lines.running], ['2', false]);
    assert.deepEqual(
      ends.map(([{ id }, { by, exitCode }]) => [id, by, exitCode]),
      [[id, 'itself', 4]],
    );
    assert.deepEqual(outputs, ['1\n2\n3\n']);
  });

  it('says what is new at once when there is something, and after ten seconds when there is not', async () => {
    const { id } = await begun('echo 1; while [ ! -e go ]; do sleep 0.02; done; echo 2; sleep 60', '1');
    const waiting = read(id);
    await eventually('it waits', () => clock.waiting > 0);
    clock.pass(10_000);
    assert.deepEqual(await waiting, { running: true, text: '' });
    workspace.write('go', '');
    await eventually('there is more', () => background.textOf(id) === '1\n2\n');
    assert.deepEqual(await read(id), { running: true, text: '2\n' });
  });

  it('is ended with its whole tree, also what left its group, and says how', async () => {
    const { id } = await begun(
      "(setsid sleep 300 &); sleep 301 & echo up; trap 'echo bye; exit' TERM; while :; do sleep 0.1; done",
      'up',
    );
    const [{ marker } = { marker: '' }] = [background.find('run', id)!];
    assert.ok((await markedAlive(marker)).length >= 3);
    const ended = await stop(id);
    assert.deepEqual([ended.running, ended.by], [false, 'call']);
    assert.match(ended.output, /bye/);
    assert.deepEqual(await markedAlive(marker), []);
    assert.deepEqual(ends[0]?.[1].by, 'call');
    assert.equal((await stop(id)).running, false, 'a second time changes nothing');
  });

  it('is nobody else’s: not of another run, not by another id', async () => {
    const { id } = await begun('echo up; sleep 60', 'up');
    assert.equal(background.find('another', id), undefined);
    for (const wrong of ['00000000', '../../x', '']) {
      assert.equal((await error(talking.call('shell.stop', { id: wrong }))).code, 'ENOENT');
      assert.notEqual((await talking.call('output.read', { id: wrong })).ok, true);
    }
    assert.equal(background.atWork.length, 1);
  });

  it('goes on when the turn is stopped; while its first words are waited for the stop ends it', async () => {
    const { id } = await begun('echo up; sleep 60', 'up');
    const waiting = run('echo late; sleep 61');
    await eventually('it runs', () => said().includes('late'));
    talking.stop.abort();
    assert.equal((await error(waiting)).code, 'TOOL_INTERRUPTED');
    assert.deepEqual(
      background.atWork.map((one) => one.id),
      [id],
    );
  });

  it('is asked about as any other, and says that it goes on', async () => {
    await begun('echo 1; sleep 60', '1', { timeoutSeconds: 60 });
    const [{ plan } = assert.fail()] = talking.asked;
    assert.deepEqual(
      [plan.what, plan.command, plan.grant, plan.background, plan.timeLimit],
      ['Run a command in the background', 'echo 1; sleep 60', 'shell.run echo 1; sleep 60', true, 60],
    );
    assert.equal(talking.asked.length, 1);
  });

  it('what only reads runs unasked, and to its end', async () => {
    talk({ answer: 'deny', policy: { readOnlyCommands: true } });
    assert.deepEqual(await data(run('cat a.txt')), { exitCode: 0, output: 'one\n' });
    assert.deepEqual([background.atWork, talking.asked], [[], []]);
  });

  it('is not run a second time beside itself; stopping is not asked about', async () => {
    const { id } = await begun('echo up; sleep 60', 'up');
    for (const goesOn of [true, false]) {
      const failed = await error(talking.call('shell.run', { command: ' echo up; sleep 60 ', background: goesOn }));
      assert.deepEqual([failed.reason, failed.message.includes(id)], ['STILL_RUNNING', true]);
    }
    talk({ answer: 'deny', policy: { preset: 'ask-everything' } });
    await stop(id);
    assert.deepEqual(talking.asked, []);
  });

  it('its own time limit ends it', async () => {
    const answer = run('echo up; sleep 60', { timeoutSeconds: 1 });
    await eventually('it has said it', () => said().includes('up'));
    clock.pass(1000);
    const { id, running } = await data<Answered & { running: boolean }>(answer).catch(() => ({
      id: '',
      running: false,
    }));
    if (!running) return; // a slow machine: its time was over before it was answered
    await eventually('it is ended', () => ends.length > 0);
    assert.deepEqual([(await read(id)).by, ends[0]?.[1].by], ['timeout', 'timeout']);
  });

  it('of much output both ends are told, and what writes without end is ended', async () => {
    const { output, cut, outputId } = await begun('seq 1 100000; sleep 60', '100000');
    assert.match(output, /^1\n2\n[\s\S]*bytes in the middle are left out here[\s\S]*\n100000\n$/);
    assert.match(cut!, new RegExp(`read them with output.read and the id ${outputId}`));
    const flood = run('yes 0123456789012345678901234567890123456789');
    await eventually('it floods', () => said().includes('0123456789'));
    clock.pass(10_000);
    await flood;
    await eventually('it is ended', () => ends.length > 0);
    assert.equal(ends[0]?.[1].by, 'flood');
  });

  it('sixteen are enough', async () => {
    const answers = Array.from({ length: 16 }, (_, index) => run(`sleep ${60 + index}`));
    await eventually('all are waited for', () => clock.waiting === 16);
    clock.pass(10_000);
    await Promise.all(answers.map((answer) => data(answer)));
    const failed = await error(run('sleep 59'));
    assert.match(failed.message, /^16 commands are at work in the background\. Stop one/);
  });

  it('ends with its run, and with the window, whatever it thinks of that', async () => {
    const [one, other] = [
      await begun('echo one; sleep 60', 'one'),
      await begun("trap '' TERM; echo two; while :; do sleep 0.1; done", 'two'),
    ];
    const { marker } = background.find('run', other.id)!;
    await background.endRun('another');
    assert.equal(background.atWork.length, 2);
    await background.stop(one.id, 'person');
    await background.close();
    assert.deepEqual(await markedAlive(marker), []);
    assert.deepEqual(
      ends.map(([{ id }, { by }]) => [id, by]),
      [
        [one.id, 'person'],
        [other.id, 'window'],
      ],
    );
  });

  it('that begins while the window closes is ended, too', async () => {
    await background.close();
    const { id } = await begun('echo late; sleep 60', 'late');
    await eventually('it is ended', () => ends.length > 0);
    assert.deepEqual([ends[0]?.[0].id, background.atWork], [id, []]);
  });

  describe('that was in the foreground until the person let it go on', () => {
    const line = 'echo up; while [ ! -e go ]; do sleep 0.02; done; echo done; sleep 60';
    const marker = () => {
      const start = talking.events.find((event) => event.type === 'tool-start');
      return start?.type === 'tool-start' ? start.command!.marker : '';
    };
    it('gives its call the result of one that was asked to, and its time is not over any more', async () => {
      const answer = talking.call('shell.run', { command: line, timeoutSeconds: 2 });
      await eventually('it has said it', () => said().includes('up'));
      assert.equal(background.letGoOn(marker()), true);
      const { id, ...rest } = await data<Answered>(answer);
      assert.deepEqual(rest, { running: true, output: 'up\n', note: 'The person let it go on in the background.' });
      workspace.write('go', '');
      await eventually('it goes on', () => background.textOf(id) === 'up\ndone\n');
      assert.equal(said(), 'up\n', 'its card is done');
      assert.equal((await read(id)).text, 'done\n');
    });

    it('also if that was before it started', async () => {
      const early = randomUUID();
      background.letGoOn(early);
      assert.equal(await background.offer(early).asked, 'goes on');
      const once = background.offer(early).asked.then(() => 'again');
      assert.equal(await Promise.race([once, Promise.resolve('not again')]), 'not again');
    });

    it('and cannot be when it has ended, or never was', async () => {
      await data(talking.call('shell.run', { command: 'echo up' }));
      assert.deepEqual([background.letGoOn(marker()), background.letGoOn(randomUUID())], [false, false]);
    });
  });

  it('ends, and is told to all, though whoever hears of it throws', async () => {
    const errors: string[] = [];
    const throws = (what: string) => () => {
      throw new Error(what);
    };
    const heard: string[] = [];
    background = new BackgroundCommands({
      after: clock.after,
      changed: throws('changed'),
      ended: async () => throws('ended')(),
      onListenerError(error) {
        errors.push((error as Error).message);
        throw error;
      },
    });
    talk();
    const { id } = await begun('echo first; sleep 60', 'first\n');
    background.listen(id, throws('output'));
    background.listen(id, () => heard.push('output'));
    assert.equal((await background.stop(id, 'person'))?.by, 'person');
    await background.endRun('run');
    assert.deepEqual([background.atWork, heard], [[], ['output']]);
    assert.deepEqual(errors, ['changed', 'output', 'changed', 'ended']);
  });
});
