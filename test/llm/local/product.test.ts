import assert from 'node:assert/strict';
import path from 'node:path';
import {
  createLocalModelClient,
  type LocalModelClient,
  type LocalModelClientOptions,
} from '../../../src/llm/local/host/client.ts';
import type { ApprovalPolicy } from '../../../src/protocol/content/policy.ts';
import type { RunEvent } from '../../../src/protocol/run/events.ts';
import { pendingCalls } from '../../../src/protocol/run/pending.ts';
import { readJournal } from '../../../src/runs/readJournal.ts';
import { eventually } from '../../support/eventually.ts';
import { badArguments, said, testScript } from '../../support/scripted.ts';
import { transcript } from '../../support/transcript.ts';
import { tries } from '../../support/tries.ts';
import { localModel, tools } from './setup.ts';
import { type Answer, Whole } from './whole.ts';

// biome-ignore lint/suspicious/noTemplateCurlyInString: text of the sample file
const greet = 'export function greet(name) {\n  return `Hello, ${name}!`;\n}\n';
const files = { 'README.md': '# Sample\n', 'src/greet.js': greet, '.env': 'COLOR=blue\n' };

/** Calls by the names people read, results by how they ended. */
function outline(text: string): string {
  return text
    .replace(/(→ \S+) .*?"path":"([^"]*)".*/g, '$1 $2')
    .replace(/^tool( +)\{"ok":true.*$/gm, 'tool$1ok')
    .replace(/^tool( +)\{"ok":false,"error":\{"code":"(\w+)".*$/gm, 'tool$1$2');
}

describe('a local model in the whole product', () => {
  let client: LocalModelClient;
  let options: LocalModelClientOptions;
  let close: () => Promise<void>;
  let whole: Whole | undefined;
  const counted: string[] = [];
  before(async () => {
    ({ client, options, close } = await localModel(testScript(tools)));
  });
  after(async () => {
    await close();
    console.log(`\n    tokens evaluated of each turn's prompt\n${counted.map((line) => `      ${line}`).join('\n')}\n`);
  });
  afterEach(async () => {
    await whole?.end();
    whole = undefined;
  });
  const begin = async (answers: Answer[] = []) => {
    whole = await Whole.begin(client, files, answers);
    return whole;
  };
  const count = (what: string, run: Whole) => {
    const turns = run.evaluated.map(({ evaluated, prompt }) => `${evaluated} of ${prompt}`);
    counted.push(`${what.padEnd(52)} ${turns.join(', ')}`);
  };

  const rows: [
    what: string,
    text: string,
    answers: Answer[],
    questions: string[],
    expected: string,
    policy?: Partial<ApprovalPolicy>,
  ][] = [
    [
      'a gated call after a word',
      '[[shell]]',
      ['allow'],
      ['Run a command'],
      `user       [[shell]]
assistant  ${said.shell}
assistant  → shell.run {"command":"node --version"}
tool       ok
assistant  ${said.ran}
WaitingUser`,
    ],
    [
      'a gated call after a word, denied',
      '[[shell]]',
      ['deny'],
      ['Run a command'],
      `user       [[shell]]
assistant  ${said.shell}
assistant  → shell.run {"command":"node --version"}
tool       TOOL_DENIED
assistant  ${said.denied}
WaitingUser`,
    ],
    [
      'one gated call after the other, in two replies',
      '[[edit]]',
      ['allow', 'allow'],
      ['Read src/greet.js', 'Edit src/greet.js'],
      `user       [[edit]]
assistant  ${said.read}
assistant  → fs.read src/greet.js
tool       ok
assistant  ${said.edit}
assistant  → fs.edit src/greet.js
tool       ok
assistant  ${said.edited}
WaitingUser`,
      { preset: 'ask-everything' },
    ],
    [
      'the first of two gated, the second free',
      '[[parallel]]',
      ['allow'],
      ['Read README.md'],
      `user       [[parallel]]
assistant  ${said.parallel}
assistant  → fs.read README.md
assistant  → fs.write notes/parallel.md
tool       ok
tool       ok
assistant  ${said.both}
WaitingUser`,
      { preset: 'edits-free', rules: [{ effect: 'ask', tool: 'fs.read', scope: 'user' }] },
    ],
    [
      'a free call, then a gated one',
      '[[edit]]',
      ['allow'],
      ['Edit src/greet.js'],
      `user       [[edit]]
assistant  ${said.read}
assistant  → fs.read src/greet.js
tool       ok
assistant  ${said.edit}
assistant  → fs.edit src/greet.js
tool       ok
assistant  ${said.edited}
WaitingUser`,
    ],
    [
      'a gated call without a word before it',
      '[[write]]',
      ['allow'],
      ['Create notes/today.md'],
      `user       [[write]]
assistant  → fs.write notes/today.md
tool       ok
assistant  ${said.written}
WaitingUser`,
    ],
    [
      'a gated call, denied',
      '[[write]]',
      ['deny'],
      ['Create notes/today.md'],
      `user       [[write]]
assistant  → fs.write notes/today.md
tool       TOOL_DENIED
assistant  ${said.denied}
WaitingUser`,
    ],
    [
      'free and gated in one reply',
      '[[parallel]]',
      ['allow'],
      ['Create notes/parallel.md'],
      `user       [[parallel]]
assistant  ${said.parallel}
assistant  → fs.read README.md
assistant  → fs.write notes/parallel.md
tool       ok
tool       ok
assistant  ${said.both}
WaitingUser`,
    ],
    [
      'free and gated in one reply, denied',
      '[[parallel]]',
      ['deny'],
      ['Create notes/parallel.md'],
      `user       [[parallel]]
assistant  ${said.parallel}
assistant  → fs.read README.md
assistant  → fs.write notes/parallel.md
tool       ok
tool       TOOL_DENIED
assistant  ${said.denied}
WaitingUser`,
    ],
    [
      'gated and then free: the read sees what was written',
      '[[order]]',
      ['allow'],
      ['Create notes/first.md'],
      `user       [[order]]
assistant  → fs.write notes/first.md
assistant  → fs.read notes/first.md
tool       ok
tool       ok
assistant  ${said.inOrder}
WaitingUser`,
    ],
    [
      'two gated calls, one question after the other',
      '[[twice]]',
      ['allow', 'allow'],
      ['Create notes/one.md', 'Create notes/two.md'],
      `user       [[twice]]
assistant  ${said.twice}
assistant  → fs.write notes/one.md
assistant  → fs.write notes/two.md
tool       ok
tool       ok
assistant  ${said.bothWritten}
WaitingUser`,
    ],
    [
      'two gated calls, the second denied',
      '[[twice]]',
      ['allow', 'deny'],
      ['Create notes/one.md', 'Create notes/two.md'],
      `user       [[twice]]
assistant  ${said.twice}
assistant  → fs.write notes/one.md
assistant  → fs.write notes/two.md
tool       ok
tool       TOOL_DENIED
assistant  ${said.denied}
WaitingUser`,
    ],
    [
      'a gated call after thinking',
      '[[thinkcall]]',
      ['allow'],
      ['Read .env'],
      `user       [[thinkcall]]
assistant  (thinks ${said.needed})
assistant  → fs.read .env
tool       ok
assistant  ${said.opened}
WaitingUser`,
    ],
    [
      'arguments that are no value of the schema',
      '[[bad]]',
      [],
      [],
      `user       [[bad]]
assistant  ${said.read}
assistant  → fs.read ${badArguments}
tool       TOOL_ARGS_INVALID_JSON
assistant  ${said.failed}
WaitingUser`,
    ],
  ];
  for (const [what, text, answers, questions, expected, policy] of rows)
    it(what, async () => {
      const run = await begin(answers);
      run.policy = { ...run.policy, ...policy };
      await run.start(text);
      assert.equal(
        outline(transcript(await run.kept())).replaceAll(/\(thinks\s+(.*?)\s*\)/gs, '(thinks $1)'),
        expected,
      );
      assert.deepEqual(run.questions, questions);
      assert.deepEqual(pendingCalls((await run.kept()).messages), []);
      count(what, run);
      const [first, ...later] = run.evaluated;
      for (const { evaluated } of later) assert.ok(evaluated < first!.prompt / 4, 'only what is new was read');
      await run.continue('hi');
      assert.ok(run.evaluated.at(-1)!.evaluated < first!.prompt / 4, 'nor is it read again for the next message');
    });

  it('nothing runs before the answer, and the model is silent meanwhile', async () => {
    const run = await begin(['wait']);
    const asked = waitFor(run, (event) => event.type === 'question');
    const going = run.start('[[write]]');
    await asked;
    const told = run.events.length;
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(run.events.length, told);
    assert.deepEqual(run.workspace.effects, []);
    await run.engine.stop(run.runId);
    await going;
    assert.deepEqual(run.workspace.effects, [], 'a late yes does nothing');
  });

  it('a reload in mid-question, with a new process: the prompt is read once, then only what is new', async () => {
    const run = await begin(['wait']);
    const asked = waitFor(run, (event) => event.type === 'question');
    void run.start('[[write]]');
    await asked;
    await run.engine.close();
    run.client = createLocalModelClient(options);
    run.build();
    run.events.length = 0;
    try {
      await run.continue('[[twice]]');
      count('after a reload in mid-question', run);
      const [first, second] = run.evaluated;
      assert.equal(first!.evaluated, first!.prompt);
      assert.ok(second!.evaluated < second!.prompt / 4);
      assert.equal(
        outline(transcript(await run.kept())),
        `user       [[write]]
assistant  → fs.write notes/today.md
tool       TOOL_DENIED
user       [[twice]]
assistant  ${said.twice}
assistant  → fs.write notes/one.md
assistant  → fs.write notes/two.md
tool       ok
tool       ok
assistant  ${said.bothWritten}
WaitingUser`,
      );
    } finally {
      await (run.client as LocalModelClient).dispose();
    }
  });

  it('two runs side by side keep what each has read, through their questions', async () => {
    const runs = [await Whole.begin(client, files, ['allow']), await Whole.begin(client, files, ['allow', 'allow'])];
    try {
      await Promise.all([runs[0]!.start('[[edit]]'), runs[1]!.start('[[twice]]')]);
      for (const run of runs) {
        const [first, ...later] = run.evaluated;
        for (const { evaluated } of later) assert.ok(evaluated < first!.prompt / 4);
      }
      assert.equal(runs[0]!.workspace.read('src/greet.js'), greet.replace('!`', '! Welcome aboard.`'));
      assert.equal(runs[1]!.workspace.read('notes/two.md'), 'Two.\n');
    } finally {
      for (const run of runs) await run.end();
    }
  });

  const stops: [what: string, text: string, when: (event: RunEvent, run: Whole) => boolean, expected: RegExp][] = [
    ['before anything', 'hi', (event) => event.type === 'phase', /^user {7}hi\nFailed ENGINE_ABORTED$/],
    [
      'in the prompt',
      'along the canal '.repeat(600),
      (event) => event.type === 'progress' && event.text.startsWith('Reading') && (event.fraction ?? 0) > 0,
      /^user {7}along[^\n]*\nFailed ENGINE_ABORTED$/,
    ],
    [
      'in a thought',
      '[[think]]',
      (event) => event.type === 'chunk' && Boolean(event.thinking?.trim()),
      /^user {7}\[\[think\]\]\nassistant {2}\(thinks .*\) …\nFailed ENGINE_ABORTED$/s,
    ],
    [
      'in the text',
      '[[long]]',
      (event, run) => event.type === 'chunk' && run.events.filter((one) => one.type === 'chunk').length > 30,
      /^user {7}\[\[long\]\]\nassistant {2}tick tock [^\n]* …\nFailed ENGINE_ABORTED$/,
    ],
    [
      'while a call is being written',
      '[[parallel]]',
      (event) => event.type === 'chunk' && event.toolCall !== undefined,
      /^user {7}\[\[parallel\]\]\nassistant {2}Two things at once\.\s* …\nFailed ENGINE_ABORTED$/,
    ],
    [
      'when its only call runs',
      '[[edit]]',
      (event) => event.type === 'tool-start',
      /^user {7}\[\[edit\]\]\nassistant {2}I will read the file first\.[\s…]*\nassistant {2}→ fs\.read src\/greet\.js\ntool {7}\w+\nFailed ENGINE_ABORTED$/,
    ],
    [
      'when the first call of two runs already',
      '[[parallel]]',
      (event) => event.type === 'tool-start',
      /^user {7}\[\[parallel\]\]\nassistant {2}Two things at once\.[\s…]*\n(assistant {2}→ fs\.\w+ \S+\n){1,2}(tool {7}\w+\n){1,2}Failed ENGINE_ABORTED$/, // the rest may have been written by then
    ],
    [
      'in a question',
      '[[write]]',
      (event) => event.type === 'question',
      /^user {7}\[\[write\]\]\nassistant {2}→ fs\.write notes\/today\.md\ntool {7}TOOL_\w+\nFailed ENGINE_ABORTED$/,
    ],
    [
      'when the last call has run',
      '[[order]]',
      (event) => event.type === 'tool-end' && event.name === 'fs.read',
      /→ fs\.read notes\/first\.md\ntool {7}ok\ntool {7}ok\nFailed ENGINE_ABORTED$/,
    ],
  ];
  for (const [place, text, when, expected] of stops)
    it(`Stop ${place}: it ends there, nothing comes after, and the run goes on`, async () => {
      const run = await begin(place === 'in a question' ? ['wait'] : []);
      let stopped: Promise<void> | undefined;
      const reached = waitFor(
        run,
        (event) => when(event, run),
        () => {
          stopped = run.engine.stop(run.runId);
        },
      );
      const result = await run.start(text);
      assert.equal(result.error?.code, 'ENGINE_ABORTED');
      await reached;
      await stopped; // now it is on disk, too
      const told = run.events.length;
      const kept = async () => outline(transcript(await run.kept()));
      await eventually('the end is kept', async () => !(await kept()).endsWith('Running')); // it does not wait for the disk
      assert.match(await kept(), expected);
      const { effects } = run.workspace;
      const done = [...effects];
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.equal(run.events.length, told);
      assert.deepEqual(effects, done);
      run.answers = [];
      await run.continue('[[twice]]');
      assert.match(transcript(await run.kept()), new RegExp(`${said.bothWritten}\nWaitingUser$`));
      count(`Stop ${place}, and on`, run);
    });

  it('Stop while the model loads', async () => {
    const run = await begin();
    run.client = createLocalModelClient(options);
    try {
      const reached = waitFor(
        run,
        (event) => event.type === 'progress' && event.text.startsWith('Loading'),
        () => void run.engine.stop(run.runId),
      );
      assert.equal((await run.start('hi')).error?.code, 'ENGINE_ABORTED');
      await reached;
      await run.continue();
      assert.equal(outline(transcript(await run.kept())), `user       hi\nassistant  ${said.hello}\nWaitingUser`);
    } finally {
      await (run.client as LocalModelClient).dispose();
    }
  });

  const killed = async (signal: NodeJS.Signals) => {
    process.kill(client.pid()!, signal);
    await eventually('the process has ended', () => client.pid() === undefined);
  };
  const kills: [place: string, text: string, when: (event: RunEvent) => boolean][] = [
    [
      'while it reads the prompt',
      'along the canal '.repeat(600),
      (event) => event.type === 'progress' && event.text.startsWith('Reading') && (event.fraction ?? 0) > 0,
    ],
    ['while it writes', '[[long]]', (event) => event.type === 'chunk' && event.content !== undefined],
  ];
  const words: [NodeJS.Signals, RegExp][] = [
    ['SIGKILL', /memory ran out\. Send a message to start it again/],
    [
      'SIGSEGV',
      /^The local engine crashed \(signal SIGSEGV\)\. Nothing else was affected\. Send a message to start it again/,
    ],
  ];
  for (const [place, text, when] of kills)
    for (const [signal, says] of words.slice(0, tries(1, 2)))
      it(`killed ${place} (${signal}): the run says so and goes on`, async () => {
        const run = await begin();
        const reached = waitFor(run, when, () => process.kill(client.pid()!, signal));
        const { error } = await run.start(text);
        await reached;
        assert.equal(error?.code, 'LLM_INCOMPLETE');
        assert.match(error!.message, says);
        await run.continue('hi');
        assert.match(transcript(await run.kept()), new RegExp(`${said.hello}\nWaitingUser$`));
      });

  it('killed in a question: after the answer it is loaded again, and reads the conversation once', async () => {
    let allow: (answer: 'allow') => void = () => {};
    const run = await begin([
      new Promise((resolve) => {
        allow = resolve;
      }),
    ]);
    const asked = waitFor(run, (event) => event.type === 'question');
    const going = run.start('[[write]]');
    await asked;
    await killed('SIGKILL');
    allow('allow');
    assert.equal((await going).error, undefined);
    assert.match(transcript(await run.kept()), new RegExp(`${said.written}\nWaitingUser$`));
    const { evaluated, prompt } = run.evaluated.at(-1)!;
    assert.equal(evaluated, prompt);
    count('killed in a question', run);
  });

  it('killed between two messages: the next one loads it again', async () => {
    const run = await begin();
    await run.start('hi');
    await killed('SIGSEGV');
    await run.continue('[[twice]]');
    assert.match(transcript(await run.kept()), new RegExp(`${said.bothWritten}\nWaitingUser$`));
    const [, first, second] = run.evaluated;
    assert.equal(first!.evaluated, first!.prompt);
    assert.ok(second!.evaluated < second!.prompt / 4);
    count('killed between two messages', run);
  });

  it('the journal holds each call: its id, name, arguments, when it began and ended, and its result', async () => {
    const run = await begin(['allow']);
    await run.start('[[parallel]]');
    const { entries } = await readJournal(path.join(run.folder, 'store', 'runs', run.runId, 'journal.jsonl'));
    const events = entries.flatMap(({ event }) => event ?? []);
    const calls = events.flatMap((event) =>
      event.type === 'message' && event.message.role === 'assistant' ? (event.message.toolCalls ?? []) : [],
    );
    const told = calls.map(({ id, name, arguments: args }) => {
      const at = (type: 'tool-start' | 'tool-end') =>
        events.find((event) => event.type === type && event.toolCallId === id)?.at ?? 0;
      const result = events.flatMap((event) =>
        event.type === 'message' && event.message.role === 'tool'
          ? event.message.toolResults.filter((one) => one.toolCallId === id)
          : [],
      );
      return {
        name,
        args,
        timed: at('tool-start') > 0 && at('tool-end') >= at('tool-start'),
        results: result.map(({ content }) => JSON.parse(content).ok),
      };
    });
    assert.deepEqual(told, [
      { name: 'fs.read', args: { path: 'README.md' }, timed: true, results: [true] },
      {
        name: 'fs.write',
        args: { path: 'notes/parallel.md', content: 'Written beside a read.\n' },
        timed: true,
        results: [true],
      },
    ]);
  });
});

/** Resolves at the first such event, after doing something about it. */
function waitFor(run: Whole, when: (event: RunEvent) => boolean, act = () => {}): Promise<void> {
  return new Promise((resolve) => {
    run.onEvent = (event) => {
      if (!when(event)) return;
      run.onEvent = () => {};
      act();
      resolve();
    };
  });
}
