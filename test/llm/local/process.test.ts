import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  createLocalModelClient,
  type LocalModelClient,
  type LocalModelClientOptions,
} from '../../../src/llm/local/host/client.ts';
import { createHeartbeat } from '../../../src/llm/local/host/heartbeat.ts';
import { createLoadedModelScheduler } from '../../../src/llm/local/host/modelMemory.ts';
import { modelProcessExitError } from '../../../src/llm/local/host/processExit.ts';
import { inferenceThreadCount } from '../../../src/llm/local/host/threadCount.ts';
import { eventually } from '../../support/eventually.ts';
import { said, testScript } from '../../support/scripted.ts';
import { tries } from '../../support/tries.ts';
import { localModel, rejection, Talk, tools } from './setup.ts';

describe("a local model's process", () => {
  let options: LocalModelClientOptions;
  let close: () => Promise<void>;
  let client: LocalModelClient;
  const made: LocalModelClient[] = [];
  before(async () => {
    ({ options, close } = await localModel(testScript(tools), 'qwen'));
  });
  after(() => close());
  afterEach(async () => {
    for (const one of made.splice(0)) await one.dispose();
  });
  const begin = (more: Partial<LocalModelClientOptions> = {}): LocalModelClient => {
    client = createLocalModelClient({ ...options, ...more });
    made.push(client);
    return client;
  };
  const isGone = (pid: number) => assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });

  /** Does something to the process at the first word of an endless answer; the error that comes of it. */
  async function whileWriting(act: () => void) {
    let done = false;
    const request = { ...new Talk(client).next(), messages: [{ role: 'user' as const, content: '[[long]]' }] };
    return rejection(
      (async () => {
        for await (const chunk of client.chatStream(request)) {
          if (!chunk.content || done) continue;
          done = true;
          act();
        }
      })(),
    );
  }

  const crashes: [NodeJS.Signals, RegExp][] = [
    ['SIGKILL', /^The local model exited \(signal SIGKILL\), probably because memory ran out\./],
    [
      'SIGSEGV',
      /^The local engine crashed \(signal SIGSEGV\)\. Nothing else was affected\. Send a message to start it/,
    ],
    ['SIGABRT', /^The local engine crashed \(signal SIGABRT\)/],
    ['SIGTERM', /^The local model exited \(signal SIGTERM\)\. Send a message to start it again\./],
  ];
  for (const [signal, expected] of crashes.slice(0, tries(2, 4)))
    it(`T27 ended by ${signal} while it writes: says so, and the conversation goes on`, async () => {
      begin();
      const error = await whileWriting(() => process.kill(client.pid()!, signal));
      assert.equal(error.code, 'LLM_INCOMPLETE');
      assert.match(error.message, expected);
      assert.equal(client.pid(), undefined);
      const talk = new Talk(client);
      await talk.ask('hi');
      assert.equal(talk.last.content, said.hello);
    });

  it('that does not react any more is ended, and the conversation goes on', async () => {
    begin({ beatMs: 400 }); // a busy machine may take seconds until a new process answers
    let pid = 0;
    const error = await whileWriting(() => {
      pid = client.pid()!;
      process.kill(pid, 'SIGSTOP');
    });
    assert.deepEqual(
      { code: error.code, message: error.message },
      {
        code: 'LLM_TIMEOUT',
        message: 'The local model did not respond for 12 s and was stopped. Send a message to start it again.',
      },
    );
    await eventually('it is gone', () => {
      try {
        return !process.kill(pid, 0);
      } catch {
        return true;
      }
    });
    const talk = new Talk(client);
    await talk.ask('hi');
    assert.equal(talk.last.content, said.hello);
  });

  it('that answers but comes no further is ended, and says so', async () => {
    const worker = path.join(path.dirname(options.modelPath), 'stuck.mjs');
    writeFileSync(
      worker,
      `process.on('message', ({ type }) => {
        if (type === 'load') process.send({ type: 'loaded', contextSize: 8192 });
        if (type === 'ping') process.send({ type: 'pong', work: 7 });
      });`,
    );
    begin({ workerPath: worker, beatMs: 100, stuckAfter: 5 });
    const error = await rejection(new Talk(client).ask('hi'));
    assert.deepEqual(
      { code: error.code, message: error.message },
      {
        code: 'LLM_TIMEOUT',
        message: 'The local model made no progress for 500 ms and was stopped. Send a message to start it again.',
      },
    );
    assert.equal(client.pid(), undefined);
  });

  it('crashes while it loads: says which file', async () => {
    begin();
    const asked = rejection(new Talk(client).ask('hi'));
    await eventually('it is started', () => client.pid() !== undefined);
    process.kill(client.pid()!, 'SIGSEGV');
    assert.equal(
      (await asked).message,
      `The local engine crashed while loading ${options.modelPath} (signal SIGSEGV). The file may be damaged or of an unsupported type. Download it again or select another .gguf file.`,
    );
  });

  it('lets the editor go first, with every thread that it has', async function () {
    if (process.platform !== 'linux') return this.skip(); // elsewhere a process has one value
    begin({ threads: 2 });
    await new Talk(client).ask('hi');
    const threads = readdirSync(`/proc/${client.pid()}/task`);
    const nice = threads.map((id) => {
      const stat = readFileSync(`/proc/${client.pid()}/task/${id}/stat`, 'latin1');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
    });
    assert.ok(threads.length > 4, `${threads.length} threads`);
    assert.ok(Math.min(...nice) >= 5, String(nice));
  });

  it('is unloaded on request, but not while it is at work', async () => {
    begin();
    const talk = new Talk(client);
    await talk.ask('hi');
    const pid = client.pid()!;
    const stop = new AbortController();
    const writing = new Talk(client).ask('[[long]]', stop.signal).catch(() => {});
    assert.equal(await client.unload(), false);
    stop.abort();
    await writing;
    assert.equal(client.pid(), pid);
    assert.equal(await client.unload(), true);
    isGone(pid);
    assert.equal(await client.unload(), true);
    const { contextWindow } = (await client.listModels!())[0]!;
    assert.equal(contextWindow, 8192, 'what is known of it stays known');
    await talk.ask('hi');
    assert.equal(talk.last.usage!.cachedTokens, 0, 'and the conversation is read again');
  });

  it('is unloaded when nobody needed it for a while', async () => {
    begin({ idleUnloadMs: () => 50 });
    const talk = new Talk(client);
    await talk.ask('hi');
    await eventually('it is gone', () => client.pid() === undefined);
    await talk.ask('hi');
    assert.equal(talk.last.content, said.hello);
  });

  it('is not unloaded while it is at work, however long that takes', async () => {
    begin({ idleUnloadMs: () => 1 });
    const talk = new Talk(client, { maxTokens: 300 });
    await talk.ask('[[long]]');
    assert.equal(talk.last.finishReason, 'length');
  });

  it('makes room for another model when its answer is done, and comes back for its run', async () => {
    const room = createLoadedModelScheduler();
    const one = begin({ modelMemory: room });
    const two = begin({ modelMemory: room });
    const first = new Talk(one, { maxTokens: 200 });
    const second = new Talk(two);
    const writing = first.ask('[[long]]');
    const asked = second.ask('hi');
    await writing;
    const pid = one.pid();
    await asked;
    assert.equal(first.last.finishReason, 'length', 'it was not cut off');
    assert.equal(second.chunks[0]?.progress?.text, 'Waiting for the other local model to finish its answer');
    assert.equal(second.last.content, said.hello);
    assert.equal(one.pid(), undefined);
    if (pid !== undefined) isGone(pid);
    await new Talk(one).ask('hi');
    assert.equal(two.pid(), undefined, 'only one at a time');
  });

  it('can be waited for, and stopped waiting for', async () => {
    const room = createLoadedModelScheduler();
    const one = begin({ modelMemory: room });
    const two = begin({ modelMemory: room });
    const stops = [new AbortController(), new AbortController()];
    const writing = new Talk(one).ask('[[long]]', stops[0]!.signal).catch(() => {});
    await eventually('the first is at work', () => one.pid() !== undefined);
    const waiting = new Talk(two).ask('hi', stops[1]!.signal);
    stops[1]!.abort(new Error('never mind'));
    await assert.rejects(waiting, { message: 'never mind' });
    assert.equal(two.pid(), undefined);
    stops[0]!.abort();
    await writing;
  });

  it('closed: it is gone, and says so', async () => {
    begin({ label: 'Small' });
    await new Talk(client).ask('hi');
    const pid = client.pid()!;
    await client.dispose();
    isGone(pid);
    await assert.rejects(new Talk(client).ask('hi'), {
      message: 'The local model Small has been closed. Pick a model again.',
    });
  });

  it('cannot be started: says so', async () => {
    const worker = path.join(path.dirname(options.modelPath), 'broken.mjs');
    writeFileSync(
      worker,
      'process.stderr.write("terminate: std::bad_alloc\\n"); process.exitCode = 3; process.disconnect();',
    );
    begin({ workerPath: worker });
    const error = await rejection(new Talk(client).ask('hi'));
    assert.match(error.message, /model exited \(code 3\) while loading .*, probably because memory ran out/);
    assert.deepEqual(error.details, { how: 'code 3', lastLines: ['terminate: std::bad_alloc'] });
  });
});

