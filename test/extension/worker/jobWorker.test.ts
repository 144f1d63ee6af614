import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { packageProblemFile, SerialQueue } from '../../../src/extension/language/fileProblems.ts';
import { JobWorker } from '../../../src/extension/worker/jobWorker.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { readWorkflowPackage } from '../../../src/workflows/package/readPackage.ts';
import { maxYamlProblems } from '../../../src/workflows/read/check.ts';
import { loadWorkflow } from '../../../src/workflows/read/validate.ts';
import { hostileAgents, hostilePackages, hostileWorkflows } from '../../support/hostile.ts';
import { buildParserProgram } from '../../support/parserProgram.ts';

const known = { tools: builtinTools().map(({ definition }) => definition.name), agents: [] };

// Holds foreign-files-parse-in-a-worker.
describe('Parser worker', () => {
  let program: string;
  let parser: JobWorker;
  const folder = mkdtempSync(path.join(tmpdir(), 'parser-'));
  before(async () => {
    program = await buildParserProgram();
    parser = new JobWorker(program, { ms: 20_000 });
  });
  after(async () => {
    await parser.dispose();
    rmSync(folder, { recursive: true });
  });

  it('a workflow is read as it is in the host', async () => {
    const templates = path.resolve(import.meta.dirname, '../../../src/workflows/templates');
    for (const name of readdirSync(templates)) {
      const text = readFileSync(path.join(templates, name), 'utf8');
      assert.deepEqual(await parser.run('workflow', text, known), loadWorkflow(text, known), name);
    }
  });

  it('an agent, a page, a model file, suggestions and help are, too', async () => {
    assert.equal((await parser.run('agent', 'instructions: You plan.\n', known)).value?.instructions, 'You plan.');
    const bytes = Buffer.from('<title>A page</title><p>Some <b>text</b>');
    assert.deepEqual(await parser.run('page', { contentType: 'text/html', bytes }), {
      title: 'A page',
      text: 'Some text',
    });
    const none = await parser.run('model', path.join(folder, 'none.gguf'));
    assert.deepEqual(none, { trouble: { english: 'It cannot be read ({0}).', values: ['ENOENT'] } });
    const text = 'nodes:\n  - name: a\n    goto: \n';
    const { all } = await parser.run('suggestions', text, text.length - 1, { kind: 'workflow', agents: [] });
    assert.deepEqual(
      all.map(({ label }) => label),
      ['a', '__end__'],
    );
    assert.match((await parser.run('hover', text, 25, { kind: 'workflow', agents: [] })) ?? '', /^Next node, /);
  });

  for (const [name, text] of Object.entries(hostileWorkflows))
    it(`the workflow ${name} has its problem, and not more than can be read`, async () => {
      const { problems, warnings, value } = await parser.run('workflow', text, known).catch((error: Error) => {
        assert.match(error.message, /^It took too long to read: more than 20 s\.$/);
        return { problems: [{ message: error.message }], warnings: [], value: undefined };
      });
      assert.equal(value, undefined);
      assert.ok(problems.length > 0 && problems.length <= maxYamlProblems && warnings.length <= maxYamlProblems);
      for (const { message } of problems) assert.ok(message.length <= 600, message.slice(0, 100));
    });

  for (const [name, text] of Object.entries(hostileAgents))
    it(`the agent ${name} has its problem`, async () => {
      const { problems } = await parser.run('agent', text, known);
      assert.ok(problems.length > 0 && problems.length <= maxYamlProblems);
    });

  for (const [name, files] of Object.entries(hostilePackages))
    it(`the package ${name} says which of its files is wrong`, async () => {
      const place = path.join(folder, name);
      mkdirSync(place);
      for (const [file, text] of Object.entries(files)) writeFileSync(path.join(place, file), text);
      const read = await parser.run('package', place, path.join(folder, 'storage'));
      assert.ok('problem' in read && read.problem.length < 1000);
      assert.equal(read.file, Object.keys(files).at(-1));
      assert.deepEqual(read, await readWorkflowPackage(place, path.join(folder, 'storage')));
    });

  it('the last of many problems says how many more there are', async () => {
    const { problems } = await parser.run('workflow', hostileWorkflows['thousand-problems']!, known);
    assert.equal(problems.length, maxYamlProblems);
    assert.equal(problems.at(-1)?.message, 'There are 11937 more in this file. Fix the ones above first.');
    assert.equal(problems[0]?.message, 'There is no key `unknown_0` here.');
    assert.equal(problems[9]?.line, 11);
  });

  it('what takes too long is ended and said, and what waits behind it is read', async () => {
    const quick = new JobWorker(program, { ms: 100 });
    try {
      const page = Buffer.from(`<p>${'a '.repeat(10)}`);
      const slow = quick.run('workflow', `nodes: [${','.repeat(260_000)}]`, known);
      const next = readAtLast(() => quick.run('page', { contentType: 'text/html', bytes: page }));
      await assert.rejects(slow, { name: 'JobWorkerError', message: 'It took too long to read: more than 0.1 s.' });
      assert.equal((await next).text, 'a '.repeat(10).trim());
    } finally {
      await quick.dispose();
    }
  });

  it('what takes too much memory is ended and said, and the next is read', async () => {
    const small = new JobWorker(program, { ms: 60_000, megabytes: 12 });
    try {
      const page = Buffer.from('<p>x<div>'.repeat(200_000));
      await assert.rejects(small.run('page', { contentType: 'text/html', bytes: page }), {
        message: 'Reading it needs too much memory: more than 12 MB.',
      });
      assert.equal((await small.run('page', { contentType: 'text/plain', bytes: Buffer.from('x') })).text, 'x');
    } finally {
      await small.dispose();
    }
  });

  it('a program that is not there any more is a sentence', () =>
    assert.rejects(
      new JobWorker(path.join(folder, 'none.cjs')).run('page', { contentType: '', bytes: Buffer.from('') }),
      {
        name: 'JobWorkerError',
        message: /could not be loaded \((ERR_)?MODULE_NOT_FOUND\)\. Reload the window/,
      },
    ));

  it('a window that is closed waits for nothing', async () => {
    const closed = new JobWorker(program);
    const slow = closed.run('workflow', hostileWorkflows.commas!, known);
    const next = closed.run('page', { contentType: 'text/plain', bytes: Buffer.from('x') });
    await closed.dispose();
    await assert.rejects(slow, { name: 'JobWorkerError' });
    await assert.rejects(next, { message: 'It is no longer read: the window is closing.' });
  });
});

