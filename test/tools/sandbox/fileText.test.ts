import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as paths from 'node:path';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation, data } from '../conversation.ts';

const bytes = Buffer.from('a word that is gr\xfcn\nold\n', 'latin1');

describe('a file in an encoding that the editor alone knows', () => {
  let workspace: TemporaryWorkspace;
  beforeEach(async () => {
    workspace = await temporaryWorkspace({ 'a.txt': bytes });
    workspace.decodeText = async (_, bytes) => bytes.toString('latin1');
  });
  afterEach(() => workspace.cleanup());

  it('is read as the editor reads it', async () => {
    const { text, note } = await data<{ text: string; note?: string }>(
      conversation(workspace).call('fs.read', { path: 'a.txt' }),
    );
    assert.deepEqual([text, note], ['a word that is grün\nold', undefined]);
  });

  it('is edited by its text', async () => {
    const { call, asked } = conversation(workspace, { answer: 'deny' });
    await call('fs.edit', { path: 'a.txt', edits: [{ oldText: 'grün', newText: 'green' }] });
    assert.equal(asked[0]?.plan.change?.after, 'a word that is green\nold\n');
  });

  for (const isOpen of [false, true])
    it(`is moved as its bytes${isOpen ? ', with unsaved changes in the editor' : ''}`, async () => {
      if (isOpen) workspace.openInEditor('a.txt', bytes.toString('latin1'));
      const { call, events } = conversation(workspace);
      await data(call('fs.move', { from: 'a.txt', to: 'b.txt' }));
      assert.deepEqual(
        events.flatMap((event) => (event.type === 'tool-end' ? [event.moved, event.changes] : [])),
        [{ from: 'a.txt', to: 'b.txt' }, undefined],
      );
      assert.deepEqual(readFileSync(paths.join(workspace.root, 'b.txt')), bytes);
    });

  it('is deleted as its bytes', async () => {
    const { call, asked } = conversation(workspace);
    await data(call('fs.delete', { path: 'a.txt' }));
    assert.equal(asked.at(-1)?.plan.change, undefined);
  });
});