describe('how a process ended', () => {
  const table: [Parameters<typeof modelProcessExitError>[0], RegExp][] = [
    [
      { code: null, signal: 'SIGILL', lastLines: [] },
      /instructions that this processor does not have \(signal SIGILL\)/,
    ],
    [{ code: 0xc000001d, signal: null, lastLines: [] }, /instructions that this processor does not have/],
    [{ code: 0xc0000005, signal: null, lastLines: [] }, /^The local engine crashed \(code 3221225477\)/],
    [{ code: null, signal: 'SIGABRT', lastLines: ['FATAL ERROR: JavaScript heap out of memory'] }, /memory ran out/],
    [{ code: 1, signal: null, lastLines: ['what'] }, /^The local model exited \(code 1\)\. Send a message/],
  ];
  for (const [ending, expected] of table)
    it(`${ending.signal ?? ending.code} ${ending.lastLines}`.trim(), () =>
      assert.match(modelProcessExitError(ending).message, expected),
    );
});

describe('the threads of a model', () => {
  const table: [cores: number, load: number, threads: number][] = [
    [8, 0, 7],
    [8, 1.4, 7],
    [8, 3.2, 5],
    [4, 16, 1],
    [1, 0, 1],
  ];
  for (const [cores, load, threads] of table)
    it(`${cores} cores, ${load} of them busy: ${threads}`, () =>
      assert.equal(inferenceThreadCount(cores, load), threads));
});

describe('the pulse of a process', () => {
  it('is silent once, after so many beats without a sign', async () => {
    const told: string[] = [];
    const pulse = createHeartbeat({
      everyMs: 1,
      beats: 3,
      ask: () => told.push('?'),
      silent: () => told.push('silent'),
    });
    pulse.feel();
    await eventually('it is told', () => told.includes('silent'));
    assert.deepEqual(told, ['?', '?', '?', 'silent']);
  });

  it('goes on as long as there are signs', async () => {
    let asked = 0;
    const pulse = createHeartbeat({
      everyMs: 1,
      beats: 2,
      ask: () => {
        asked++;
        pulse.received();
      },
      silent: () => assert.fail('it was not silent'),
    });
    pulse.feel();
    await eventually('it was asked often', () => asked > 20);
    pulse.rest();
  });
});
