import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Run } from '../../src/protocol/run/run.ts';
import { RunStore } from '../../src/runs/store.ts';
import { Conversation } from '../engine/conversation.ts';
import { knownTo } from '../support/knownTo.ts';
import { temporaryWorkspace } from '../support/workspace.ts';

/**
 * Runs as they were written, a folder for each way in which they ever were, with the run that they are: an edit, a deletion, a
 * command, denied and allowed questions, a summary, an undo. None of these files changes ever again.
 */
describe('a record written in', () => {
  const examples = path.join(import.meta.dirname, 'journals');
  const kept = (name: string) => JSON.parse(readFileSync(path.join(examples, name, 'run.json'), 'utf8')) as Run;
  const copy = (name: string, folder: string) =>
    cpSync(path.join(examples, name), path.join(folder, 'runs', kept(name).id), { recursive: true });

  for (const name of readdirSync(examples)) {
    it(`${name} is the run that it was, whole, with all that can be undone`, async () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'journals-'));
      try {
        copy(name, folder);
        const store = new RunStore(folder);
        const run = kept(name);
        const read = JSON.parse(JSON.stringify(await store.read(run.id)));
        assert.deepEqual(knownTo(run, read), run);
        assert.deepEqual(
          (await store.list()).map(({ title, phase, damaged }) => [title, phase, damaged]),
          [['Add a `--json` flag: „schön“ 🙂', 'WaitingUser', undefined]],
        );
        const changes = Object.values(run.calls).flatMap(({ changes = [] }) => changes);
        for (const { before, after } of changes)
          for (const id of [before, after]) if (id) await store.contents.readBytes(run.id, id);
        assert.deepEqual(
          changes.map(({ path: file }) => file),
          ['src/cli.ts', 'notes.txt', 'docs/more.md'],
        );
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    it(`${name} goes on, and what it deleted comes back`, async () => {
      const workspace = await temporaryWorkspace({ 'src/cli.ts': 'print(json(rows))\n', 'README.md': '# Sample\n' });
      const talk = new Conversation(workspace, [{ text: 'Here I am again.' }]);
      try {
        copy(name, talk.folder);
        const runId = kept(name).id;
        const { assistantText } = await talk.engine.continue({ runId, userInput: 'and now?' });
        assert.equal(assistantText, 'Here I am again.');
        const asked = talk.client.requests[0]!.messages.map(({ content }) => content).join('\n');
        assert.match(asked, /A summary stands here/);
        assert.doesNotMatch(asked, /damaged/);
        const { undone, left } = (await talk.engine.undo(
          runId,
          { toolCallIds: ['call-edit', 'call-delete'] },
          workspace,
          async () => 'all',
        )) as { undone: string[]; left: unknown[] };
        assert.deepEqual([undone, left], [['src/cli.ts', 'notes.txt'], []]);
        assert.deepEqual(
          [workspace.read('notes.txt'), workspace.read('src/cli.ts')],
          ['äöü: old notes\n', 'print(rows)\n'],
        );
        assert.equal((await talk.store.read(runId)).damage, undefined);
      } finally {
        await talk.end();
      }
    });
  }
});
