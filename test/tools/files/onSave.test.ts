import assert from 'node:assert/strict';
import { undoableCallIds } from '../../../src/runs/undoSteps.ts';
import { sha256 } from '../../../src/tools/sandbox/fileText.ts';
import { Conversation } from '../../engine/conversation.ts';
import { call } from '../../support/scriptedClient.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation, data, error } from '../conversation.ts';

/** What the editor runs when it saves; that it does is shown in the editor itself (`test/host/saving.test.ts`). */
describe('a text that the editor changes when it saves it', () => {
  let workspace: TemporaryWorkspace;
  beforeEach(async () => {
    workspace = await temporaryWorkspace({ 'a.js': "const a = 'old'\nconst b = 1\n" });
    workspace.onSave = (text) => text.replaceAll(/[^;\n](?=\n)/g, '$&;');
  });
  afterEach(() => workspace.cleanup());
  const edits = (oldText: string, newText: string) => ({ path: 'a.js', edits: [{ oldText, newText }] });

  it('is told, kept and guarded as it stands on disk', async () => {
    const { call, events, kept } = conversation(workspace);
    const before = workspace.read('a.js');
    const told = await data(call('fs.edit', edits("'old'", "'new'")));
    const stands = "const a = 'new';\nconst b = 1;\n";
    assert.equal(workspace.read('a.js'), stands);
    assert.deepEqual(told, {
      path: 'a.js',
      matched: 'exact',
      sha256: sha256(stands),
      added: 2,
      removed: 2,
      changedOnSave: "@@ -1,2 +1,2 @@\n-const a = 'new'\n-const b = 1\n+const a = 'new';\n+const b = 1;",
    });
    const end = events.find((event) => event.type === 'tool-end');
    assert.deepEqual(end?.changes, [{ path: 'a.js', before: sha256(before), after: sha256(stands) }]);
    assert.equal(kept.get(sha256(stands)), stands);
    const next = { ...edits('const b = 1;', 'const b = 2;'), ifMatchSha256: told.sha256 };
    assert.equal((await data(call('fs.edit', next))).changedOnSave, undefined);
  });

  it('is told of as far as a model needs it', async () => {
    workspace.write('a.js', 'one\n'.repeat(5000));
    const { changedOnSave } = await data<{ changedOnSave: string }>(
      conversation(workspace).call('fs.write', { path: 'a.js', content: 'two\n'.repeat(4000) }),
    );
    assert.match(changedOnSave, /^@@ -1,4000 \+1,4000 @@\n-two\n/);
    assert.match(changedOnSave, /more characters: read the file\)$/);
    assert.ok(changedOnSave.length < 2200);
  });

  it('when all of it is taken back, has failed and is nothing to undo', async () => {
    const before = workspace.read('a.js');
    workspace.onSave = () => before;
    const { call, events } = conversation(workspace);
    const { code, message } = await error(call('fs.edit', edits("'old'", "'new'")));
    assert.deepEqual([code, workspace.read('a.js')], ['TOOL_EXEC_FAILED', before]);
    assert.match(message, /took the whole change back/);
    const end = events.find((event) => event.type === 'tool-end');
    assert.deepEqual([end?.ok, end?.changes], [false, undefined]);
  });

  it('is known by what it is when it can be kept no more', async () => {
    let full = false;
    const { call, events } = conversation(workspace, {
      beforeEvent: ({ type }) => {
        if (type === 'tool-start') full = true;
      },
      keep: async (content) => (full ? Promise.reject(new Error('full')) : sha256(content)),
    });
    const told = await data(call('fs.edit', edits("'old'", "'new'")));
    const end = events.find((event) => event.type === 'tool-end');
    assert.equal(end?.changes?.[0]?.after, told.sha256);
  });

  it('goes back to exactly what it was, unasked about a change of somebody else, when that is undone', async () => {
    const before = workspace.read('a.js');
    const talk = new Conversation(workspace, [
      { calls: [call('fs.edit', edits("'old'", "'new'"))] },
      { text: 'Done.' },
    ]);
    try {
      await talk.start();
      const toolCallIds = undoableCallIds(await talk.kept(), 'run');
      const result = await talk.engine.undo(talk.runId, { toolCallIds }, workspace, async ({ changedSince }) => {
        assert.deepEqual(changedSince, []);
        return 'unchanged';
      });
      assert.deepEqual([result, workspace.read('a.js')], [{ undone: ['a.js'], left: [] }, before]);
    } finally {
      await talk.end();
      workspace = await temporaryWorkspace();
    }
  });
});
