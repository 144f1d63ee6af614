import assert from 'node:assert/strict';
import { findRealModels } from '../real/models.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';

describe('a small trained model', () => {
  let editor: Towpath;
  before(async function () {
    const file = (await findRealModels())[0]?.file;
    if (file === undefined) return this.skip();
    editor = await openTowpath({
      settings: { 'towpath.model': `local/${file}`, 'towpath.local.gpu': false, 'towpath.local.threads': 1 },
    });
  });
  after(() => editor?.stop());

  const answer = async () => {
    const entries = await editor.panel.transcript();
    return entries.findLast((entry) => 'role' in entry && entry.role === 'assistant')?.text ?? '';
  };

  it('streams its answer into a narrow panel, is stopped, and answers another message', async () => {
    await editor.resizePanel(300);
    await editor.panel.send('Tell me a long story about a boat on a canal.');
    await eventually('its answer has begun', async () => (await answer()).length > 40);
    const begun = await answer();
    await eventually('it goes on', async () => (await answer()).length > begun.length);
    await editor.screenshot('trained-model');
    await editor.panel.stop();
    await editor.panel.waitForPhase('Failed');
    const stopped = await answer();
    assert.ok(stopped.startsWith(begun.slice(0, 20)), stopped);
    await editor.panel.send('And what is the capital of France?');
    await eventually('it answers', async () => ![stopped, ''].includes(await answer()));
  });
});
