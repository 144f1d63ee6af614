import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { inputsOf } from '../../src/workflows/inputs.ts';
import { loadWorkflow } from '../../src/workflows/validate.ts';
import { reply } from '../support/provider.ts';
import { Stage, toolNames } from './stage.ts';

const folder = path.resolve(import.meta.dirname, '../../templates');
const template = (name: string) => readFileSync(path.join(folder, `${name}.yaml`), 'utf8');

describe('the workflows that come with Towpath', () => {
  let stage: Stage | undefined;
  afterEach(async () => {
    await stage?.end();
    stage = undefined;
  });

  for (const name of readdirSync(folder))
    it(`${name} is in order`, () =>
      assert.deepEqual(loadWorkflow(template(path.parse(name).name), { tools: toolNames }).problems, []));

  it('and the one in the README is in order', () => {
    const readme = readFileSync(path.join(folder, '../README.md'), 'utf8');
    const [, yaml] = /```yaml\n(.*?)```/s.exec(readme)!;
    assert.deepEqual(loadWorkflow(yaml!, { tools: toolNames, agents: ['planner'] }).problems, []);
  });

  it('review what was changed, in two readings and a verdict', async () => {
    stage = await Stage.of(
      template('review-changes'),
      ({ messages }) => {
        const asked = messages.at(-1)!.content!;
        if (asked.startsWith('Which mistakes')) return reply.text('a.txt:1 is wrong.');
        return asked.startsWith('Two readings') ? reply.text('# Review') : reply.text('None is missing.');
      },
      { files: { 'a.txt': 'one\n' } },
    );
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: stage!.workspace.root });
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'One');
    stage.workspace.write('a.txt', 'two\n');
    assert.deepEqual(await stage.start(), { success: true, phase: 'Completed', assistantText: '# Review' });
    assert.deepEqual(stage.questions, ['Run a command']);
    const verdict = stage.provider.requests.at(-1)!.body.messages.at(-1)!.content!;
    assert.match(verdict, /---\s+a\.txt:1 is wrong\.\s+---\s+None is missing\./);
    assert.match(stage.provider.requests[0]!.body.messages.at(-1)!.content!, /-one\n\+two/);
  });

  it('say that there is nothing to review', async () => {
    stage = await Stage.of(template('review-changes'));
    await stage.start();
    assert.match((await stage.state()).content as string, /^There is nothing to review/);
    assert.equal(stage.provider.requests.length, 0);
  });

  it('write tests until they pass', async () => {
    const yaml = template('write-tests');
    assert.deepEqual(inputsOf(loadWorkflow(yaml, { tools: toolNames }).value!), ['file', 'command']);
    const write = (content: string) =>
      reply.call('fs_write', { path: 'a.test.js', content }, { id: `call_${content}` });
    stage = await Stage.of(yaml, [
      write('throw 1'),
      reply.text('There is a test.'),
      write('0'),
      reply.text('It is mended.'),
    ]);
    const end = await stage.start('Write tests', { file: 'a.js', command: 'node a.test.js' });
    assert.equal(end.phase, 'Completed');
    assert.deepEqual(await stage.state().then(({ round, content }) => [round, content]), [
      2,
      'The tests for a.js pass.',
    ]);
    const told = stage.provider.requests[2]!.body.messages.filter(({ role }) => role === 'system').at(-1)!.content!;
    assert.match(told, /^The tests fail\. Mend the tests, not the code\./);
  });
});
