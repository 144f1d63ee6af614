import assert from 'node:assert/strict';
import type { RunEvent } from '../../../src/protocol/run/events.ts';
import { callsWithOrphanedCommand } from '../../../src/protocol/run/run.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { BackgroundCommands } from '../../../src/tools/shell/background.ts';
import { OrphanedCommands } from '../../../src/tools/shell/orphanedCommands.ts';
import { StillClock } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { noteLines } from '../../support/messages.ts';
import { call, type ScriptedReply, scriptedClient } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const line = 'echo up; while [ ! -e go ]; do sleep 0.02; done; echo gone; exit 7';

describe('a run with a command in the background', () => {
  let conv: Conversation;
  let background: BackgroundCommands;
  const clock = new StillClock();

  /** What the extension does: ends are noted in the run, what was written is kept with it. */
  function attend(one: Conversation): BackgroundCommands {
    const commands = new BackgroundCommands({
      after: clock.after,
      keep: (runId, text) => one.store.contents.keep(runId, text),
      ended: ({ runId, toolCallId }, end) => one.engine.note(runId, { type: 'command-end', toolCallId, ...end }),
    });
    one.background = commands;
    one.tools = builtinTools({ shell: { background: commands } });
    one.build();
    return commands;
  }
  const begin = async (...replies: ScriptedReply[]) => {
    conv = new Conversation(await temporaryWorkspace({}), replies);
    background = attend(conv);
  };
  const start = () => call('shell.run', { command: line, background: true });
  /** To the first stop point, with the command at work. */
  const rest = async () => {
    const resting = conv.start();
    await conv.seen('tool-output');
    clock.pass(1000);
    return resting;
  };
  const die = async () => {
    conv.workspace.write('go', '');
    await conv.seen('command-end');
    await eventually(
      'its end is on record',
      async () => Object.values((await conv.kept()).calls)[0]?.ended !== undefined,
    );
    await eventually('its record is closed', async () => (await conv.store.holder(conv.runId)) === undefined);
  };
  const heard = (request: number) =>
    conv.client.requests[request]!.messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const said = (id: string) =>
    `The command ${JSON.stringify(line)} (${id}) in the background exited with code 7. What it wrote: output.read with the id ${id}.`;

  afterEach(async () => {
    await background.close();
    await conv.end();
  });

  it('rests while it goes on; its end is recorded between the turns, and told to the model once', async () => {
    await begin({ calls: [start()] }, { text: 'It runs.' }, { text: 'So it died.' }, { text: 'Well.' });
    assert.equal((await rest()).phase, 'WaitingUser');
    const [{ id } = assert.fail()] = background.atWork;
    assert.equal(callsWithOrphanedCommand(await conv.kept()).length, 1);
    await die();
    const end = conv.events.find(({ type }) => type === 'command-end') as RunEvent & { type: 'command-end' };
    assert.deepEqual([end.type, end.by, end.exitCode], ['command-end', 'itself', 7]);
    assert.equal(callsWithOrphanedCommand(await conv.kept()).length, 0);
    await conv.continue('Go on.');
    assert.deepEqual(heard(2), [said(id)]);
    assert.equal(conv.client.requests[2]!.messages.at(-1)!.content, 'Go on.', 'the person has the last word');
    await conv.continue('And?');
    assert.deepEqual(heard(3), [said(id)], 'once');
    const run = await conv.kept();
    assert.equal(run.ends?.length ?? 0, 0);
  });

  it('that dies while the run is at work: the model hears of it at the next turn', async () => {
    const reading = call('fs.list', {});
    await begin({ calls: [start()] }, { calls: [reading] }, { text: 'It died.' });
    conv.told = (event) => {
      if (event.type === 'tool-end' && event.background) conv.workspace.write('go', '');
    };
    // The second reply waits until the end is told: then it is at work, and its results come.
    const plain = conv.client;
    conv.model = {
      chat: plain.chat,
      async *chatStream(request, signal) {
        if (plain.requests.length === 1) await conv.seen('command-end');
        yield* plain.chatStream(request, signal);
      },
    };
    await rest();
    assert.equal(heard(2).length, 1);
    assert.match(heard(2)[0]!, /in the background exited with code 7\./);
  });

  it('its end may change anything: what failed until then may be tried again', async () => {
    const missing = () => ({ calls: [call('fs.read', { path: 'none' })] });
    await begin({ calls: [start()] }, ...Array.from({ length: 4 }, missing), { text: 'It is not there.' });
    const plain = conv.client;
    conv.model = {
      chat: plain.chat,
      async *chatStream(request, signal) {
        if (plain.requests.length === 2) {
          conv.workspace.write('go', '');
          await conv.seen('command-end');
        }
        yield* plain.chatStream(request, signal);
      },
    };
    assert.equal((await rest()).assistantText, 'It is not there.');
  });

  it('its output is read on by its id after a reload, when its end was recorded', async () => {
    await begin({ calls: [start()] }, { text: 'It runs.' });
    await rest();
    const [{ id } = assert.fail()] = background.atWork;
    await die();
    const next = { calls: [call('output.read', { id })] };
    conv.client.requests.length = 0;
    Object.assign(conv, { model: undefined });
    background = attend(conv); // a window that knows nothing of it
    const client = scriptedClient([next, { text: 'Read.' }]);
    conv.model = client;
    await conv.continue();
    const told = client.requests[1]!.messages.at(-1)!;
    assert.equal(told.role, 'tool');
    const { data } = JSON.parse((told as { toolResults: { content: string }[] }).toolResults[0]!.content);
    assert.equal(data.text, 'up\ngone');
  });

  it('that was killed with its window: the next one says that it is not at work any more', async () => {
    await begin({ calls: [start()] }, { text: 'It runs.' });
    await rest();
    const silent = background;
    const client = scriptedClient([{ text: 'I see.' }]);
    conv.model = client;
    conv.engine.note = async () => {}; // a window that is killed records nothing
    await silent.close();
    background = attend(conv);
    await conv.continue();
    const [words] = client.requests[0]!.messages.filter(({ role }) => role === 'system');
    assert.match(String(words?.content), /in the background ended after its window\.$/);
    assert.match(
      noteLines([words!])[0]!,
      /^The model is informed: the background command “.*” ended after its window$/,
    );
    assert.equal(Object.values((await conv.kept()).calls)[0]!.ended?.by, 'lost');
  });

  it('that outlived its window is named, by its processes, and is not run beside itself', async () => {
    await begin({ calls: [start()] }, { text: 'It runs.' });
    await rest();
    const outliving = background;
    const left = new OrphanedCommands();
    const client = scriptedClient([{ calls: [start()] }, { text: 'I wait.' }]);
    conv.model = client;
    conv.left = left;
    const commands = new BackgroundCommands({ after: clock.after });
    conv.background = commands;
    conv.tools = builtinTools({ shell: { background: commands, left } });
    conv.build();
    await conv.continue();
    const [words] = client.requests[0]!.messages.filter(({ role }) => role === 'system');
    assert.match(String(words?.content), /continued without its window\. Still running: (bash|sh) \(\d+\)/);
    assert.match(
      noteLines([words!])[0]!,
      /” continued without its window\. Still running: (bash|sh) \(\d+\)(, \w+ \(\d+\))*$/,
    );
    const told = JSON.stringify(client.requests[1]!.messages.at(-1));
    assert.match(told, /STILL_RUNNING/);
    assert.equal(callsWithOrphanedCommand(await conv.kept()).length, 1, 'the next window names it');
    await outliving.close();
  });

  it('is not lost while its window lives, though the run is gone on with', async () => {
    await begin({ calls: [start()] }, { text: 'It runs.' }, { text: 'Still.' });
    await rest();
    await conv.continue('Does it?');
    assert.deepEqual(heard(2), []);
    assert.equal(background.atWork.length, 1);
  });
});
