import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLLMClient } from '../../src/llm/createClient.ts';
import { undoableCallIds } from '../../src/runs/undoSteps.ts';
import { packageRunId } from '../../src/workflows/package/ids.ts';
import { PackageRegistry } from '../../src/workflows/package/packageRegistry.ts';
import { readWorkflowPackage } from '../../src/workflows/package/readPackage.ts';
import { createWorkflowOfPackageRun } from '../../src/workflows/package/workflowOf.ts';
import { Conversation } from '../engine/conversation.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';
import { strictly, strictServers } from '../support/strict.ts';
import { temporaryWorkspace } from '../support/workspace.ts';
import { sampleFiles } from './package/sample.ts';
import { Stage } from './stage.ts';

// Servers of models whose chat template is strict refuse what is not said in the order they know: whatever is told in
// mid-conversation, work there comes to its end.

const state = (frontmatter: object) => reply.call('fs_apply_patch', { path: '@state/workflow.md', frontmatter });

for (const [rule, refuses] of Object.entries(strictServers))
  describe(`a server that refuses ${rule}`, () => {
    let provider: Provider | undefined;
    let conversation: Conversation | undefined;
    let stage: Stage | undefined;
    let folder: string;
    beforeEach(() => {
      folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'strict-')));
    });
    afterEach(async () => {
      await conversation?.end();
      await provider?.close();
      await stage?.end();
      conversation = provider = stage = undefined;
      rmSync(folder, { recursive: true });
    });

    it('carries a package to its end, with a question on the way', async () => {
      const files = Object.entries(sampleFiles).map(([file, text]) => [`.towpath/packages/letters/${file}`, text]);
      const workspace = await temporaryWorkspace(Object.fromEntries(files));
      const shelf = new PackageRegistry({
        project: workspace,
        storage: path.join(folder, 'unpacked'),
        openedFile: path.join(folder, 'opened.json'),
        stateFolder: () => path.join(folder, 'state'),
        autopilot: () => false,
        now: () => new Date('2026-01-01T00:00:00Z'),
        read: readWorkflowPackage,
        follow: createWorkflowOfPackageRun,
      });
      provider = await startProvider(
        strictly(refuses, [
          reply.text('Whom is it for?'),
          state({ currentNodeId: 'judge', stepsCompleted: ['ask'] }),
          state({ currentNodeId: 'done', stepsCompleted: ['ask', 'judge'] }),
          state({ stepsCompleted: ['ask', 'judge', 'done'] }),
          reply.text('The letter is written.'),
        ]),
      );
      const [shelved] = await shelf.list();
      conversation = new Conversation(workspace, []);
      conversation.workflow = (await shelf.workflow(packageRunId({ key: shelved!.key, workflowId: 'write' })))!;
      conversation.model = createLLMClient({ provider: 'openai-compatible', baseUrl: provider.url, model: 'strict' });
      conversation.build();
      assert.equal((await conversation.start('A letter, please.')).phase, 'WaitingUser');
      assert.deepEqual(await conversation.continue('For Ada.'), {
        success: true,
        phase: 'Completed',
        assistantText: 'The letter is written.',
      });
    });

    it('lets agents of a workflow work one after the other', async () => {
      const yaml = `
name: flow
nodes:
  - {name: read, agent: reader, prompt: Read a.txt.}
  - {name: judge, agent: reader, prompt: Judge it.}
edges: [{from: read, to: judge}]
`;
      const read = reply.call('fs_read', { path: 'a.txt' });
      const script = strictly(refuses, [read, reply.text('I read it.'), read, reply.text('It is good.')]);
      stage = await Stage.of(yaml, script, { files: { 'a.txt': 'one' } });
      stage.agent('reader', 'instructions: You read.\ntools: [fs.read]\n');
      const { phase, assistantText, error } = await stage.start();
      assert.deepEqual([phase, assistantText, error], ['Completed', 'It is good.', undefined]);
    });

    it('is told of an undo, of words said meanwhile, and goes on after an answer that broke off', async () => {
      const workspace = await temporaryWorkspace();
      provider = await startProvider(
        strictly(refuses, [
          reply.call('fs_write', { path: 'a.txt', content: 'x' }),
          reply.text('I wrote'.repeat(3)).cut(),
          reply.text('it.'),
          reply.text('As you like.'),
        ]),
      );
      conversation = new Conversation(workspace, []);
      conversation.model = createLLMClient({ provider: 'openai-compatible', baseUrl: provider.url, model: 'strict' });
      conversation.build();
      conversation.told = (event) => {
        if (event.type === 'approval') void conversation!.engine.say({ runId: event.runId, userInput: 'Quick!' });
      };
      assert.equal((await conversation.start('Write a.txt.')).error?.code, 'LLM_INCOMPLETE');
      const result = await conversation.continue();
      assert.deepEqual([result.error, result.assistantText], [undefined, 'it.']);
      const toolCallIds = undoableCallIds(await conversation.kept(), 'run');
      await conversation.engine.undo(conversation.runId, { toolCallIds }, workspace, async () => 'all');
      assert.equal((await conversation.continue('Leave it out.')).assistantText, 'As you like.');
      const last = provider.requests.at(-1)!.body.messages.at(-1)!;
      assert.match(
        last.content!,
        /^<system-message>\nThe person has undone .*\n<\/system-message>\n\nLeave it out\.$/s,
      );
    });
  });
