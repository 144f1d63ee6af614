import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { inputProblem, requiredWorkflowInputs } from '../../src/workflows/plan/inputs.ts';
import { loadWorkflow } from '../../src/workflows/read/validate.ts';
import { type ProviderScript, reply } from '../support/provider.ts';
import { Stage, toolNames } from './stage.ts';

const folder = path.resolve(import.meta.dirname, '../../src/workflows/templates');
const template = (name: string) => readFileSync(path.join(folder, `${name}.yaml`), 'utf8');

describe('the workflows that come with Towpath', () => {
  let stage: Stage | undefined;
  afterEach(async () => {
    await stage?.end();
    stage = undefined;
  });

  const inOrder = (yaml: string) => {
    const { problems, warnings } = loadWorkflow(yaml, { tools: toolNames });
    assert.deepEqual([problems, warnings], [[], []]);
  };

  for (const name of readdirSync(folder)) it(`${name} is in order`, () => inOrder(template(path.parse(name).name)));

  describe('review what was changed', () => {
    const reviewer: ProviderScript = ({ messages }) => {
      const asked = messages.map(({ content }) => content ?? '');
      if (asked.some((text) => text.startsWith('Two readings'))) return reply.text('# Review');
      if (asked.some((text) => text.startsWith('Which of these'))) return reply.text('None is missing.');
      const isNew = asked.some((text) => /^\?\? new\.txt$/m.test(text));
      if (isNew && messages.at(-1)!.role !== 'tool') return reply.call('fs_read', { path: 'new.txt' });
      return reply.text('a.txt:1 is wrong.');
    };
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: stage!.workspace.root });
    const begin = async (script: ProviderScript = reviewer) => {
      stage = await Stage.of(template('review-changes'), script, { files: { 'a.txt': 'one\n' } });
    };
    const beginIn = async (...commands: string[]) => {
      await begin();
      for (const command of commands) git(...command.split(' '));
    };
    const committed = ['init -q', 'add .', 'commit -qm One'];

    it('in two readings and a verdict', async () => {
      await beginIn(...committed);
      stage!.workspace.write('a.txt', 'two\n');
      assert.deepEqual(await stage!.start(), { success: true, phase: 'Completed', assistantText: '# Review' });
      assert.deepEqual(stage!.questions, ['Run a command']);
      const verdict = stage!.provider.requests.at(-1)!.body.messages.at(-1)!.content!;
      assert.match(verdict, /---\s+a\.txt:1 is wrong\.\s+---\s+None is missing\./);
      assert.match(stage!.provider.requests[0]!.body.messages.at(-1)!.content!, /^ M a\.txt$[\s\S]*-one\n\+two/m);
    });

    it('new files too, which are read without a question', async () => {
      await beginIn(...committed);
      stage!.workspace.write('new.txt', 'brand-new\n');
      assert.equal((await stage!.start()).phase, 'Completed');
      assert.deepEqual(stage!.questions, ['Run a command']);
      const told = stage!.provider.requests.flatMap(({ body }) => body.messages.filter(({ role }) => role === 'tool'));
      assert.match(told[0]!.content!, /brand-new/);
    });

    const endings: [what: string, commands: string[], said: RegExp][] = [
      ['no repository', [], /^Git could not tell what has changed\.[\s\S]*not a git repository/],
      ['no commit', ['init -q'], /^Git could not tell what has changed\.[\s\S]*HEAD/],
      ['no change', committed, /^There is nothing to review, everything is committed\.$/],
    ];
    for (const [what, commands, said] of endings)
      it(`says what is the matter where there is ${what}`, async () => {
        await beginIn(...commands);
        const { phase, assistantText } = await stage!.start();
        assert.equal(phase, 'Completed');
        assert.match(assistantText!, said);
        assert.equal(stage!.provider.requests.length, 0);
      });

    it('not when the person says no, and begins anew when they think again', async () => {
      await beginIn(...committed);
      stage!.workspace.write('a.txt', 'two\n');
      stage!.answers = [{ decision: 'deny' }];
      const { phase, error } = await stage!.start();
      assert.deepEqual([phase, error?.code], ['Failed', 'TOOL_DENIED']);
      assert.equal((await stage!.continue()).assistantText, '# Review');
    });

    it('again only in the reading that failed', async () => {
      let broken = true;
      await begin((request, ...rest) => {
        const tests = request.messages.some(({ content }) => content?.startsWith('Which of these'));
        if (!tests || !broken) return (reviewer as (...all: unknown[]) => never)(request, ...rest);
        broken = false;
        return reply.status(400, { error: { message: 'No.' } });
      });
      for (const command of committed) git(...command.split(' '));
      stage!.workspace.write('a.txt', 'two\n');
      assert.equal((await stage!.start()).phase, 'Failed');
      assert.equal((await stage!.continue()).assistantText, '# Review');
      const mistakes = stage!.provider.requests.filter(({ body }) =>
        /^Which mistakes/.test(body.messages[1]?.content ?? ''),
      );
      assert.equal(mistakes.length, 1);
    });
  });

  describe('write tests for a file', () => {
    const write = (content: string) =>
      reply.call('fs_write', { path: 'a.test.js', content }, { id: `call_${content}` });
    const begin = async (script: ProviderScript, values: object = {}) => {
      stage = await Stage.of(template('write-tests'), script, { files: { 'a.js': 'x', 'b.js': 'y' } });
      return stage.start('Write tests', { file: 'a.js', command: 'node a.test.js', ...values });
    };

    it('asks for the file and how tests are run, and takes no empty answer', () => {
      const file = loadWorkflow(template('write-tests'), { tools: toolNames }).value!;
      assert.deepEqual(requiredWorkflowInputs(file), ['file', 'command']);
      assert.deepEqual(
        ['', 'a.js'].map((text) => inputProblem(file, 'file', text)),
        ['`file` is required.', undefined],
      );
    });

    it('until they pass', async () => {
      const end = await begin([
        write('throw 1'),
        reply.text('There is a test.'),
        write('0'),
        reply.text('It is mended.'),
      ]);
      assert.deepEqual([end.phase, end.assistantText], ['Completed', 'The tests for a.js pass: node a.test.js']);
      assert.deepEqual(stage!.questions, ['Create a.test.js', 'Run a command', 'Replace a.test.js', 'Run a command']);
      const told = stage!.provider.requests[2]!.body.messages.filter(({ role }) => role === 'user').at(-1)!.content!;
      assert.match(told, /<system-message>\nThe tests fail\. Mend the tests, not the code\.[\s\S]*throw 1/);
    });

    it('three times at most, and says how they fail', async () => {
      const { phase, assistantText } = await begin([write('throw 1'), ...Array(3).fill(reply.text('Mended.'))]);
      assert.equal(phase, 'Completed');
      assert.match(assistantText!, /^The tests still fail after 3 rounds\.[\s\S]*throw 1/);
    });

    it('not where the code itself is wrong', async () => {
      const said = 'THE CODE IS WRONG: x is not defined.';
      const { phase, assistantText } = await begin([reply.text(said)]);
      assert.deepEqual([phase, assistantText, stage!.questions], ['Completed', said, []]);
    });

    it('says that a command is not there, and does not mend the tests for that', async () => {
      const { assistantText } = await begin([reply.text('Written.')], { command: 'no-such-program-here' });
      assert.match(assistantText!, /^The tests are written, and `no-such-program-here` could not be run\./);
      assert.equal(stage!.provider.requests.length, 1);
    });

    it('not where there is no such file', async () => {
      const { phase, error } = await begin([], { file: 'c.js' });
      assert.deepEqual([phase, error?.code, stage!.provider.requests.length], ['Failed', 'ENOENT', 0]);
      assert.match(error!.message, /^Node look: "c\.js" does not exist\./);
    });

    it('and hands back what it asks', async () => {
      assert.equal((await begin([reply.text('Which framework?')])).phase, 'WaitingUser');
    });
  });
});
