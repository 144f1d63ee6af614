import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pendingCalls } from '../../../src/protocol/run/pending.ts';
import { noteLines } from '../../support/messages.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

describe('a run whose record is damaged', () => {
  let talk: Conversation;
  afterEach(() => talk.end());
  const write = (file: string) => call('fs.write', { path: file, content: `${file}\n` }, `call-${file}`);
  const begin = async (...replies: ScriptedReply[]) => {
    talk = new Conversation(await temporaryWorkspace({}), replies);
    await talk.start('write them');
    talk.build(); // as a reload would
  };
  /** Flips a bit in the line that says this. */
  function damage(says: string): void {
    const journal = path.join(talk.folder, 'runs', talk.runId, 'journal.jsonl');
    const bytes = readFileSync(journal);
    bytes[bytes.indexOf(says)]! ^= 1;
    writeFileSync(journal, bytes);
  }
  const lastAsked = () => talk.client.requests.at(-1)!.messages;
  const told = () => lastAsked().findLast(({ role }) => role === 'system')!.content;

  it('goes on: the model hears where, how much, and what it did after that', async () => {
    await begin(
      { text: 'First a.', calls: [write('a')] },
      { text: 'Then b.', calls: [write('b')] },
      { text: 'Both are there.' },
      { text: 'I see.' },
    );
    damage('First a.');
    assert.match((await talk.kept()).damage![0]!.text, /^line \d+ is damaged \(\d+ bytes from byte \d+\)$/);
    await talk.continue('and now?');
    assert.match(
      told(),
      /^A part of the record of this conversation was damaged: line \d+ is damaged \(\d+ bytes from byte \d+\)\./,
    );
    assert.match(told(), /\n- you: "Then b\."\n- "fs\.write" "\{.*b.*\}": done\n- you: "Both are there\."\n/);
    assert.match(told(), /check the current state before you change or run anything again\.$/);
    assert.match(
      String(noteLines(lastAsked())),
      /^The model is informed: A part of the record of this conversation was damaged: line \d+ .*, as data:$/,
    );
    assert.deepEqual(
      lastAsked().map(({ role, content }) => (role === 'system' ? role : content)),
      ['write them', 'system', 'and now?'],
    );
    assert.deepEqual(talk.questions, ['Create a', 'Create b'], 'nothing was done again');
    const run = await talk.kept();
    assert.deepEqual([run.damage!.length, run.damage![0]!.open, pendingCalls(run.messages)], [1, undefined, []]);
  });

  it('is told once, and what was done after the damage can be undone', async () => {
    await begin(
      { calls: [write('a')] },
      { calls: [write('b')] },
      { text: 'Done.' },
      { text: 'I see.' },
      { text: 'Yes.' },
    );
    damage('"call-a","name":"fs.write","arg');
    await talk.continue('and now?');
    talk.build();
    await talk.continue('again?');
    assert.equal(lastAsked().filter(({ content }) => /was damaged/.test(content)).length, 1);
    const ids = Object.keys((await talk.kept()).calls);
    const result = await talk.engine.undo(talk.runId, { toolCallIds: ids }, talk.workspace, async () => 'all');
    assert.deepEqual('undone' in result && result.undone.sort(), ['a', 'b']);
    assert.deepEqual([talk.file('a'), talk.file('b')], [undefined, undefined]);
  });

  it('keeps the result of a call that was asked for before the damage', async () => {
    await begin({ calls: [write('a')] }, { text: 'Done.' }, { text: 'I see.' });
    damage('"type":"tool-start"');
    await talk.continue('and now?');
    const results = lastAsked().flatMap((message) => (message.role === 'tool' ? message.toolResults : []));
    assert.deepEqual(
      results.map(({ toolCallId, error }) => [toolCallId, error]),
      [['call-a', undefined]],
    );
  });

  it('that a newer Towpath has worked on is left alone, and says so', async () => {
    await begin({ text: 'Done.' });
    const journal = path.join(talk.folder, 'runs', talk.runId, 'journal.jsonl');
    const before = readFileSync(journal, 'utf8').replace('{"towpath-run":1}', '{"towpath-run":2}');
    writeFileSync(journal, before);
    const { error } = await talk.continue('go on');
    assert.match(error?.message ?? '', /newer version of Towpath/);
    assert.deepEqual([readFileSync(journal, 'utf8'), talk.client.requests.length], [before, 1]);
  });
});
