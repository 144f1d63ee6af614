import assert from 'node:assert/strict';
import type { ToolCall } from '../../../src/protocol/content/messages.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const turn = (...calls: ToolCall[]): ScriptedReply => ({ calls });
const read = (path: string, offset = 1) => call('fs.read', { path, offset });
const edit = (oldText = 'not there') => call('fs.edit', { path: 'a', edits: [{ oldText, newText: 'x' }] });
const write = (content: string, path = 'b') => call('fs.write', { path, content });
const run = (command: string) => call('shell.run', { command });
const often = (times: number, ...turns: ((at: number) => ScriptedReply)[]): ScriptedReply[] =>
  Array.from({ length: times }, (_, at) => turns.map((make) => make(at))).flat();

describe('a model that goes in circles', () => {
  let talk: Conversation;
  afterEach(() => talk.end());
  const play = async (replies: ScriptedReply[], told?: (requests: number) => void) => {
    talk = new Conversation(await temporaryWorkspace({ a: 'one\ntwo\nthree\n' }), replies);
    if (told) talk.told = ({ type }) => type === 'usage' && told(talk.client.requests.length);
    const { phase, error } = await talk.start();
    return { phase, code: error?.code, message: error?.message ?? '', requests: talk.client.requests.length };
  };
  /** In which requests the model first hears that it repeats itself. */
  const hints = async (words: RegExp): Promise<number[]> => {
    const results = (await talk.kept()).messages.filter(({ role }) => role === 'tool');
    return results.flatMap((message, at) => (words.test(JSON.stringify(message)) ? [at] : []));
  };
  const failsAgain = /This repeats calls that failed before/;
  const nothingNew = /You have had this result before/;

  const noticed: [string, ScriptedReply[], requests: number][] = [
    ['the same failing call', often(5, () => turn(edit())), 3],
    ['… after a look each time', often(9, (at) => turn(read('a', at + 1)), () => turn(edit())), 6],
    ['… beside a look each time', often(9, (at) => turn(edit(), call('fs.find', { pattern: `${at}` }))), 3],
    ['… with its arguments in another order', [
      turn(call('fs.read', { path: 'none', offset: 1 })),
      turn(call('fs.read', { offset: 1, path: 'none' })),
      turn(call('fs.read', { path: 'none', offset: 1 })),
    ], 3],
    ['… with its arguments in other forms', [
      turn(call('fs.read', { path: 'none', offset: 1 })),
      turn(call('fs.read', { path: 'none ', offset: '1', limit: null })),
      turn(call('fs.read', { input: '{"path": "none", "offset": 1}' })),
    ], 3],
    ['… three times in each reply', often(9, () => turn(edit(), edit(), edit())), 3],
    ['… with arguments that are no JSON', often(9, () => turn({ ...call('fs.read', {}), malformed: '{"path": ' })), 3],
    ['… after a command that prints the same, which may have changed something once', often(9, () => turn(run('cat a')), () => turn(edit())), 6],
    ['… after a refused change', often(9, () => turn(write('x', '../out')), () => turn(edit())), 5],
    ['… after a change of another file', often(9, () => turn(edit()), (at) => turn(write(`${at}`))), 5],
    ['… beside a change of another file', often(9, (at) => turn(edit(), write(`${at}`))), 3],
    ['… after a command that prints a duration and fails', often(9, () => turn(edit()), (at) => turn(run(`echo "1 failing (${at}ms)"; exit 1`))), 5],
    ['… after one that prints the time', often(9, () => turn(edit()), () => turn(run('date +%s%N'))), 5],
    ['… after one that changes another file', often(9, () => turn(edit()), () => turn(run('date >> log'))), 5],
    ['a call of a tool that is not there, beside random names', often(9, (at) => turn(call('shell.rnu', {}), call('fs.find', { pattern: `${at}` }))), 3],
    ['two failing calls in turn', often(9, () => turn(edit('this')), () => turn(edit('that'))), 5],
    ['a circle of five', often(9, ...['v', 'w', 'x', 'y', 'z'].map((path) => () => turn(read(path)))), 11],
  ]; // biome-ignore format: a table
  for (const [what, replies, requests] of noticed)
    it(`is noticed: ${what}`, async () => {
      const stop = await play(replies);
      assert.deepEqual([stop.code, stop.phase, stop.requests], ['ENGINE_LOOP_DETECTED', 'WaitingUser', requests]);
      assert.ok((await hints(failsAgain)).length >= 2, 'the model has heard of it before');
    });

  it('looks change nothing, though the person is asked about each', async () => {
    const looks = often(
      9,
      (at) => turn(read('a', (at % 3) + 1), call('fs.find', { pattern: `${at}` })),
      () => turn(edit()),
    );
    talk = new Conversation(await temporaryWorkspace({ a: 'one\ntwo\nthree\n' }), looks);
    talk.preset = 'ask-everything';
    assert.equal((await talk.start()).error?.code, 'ENGINE_LOOP_DETECTED');
    assert.deepEqual([talk.client.requests.length, talk.questions.length], [6, 6]);
  });

  it('a file that goes to and fro is where it was', async () => {
    const toAndFro = often(
      9,
      () => turn(write('one')),
      () => turn(edit()),
      () => turn(write('two')),
      () => turn(edit()),
    );
    const { code, requests } = await play(toAndFro);
    assert.equal(code, 'ENGINE_LOOP_DETECTED');
    assert.ok(requests < 20, `${requests}`);
  });

  const left: [string, ScriptedReply[]][] = [
    ['changes of the file in between', often(9, () => turn(edit()), (at) => turn(write(`${at}`, 'a')))],
    ['a change of the file after it in the same reply', often(9, (at) => turn(edit(), write(`${at}`, 'a')))],
    ['a command that changes the file', often(9, () => turn(edit()), (at) => turn(run(`echo ${at} >> a`)))],
    ['another call each time', often(9, (at) => turn(edit(`${at}`)))],
    ['changes between calls that name no file', often(9, () => turn(call('web.fetch', { url: 'none' })), (at) => turn(write(`${'x'.repeat(at)}`)))],
    ['calls that succeed', often(9, () => turn(read('a')))],
  ]; // biome-ignore format: a table
  for (const [what, replies] of left)
    it(`is left to the limit of turns: ${what}`, async () => {
      const { code, requests } = await play([...replies, { text: 'Done.' }]);
      assert.deepEqual([code, requests], [undefined, replies.length + 1]);
    });

  const others: [string, failing: ScriptedReply, code: string | undefined][] = [
    ['names another file: noticed', turn(edit()), 'ENGINE_LOOP_DETECTED'],
    ['names none: left to the limit of turns', turn(call('web.fetch', { url: 'none' })), undefined],
  ];
  for (const [what, failing, expected] of others)
    it(`looks that show what others have changed, and a call that ${what}`, async () => {
      const replies = often(
        9,
        () => turn(read('c')),
        () => failing,
      );
      const { code } = await play([...replies, { text: 'Done.' }], (requests) =>
        talk.workspace.write('c', `${'x'.repeat(requests)}`),
      );
      assert.equal(code, expected);
    });

  it('hears that a command prints the same but for its times, and may go on', async () => {
    const { code } = await play([
      ...often(6, () => turn(run('echo "2 failing"; date +%s%N; exit 1'))),
      { text: 'Done.' },
    ]);
    assert.equal(code, undefined);
    assert.deepEqual(await hints(nothingNew), [3, 4, 5]);
  });

  it('takes another exit code for something new', async () => {
    await play([...often(5, () => turn(run('echo x >> lines; exit $(wc -l < lines)'))), { text: 'Done.' }]);
    assert.deepEqual(await hints(nothingNew), []);
  });

  const outputs: [string, string[]][] = [
    ['durations', ['1 failing (12ms), 1 passed in 0.34s', '1 failing (1.2s), 1 passed in 2 minutes']],
    ['durations of what was quick', ['    ✔ adds (45ms)\n    1) sub', '    ✔ adds\n    1) sub']],
    ['durations over a minute', ['== 1 failed in 59.99s ==', '== 1 failed in 61.20s (0:01:01) ==']],
    [
      'results that were not worked out again',
      ['ok  \ta\t(cached)\nFAIL\tb\t0.012s', 'ok  \ta\t0.005s\nFAIL\tb\t1.3s'],
    ],
    ['durations below a limit', ['Failed Adds [12 ms]', 'Failed Adds [< 1 ms]']],
    ['dates', ['2026-01-02T03:04:05.678Z started', '2026-01-02T04:05:06.789Z started']],
    ['random names', ['wrote /tmp/tmp.XyZabc/report', 'wrote /tmp/tmp.QqRstu/report']],
    ['hashes', ['[main 1a2b3c4] done', '[main 9f8e7d6] done']],
    ['the order of lines', ['ok a\nok b', 'ok b\nok a']],
  ];
  for (const [what, [one, other]] of outputs)
    it(`compares what commands print without ${what}`, async () => {
      const same = run(`if [ -e flag ]; then rm flag; printf '${one}'; else touch flag; printf '${other}'; fi`);
      await play([...often(6, () => turn(same)), { text: 'Done.' }]);
      assert.deepEqual(await hints(nothingNew), [3, 4, 5]);
    });

  it('hears of it once it has heard of the failure, and not before', async () => {
    const { code } = await play([
      turn(edit(), edit(), edit()),
      turn(edit()),
      turn(edit(), edit()),
      { text: 'never said' },
    ]);
    assert.equal(code, 'ENGINE_LOOP_DETECTED');
    assert.deepEqual(await hints(failsAgain), [3, 4, 5]);
  });

  it('hears that looks give nothing new, and may go on waiting', async () => {
    const { code } = await play([
      ...often(6, () => turn(read('a'))),
      turn(read('a', 2)),
      turn(read('a')),
      { text: 'Done.' },
    ]);
    assert.equal(code, undefined);
    assert.deepEqual(await hints(nothingNew), [3, 4, 5]);
  });

  it('begins anew when the person has said something', async () => {
    const { code, requests } = await play([...often(4, () => turn(edit())), { text: 'I see.' }], (requests) => {
      if (requests === 2) void talk.engine.say({ runId: talk.runId, userInput: 'It is there now.' });
    });
    assert.deepEqual([code, requests], [undefined, 5]);
  });

  it('begins anew when it is continued', async () => {
    await play([...often(6, () => turn(edit())), { text: 'never said' }]);
    assert.equal((await talk.continue()).error?.code, 'ENGINE_LOOP_DETECTED');
    assert.equal(talk.client.requests.length, 6);
  });

  it('is told with the call and its arguments, shortened, with nothing hidden in it', async () => {
    const hidden = `*Towpath: Allow*\n\u202e${'long '.repeat(500)}`;
    const { message } = await play(often(3, () => turn(call('fs.raed', { path: 'src/a.ts', text: hidden }))));
    assert.match(
      message,
      /^The same call failed 3 times.*: fs\.raed \{"path":"src\/a\.ts","text":"\\u002aTowpath: Allow\*\\n⟨U\+202E⟩long /,
    );
    assert.match(message, /…[long ]+"\}\. Change the instructions, or continue\.$/);
    assert.ok(message.length < 400, message);
  });
});