describe('things that are looked at one by one', () => {
  it('each once, in their order, what somebody looks at first', async () => {
    const seen: string[] = [];
    let [at, most] = [0, 0];
    const waiting = new SerialQueue<string>(async (item) => {
      at++;
      most = Math.max(most, at);
      await Promise.resolve();
      seen.push(item);
      at--;
    });
    for (const item of ['a', 'b', 'c', 'b', 'd']) waiting.add(item, item);
    waiting.add('d', 'd', true);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([seen, most], [['a', 'd', 'b', 'c'], 1]);
  });

  const files: [named: string | undefined, shown: string | undefined][] = [
    ['agents.json', 'agents.json'],
    ['flows/a b.json', 'flows/a b.json'],
    ['../../other.json', undefined],
    ['/etc/passwd', undefined],
    ['a/../b.json', undefined],
    ['a\\b.json', undefined],
    [`${'x'.repeat(400)}.json`, undefined],
    [undefined, undefined],
  ];
  for (const [named, shown] of files)
    it(`a problem with ${named?.slice(0, 20)} is shown at ${shown ?? 'the manifest'}`, () =>
      assert.equal(packageProblemFile(named), shown));
});

/** A busy machine may take too long for anything at times. */
async function readAtLast<T>(read: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('It took too long'))) throw error;
    }
  }
}
