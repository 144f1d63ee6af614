import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createLocalModelClient,
  type LocalModelClient,
  type LocalModelClientOptions,
} from '../../../src/llm/local/host/client.ts';
import { toEnglishText } from '../../../src/protocol/text/l10n.ts';
import { said, testScript } from '../../support/scripted.ts';
import { localModel, rejection, stopAt, Talk, tools } from './setup.ts';

// Real processes that speak as the model's does and go wrong in one way each.

let folder: string;
let client: LocalModelClient;
const lines: string[] = [];
function freshFolder(): void {
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'towpath-trouble-'));
    lines.length = 0;
  });
  afterEach(async () => {
    await client.dispose();
    rmSync(folder, { recursive: true });
  });
}

const modelPath = () => path.join(folder, 'model.gguf');

/**
 * A client of a process of this code. `say` sends a message; `on.<type>` is called for each that comes, but for
 * pings, which are answered; `nth` is how often such a process was started by then.
 */
function begin(code: string, options: Partial<LocalModelClientOptions> = {}): void {
  const workerPath = path.join(folder, 'worker.mjs');
  writeFileSync(
    workerPath,
    `import { appendFileSync, readFileSync } from 'node:fs';
    const say = (message) => process.send(message);
    appendFileSync(${JSON.stringify(path.join(folder, 'starts'))}, '.');
    const nth = readFileSync(${JSON.stringify(path.join(folder, 'starts'))}, 'utf8').length;
    const loaded = (gpu = false) => say({ type: 'loaded', contextSize: 8192, device: { gpu, gpuLayers: gpu ? 9 : 0, layers: 9 } });
    const answer = (id) => {
      say({ id, type: 'text', text: 'Hello' });
      say({ id, type: 'done', finish: 'stop', spoken: ['Hello'], tokens: { prompt: 1, cached: 0, completion: 1, thinking: 0 } });
    };
    let beat = () => {};
    const on = {};
    process.on('disconnect', () => process.exit());
    process.on('message', (message) => {
      if (message.type === 'ping') { beat(); say({ type: 'pong', work: 7 }); }
      else on[message.type]?.(message);
    });
    ${code}`,
  );
  writeFileSync(modelPath(), `GGUF${'\0'.repeat(64)}`);
  const onLog = (line: string) => lines.push(line);
  client = createLocalModelClient({
    workerPath,
    modelPath: modelPath(),
    beatMs: 100,
    stuckAfter: 5,
    onLog,
    ...options,
  });
}

const answers = 'on.generate = ({ id }) => answer(id);';
const warnings = (talk: Talk) => talk.chunks.flatMap(({ warning }) => (warning ? [toEnglishText(warning)] : []));

async function fails(expected: { code: string; message: string | RegExp }): Promise<void> {
  const { code, message } = await rejection(new Talk(client).ask('hi'));
  assert.equal(code, expected.code);
  if (typeof expected.message === 'string') assert.equal(message, expected.message);
  else assert.match(message, expected.message);
  assert.equal(client.pid(), undefined);
}

async function works(): Promise<Talk> {
  const talk = new Talk(client);
  await talk.ask('hi');
  assert.equal(talk.last.content, 'Hello');
  return talk;
}

describe('a local model that hangs while it loads', () => {
  freshFolder();

  it('and answers: it is ended, said, and the next message tries again', async () => {
    begin(`on.load = () => { if (nth > 1) loaded(); }; ${answers}`);
    const stuck = `Loading ${modelPath()} made no progress for 500 ms and was stopped.`;
    await fails({
      code: 'LLM_TIMEOUT',
      message: `${stuck} Check that its disk responds, then send a message to try again.`,
    });
    await works();
  });

  it('in the middle: the same', async () => {
    begin(`on.load = () => { say({ type: 'loading', fraction: 0.4 }); if (nth > 1) loaded(); }; ${answers}`);
    await fails({ code: 'LLM_TIMEOUT', message: /^Loading .* made no progress for 500 ms and was stopped\./ });
    await works();
  });

  it('and does not answer either: the same, in other words', async () => {
    begin(`on.load = () => { if (nth === 1) for (;;); else loaded(); }; ${answers}`);
    await fails({
      code: 'LLM_TIMEOUT',
      message: /^The local model did not respond for 3 s and was stopped\./,
    });
    await works();
  });

  it('is not one that takes long and comes on', async () => {
    begin(`
      let beats = 0;
      beat = () => { beats++; say({ type: 'loading', fraction: beats / 20 }); if (beats === 20) loaded(); };
      ${answers}`);
    await works();
  });
});

