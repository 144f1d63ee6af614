import assert from 'node:assert/strict';
import { call } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

describe('an edit by the model of a file that the user changed since it was read', () => {
  let talk: Conversation;
  afterEach(() => talk.end());

  const block = ['function load(url) {', '  const body = get(url);', '  check(body);', '  return parse(body);', '}'];
  const rest = ['function main() {', '  run();', '}'];
  const text = (...lines: string[]) => `${lines.join('\n')}\n`;
  const read = call('fs.read', { path: 'a.js' });
  const edit = (from: string, to: string) =>
    call('fs.edit', { path: 'a.js', edits: [{ oldText: text(...block), newText: text(...block).replace(from, to) }] });
  const changed = block.with(1, '  const body = await get(url);');
  const results = () =>
    talk.client.requests
      .at(-1)!
      .messages.flatMap((message) => (message.role === 'tool' ? message.toolResults : []))
      .map(({ content }) => JSON.parse(content));

  it('is refused with both places if only a copy of the lines is as it was, also after a reload', async () => {
    talk = new Conversation(await temporaryWorkspace({ 'a.js': text(...block, '', ...rest) }), [
      { calls: [read] },
      { text: 'I have read it.' },
      { calls: [edit('check', 'checkAll')] },
      { text: 'Oh.' },
    ]);
    await talk.start();
    const now = text(...changed, '', ...rest, '', ...block);
    talk.workspace.write('a.js', now);
    talk.build(); // a new window
    await talk.continue('Now edit it.');
    const { error } = results().at(-1);
    assert.match(error.message, /has changed since it was read[\s\S]*It is at lines 11-15[\s\S]*As near are lines 1-5/);
    assert.equal(talk.file('a.js'), now);
  });

  it('is applied where the lines stand now if the user changed others', async () => {
    talk = new Conversation(await temporaryWorkspace({ 'a.js': text(...block, '', ...rest) }), [
      { calls: [read] },
      { text: 'I have read it.' },
      { calls: [edit('check', 'checkAll')] },
      { text: 'Done.' },
    ]);
    await talk.start();
    talk.workspace.write('a.js', text('// mine', ...block, '', ...rest));
    await talk.continue('Now edit it.');
    assert.equal(talk.file('a.js'), text('// mine', ...block, '', ...rest).replace('check', 'checkAll'));
  });

  it('knows what its own last edit left', async () => {
    talk = new Conversation(await temporaryWorkspace({ 'a.js': text(...rest) }), [
      { calls: [call('fs.write', { path: 'a.js', content: text(...block, '', ...rest) })] },
      { text: 'Written.' },
      { calls: [edit('check', 'checkAll')] },
      { text: 'Oh.' },
    ]);
    await talk.start();
    talk.workspace.write('a.js', text(...changed, '', ...rest, '', ...block));
    await talk.continue('Now edit it.');
    assert.equal(results().at(-1).error.details.reason, 'MOVED');
  });
});
