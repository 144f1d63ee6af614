import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runModelCheckTasks } from '../../src/check/checkModel.ts';
import { createModelCheckClient } from '../../src/check/namedModel.ts';
import { checkResultSchema, passedTaskCount } from '../../src/check/taskResult.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

const root = path.resolve(import.meta.dirname, '../..');

async function run(args: string[], env: NodeJS.ProcessEnv = {}) {
  const options = { cwd: root, env: { ...process.env, ...env } };
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/check/cli.ts', ...args], options);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, output };
}

describe('npm run check-model', function () {
  this.timeout(120_000); // a program of its own, on a machine that may be busy

  const folder = mkdtempSync(path.join(tmpdir(), 'check-model-'));
  let provider: Provider;
  before(async () => {
    provider = await startProvider(() => reply.text('Es gibt im Hafen 42 Liegeplätze; the Ida lies at 5317.'));
  });
  after(async () => {
    await provider.close();
    rmSync(folder, { recursive: true });
  });

  it('checks a model behind an address without an editor, and writes what came of it', async () => {
    const [json, markdown] = ['json', 'md'].map((ending) => path.join(folder, `result.${ending}`));
    const id = 'openai-compatible/scripted';
    const files = ['--json', json!, '--markdown', markdown!];
    const { code, output } = await run(
      [id, '--address', provider.url, '--key', 'CHECK_KEY', '--window', '32768', ...files],
      { CHECK_KEY: 'sk-canary-of-the-check' },
    );
    assert.equal(code, 0, output);
    assert.match(
      output,
      /^Checking openai-compatible\/scripted\nAbout .+, if it reads .+ a second, which has not been measured yet/,
    );
    assert.match(output, /^✗ A plain call: It called no tool that reads the file\.$/m);
    assert.match(output, /^✓ A value from far back$/m);
    assert.match(output, /^2 of 15 tasks/m);
    const { checks } = JSON.parse(readFileSync(json!, 'utf8'));
    const result = checkResultSchema.parse(checks[0]);
    assert.deepEqual([result.model, result.window, passedTaskCount(result), checks.length], [id, 32_768, 2, 1]);
    assert.match(readFileSync(markdown!, 'utf8'), /^\| A value from far back \| ✓ \|$/m);
    assert.equal(provider.requests[0]!.headers.authorization, 'Bearer sk-canary-of-the-check');
    for (const text of [output, readFileSync(json!, 'utf8')]) assert.ok(!text.includes('canary'));
  });

  const mistakes: [what: string, named: Parameters<typeof createModelCheckClient>[0], says: RegExp][] = [
    ['no model', { id: '' }, /^Which model\? npm run check-model -- provider\/name$/],
    ['a provider that nobody knows', { id: 'nobody/one' }, /^There is no provider nobody\. There are: local, openai, /],
    ['a key that is not there', { id: 'openai/one', key: 'NO_SUCH_KEY' }, /^The environment has no NO_SUCH_KEY\.$/],
    ['a window of no size', { id: 'openai/one', window: 'wide' }, /^--window is a number of tokens/],
    ['no address', { id: 'openai-compatible/one' }, /address/],
  ];
  for (const [what, named, says] of mistakes)
    it(`says what is wrong with ${what}`, () =>
      assert.throws(
        () => createModelCheckClient(named, folder, {}),
        (error: Error) => says.test(error.message),
      ));

  it('says of a model file that is not there that it was not checked, and why', async () => {
    const { model, dispose } = createModelCheckClient({ id: 'local/nowhere.gguf' }, folder, {});
    const result = await runModelCheckTasks({ model, towpath: '1', signal: new AbortController().signal });
    await dispose();
    assert.deepEqual(result.tasks, []);
    assert.match(result.ended!, /nowhere\.gguf/);
  });
});