describe('a local model that does not heed a stop', () => {
  freshFolder();

  const deafOnce = `
    on.load = () => loaded();
    on.generate = ({ id }) => { if (nth > 1) answer(id); else say({ id, type: 'text', text: 'I begin' }); };`;

  it('is left at once; the next message waits a while, says why it could not, and then it works', async () => {
    begin(deafOnce, { stuckAfter: 1000 });
    await stopAt(new Talk(client), 'hi', (chunk) => chunk.content !== undefined);
    await fails({
      code: 'LLM_TIMEOUT',
      message:
        'The local model did not stop its last answer within 3 s and was ended. Send the message again to start it again.',
    });
    await works();
  });

  it('is replaced when the next message comes much later, which then just works', async () => {
    begin(deafOnce, { stuckAfter: 1000 });
    await stopAt(new Talk(client), 'hi', (chunk) => chunk.content !== undefined);
    const pid = client.pid();
    await sleep(3100); // its patience is 30 beats
    await works();
    assert.notEqual(client.pid(), pid);
  });

  it('is kept when it did, however late', async () => {
    begin(`
      on.load = () => loaded();
      on.generate = ({ id }) => { if (id > 1) answer(id); else say({ id, type: 'text', text: 'I begin' }); };
      on.abort = ({ id }) => setTimeout(() => say({ id, type: 'aborted' }), 100);`);
    await stopAt(new Talk(client), 'hi', (chunk) => chunk.content !== undefined);
    const pid = client.pid();
    await works();
    await sleep(3100);
    await works();
    assert.equal(client.pid(), pid);
  });
});

describe('a GPU that a local model cannot be loaded on', () => {
  freshFolder();

  const said = 'The model could not be loaded on the GPU (cuda), so it runs on the CPU, which is slower. See the log.';
  const cpu = { gpu: false, gpuLayers: 0, layers: 9 };
  const table: [what: string, onGpu: string, log: RegExp][] = [
    [
      'too small',
      "say({ type: 'load-failed', error: { code: 'UNKNOWN', message: 'Not enough VRAM.' } })",
      /^cuda: Not enough VRAM\.$/,
    ],
    ['crashing', "process.kill(process.pid, 'SIGSEGV')", /^cuda: The local engine crashed while loading/],
    ['hanging', "say({ type: 'loading', fraction: 0.1 })", /^cuda: Loading .* made no progress/],
  ];
  for (const [what, onGpu, log] of table)
    it(`${what}: it is loaded on the CPU, said once, and stays there`, async () => {
      begin(`
        on.load = ({ options }) => {
          say({ type: 'engine', gpu: options.gpu === 'auto' ? 'cuda' : false });
          if (options.gpu === 'auto') ${onGpu}; else loaded();
        };
        ${answers}`);
      const first = await works();
      assert.deepEqual([warnings(first), client.device()], [[said], cpu]);
      assert.ok(
        lines.some((line) => log.test(line)),
        lines.join('\n'),
      );
      await client.unload();
      assert.deepEqual([warnings(await works()), client.device()], [[], cpu]);
    });

  it('because the file is damaged: told as that, and the GPU is not given up', async () => {
    begin(`
      on.load = ({ options }) => {
        say({ type: 'engine', gpu: options.gpu === 'auto' ? 'cuda' : false });
        if (nth > 2) loaded('cuda');
        else say({ type: 'load-failed', error: { code: 'UNKNOWN', message: 'Damaged.' } });
      };
      ${answers}`);
    await fails({ code: 'UNKNOWN', message: 'Damaged.' });
    const talk = await works();
    assert.deepEqual([warnings(talk), client.device()], [[], { gpu: 'cuda', gpuLayers: 9, layers: 9 }]);
  });

  it('when Stop comes first: nothing is tried again', async () => {
    begin(`
      on.load = ({ options }) => {
        say({ type: 'engine', gpu: 'cuda' });
        say({ type: 'loading', fraction: 0.5 });
      };`);
    await stopAt(new Talk(client), 'hi', (chunk) => chunk.progress?.fraction === 0.5);
    assert.equal(client.pid(), undefined);
  });
});

describe('a GPU that is not there', () => {
  freshFolder();

  it('is no trouble: the model is loaded on the CPU, and that can be asked', async () => {
    const { options, close } = await localModel(testScript(tools));
    client = createLocalModelClient({ ...options, gpu: 'auto', onLog: (line) => lines.push(line) });
    try {
      const talk = new Talk(client);
      await talk.ask('hi');
      const place = client.device();
      assert.equal(talk.last.content, said.hello);
      assert.deepEqual(warnings(talk), []);
      if (process.platform === 'linux')
        assert.deepEqual({ ...place, layers: 0 }, { gpu: false, gpuLayers: 0, layers: 0 });
      assert.ok(place!.layers > 0);
    } finally {
      await client.dispose();
      await close();
    }
  });
});
