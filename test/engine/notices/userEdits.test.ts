import assert from 'node:assert/strict';
import { noteOfFormerText } from '../../../src/protocol/run/formerText.ts';
import { toEnglishText } from '../../../src/protocol/text/l10n.ts';
import { noteLines } from '../../support/messages.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

// Holds user-edits-are-reported-once.
describe('what the person makes of changed files', () => {
  let talk: Conversation;
  afterEach(() => talk.end());

  const write = (name: string, content: string) => call('fs.write', { path: name, content });
  const lines = (...changed: [at: number, text: string][]) => {
    const all = Array.from({ length: 30 }, (_, at) => `line ${at}`);
    for (const [at, text] of changed) all[at] = text;
    return `${all.join('\n')}\n`;
  };
  const begin = async (files: Record<string, string>, ...replies: ScriptedReply[]) => {
    talk = new Conversation(await temporaryWorkspace(files), replies);
    await talk.start();
  };
  const notes = async () =>
    (await talk.kept()).messages.flatMap(({ role, content }) => (role === 'system' ? [content] : []));
  const last = 'Read again before you edit, and leave what was taken back unless you are asked for it.';

  it('is told before the next message, once: which of its changes were taken back', async () => {
    await begin(
      { a: lines() },
      { calls: [write('a', lines([2, 'two'], [20, 'twenty']))] },
      { text: 'Done.' },
      { text: 'I see.' },
      { text: 'Yes.' },
    );
    assert.deepEqual(await notes(), []);
    talk.workspace.write('a', lines([20, 'twenty']));
    await talk.continue('And now?');
    const told = `The person has taken back 1 of your 2 changes of a. Of yours, this is gone:\n-line 2\n+two\n${last}`;
    assert.deepEqual(await notes(), [told]);
    const { messages } = await talk.kept();
    assert.deepEqual(noteLines(messages), ['The model is informed: you have undone 1 of its 2 changes to a']);
    assert.deepEqual(
      messages.slice(-3).map(({ role }) => role),
      ['system', 'user', 'assistant'],
    );
    await talk.continue('Anything else?');
    assert.deepEqual(await notes(), [told], 'nothing is new');
  });

  it('says what else was made of them', async () => {
    await begin(
      { a: lines(), b: 'B\n', c: 'C\n', d: 'D\n', e: 'E\n' },
      {
        calls: [
          write('a', lines([2, 'two'], [20, 'twenty'])),
          ...['b', 'c', 'd', 'e'].map((name) => write(name, '1\n')),
        ],
      },
      { text: 'Done.' },
      { text: 'I see.' },
    );
    talk.workspace.write('a', lines([10, 'mine'], [20, 'twenty']));
    talk.workspace.write('b', 'B\n');
    talk.workspace.write('c', 'mine\n');
    await talk.workspace.delete(`${talk.workspace.root}/d`);
    await talk.continue('And now?');
    const [note] = await notes();
    assert.deepEqual(noteLines((await talk.kept()).messages), [toEnglishText(noteOfFormerText(note!).line)]);
    assert.deepEqual(note?.split('\n').sort(), [
      '+two',
      '-line 2',
      last,
      'The person has changed c since you did.',
      'The person has deleted d, which you changed.',
      'The person has taken back 1 of your 2 changes of a, and changed it otherwise, too. Of yours, this is gone:',
      'The person has taken back all of your changes of b.',
    ]);
  });

  it('is not told of what it has done itself since', async () => {
    await begin(
      { a: 'A\n' },
      { calls: [write('a', '1\n')] },
      { text: 'Done.' },
      { calls: [write('a', '2\n')] },
      { text: 'Done again.' },
      { text: 'Yes.' },
    );
    talk.workspace.write('a', 'mine\n');
    await talk.continue('Once more.');
    await talk.continue('Fine?');
    assert.deepEqual(await notes(), [`The person has changed a since you did.\n${last}`]);
    assert.deepEqual((await talk.kept()).files?.a?.mixed, true, 'also changed by the person');
  });
});
