import assert from 'node:assert/strict';
import { rmSync, symlinkSync } from 'node:fs';
import * as paths from 'node:path';
import * as z from 'zod';
import type { RunEventBody } from '../../../src/protocol/run/events.ts';
import {
  createReadOnlyTool,
  createSideEffectTool,
  type Tool,
  type ToolCallPlan,
} from '../../../src/tools/core/tool.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation, error } from '../conversation.ts';

let workspace: TemporaryWorkspace;
beforeEach(async () => {
  workspace = await temporaryWorkspace({ 'a.txt': 'one\n' });
});
afterEach(() => workspace.cleanup());

/** What happened, as a person would tell it; ids and times left out. */
function told(events: RunEventBody[]): string[] {
  const seen = events.filter(({ type }) => type !== 'approval-request'); // `question` says it
  return seen.map((event) => {
    if (event.type === 'question') return `question ${event.question.what}`;
    if (event.type === 'approval') return `${event.decision}${event.automatic ? ` (${event.automatic})` : ''}`;
    if (event.type === 'tool-end') return `end ${event.ok ? 'ok' : event.code}${event.changes ? ' with change' : ''}`;
    return event.type.replace('tool-', '');
  });
}

const write = { path: 'a.txt', content: 'two\n' };

// Holds tools-run-in-the-host.
describe('gate: asking', () => {
  it('a read is not asked about', async () => {
    const { call, events } = conversation(workspace);
    await call('fs.read', { path: 'a.txt' });
    assert.deepEqual(told(events), ['start', 'end ok']);
  });

  it('a change is asked about, then made', async () => {
    const { call, events } = conversation(workspace);
    await call('fs.write', write);
    assert.deepEqual(told(events), ['question Replace a.txt', 'allow', 'start', 'end ok with change']);
    assert.equal(workspace.read('a.txt'), 'two\n');
  });

  it('a no changes nothing and is told with the words', async () => {
    const { call, events } = conversation(workspace, { answer: { decision: 'deny', words: 'Not this file.' } });
    assert.deepEqual(await call('fs.write', write), {
      ok: false,
      error: {
        code: 'TOOL_DENIED',
        message: 'The person did not allow this and said: Not this file.',
        details: { words: 'Not this file.' },
      },
    });
    assert.deepEqual(told(events), ['question Replace a.txt', 'deny', 'end TOOL_DENIED']);
    assert.equal(workspace.read('a.txt'), 'one\n');
  });

  it('"Allow for this run" covers the next one of its kind, and says so', async () => {
    const { call, events, grants } = conversation(workspace, { answer: 'allow-run' });
    await call('fs.write', write);
    await call('fs.write', { path: 'b.txt', content: 'x' });
    assert.deepEqual([...grants], ['fs.write']);
    assert.deepEqual(told(events).slice(4), [
      'allow (Allowed earlier in this run: fs.write.)',
      'start',
      'end ok with change',
    ]);
  });

  it('"Allow for this run" never covers a protected place', async () => {
    const { call, asked, grants } = conversation(workspace, { answer: 'allow-run' });
    for (const path of ['b.txt', '.vscode/settings.json', '.vscode/settings.json']) {
      await call('fs.write', { path, content: `${Math.random()}` });
    }
    assert.deepEqual(
      [asked.map(({ plan }) => plan.grant), [...grants]],
      [['fs.write', undefined, undefined], ['fs.write']],
    );
  });

  it('T19 an exception, a closed window, or an answer that is none is a no', async () => {
    for (const answer of [
      () => Promise.reject(new Error('window closed')),
      async () => undefined,
      async () => ({ decision: 'yes' }),
      async () => ({ decision: true }),
    ]) {
      const { call } = conversation(workspace, { answer: answer as never });
      assert.equal((await error(call('fs.write', write))).code, 'TOOL_DENIED');
    }
    assert.deepEqual(workspace.effects, []);
  });

  it('the time the person took is told apart from the time the tool took, by a clock that cannot go back', async () => {
    let clock = 1000;
    const { call, events } = conversation(workspace, {
      now: () => clock,
      answer: async () => {
        clock += 250;
        return { decision: 'allow' };
      },
    });
    await call('fs.write', write);
    const approval = events.find((event) => event.type === 'approval');
    const end = events.find((event) => event.type === 'tool-end');
    assert.deepEqual(
      [approval?.type === 'approval' && approval.waitedMs, end?.type === 'tool-end' && end.ms],
      [250, 0],
    );
  });

  it('what is shown, checked and run is one frozen object', async () => {
    const { call, asked } = conversation(workspace, {
      answer: async ({ call, plan }) => {
        assert.throws(() => Object.assign(call.arguments, { content: 'evil' }), TypeError);
        assert.throws(() => Object.assign(plan, { change: undefined }), TypeError);
        return { decision: 'allow' };
      },
    });
    const args = { ...write };
    const done = call('fs.write', args);
    args.content = 'evil';
    await done;
    assert.deepEqual([workspace.read('a.txt'), asked[0]?.call.arguments], ['two\n', write]);
  });
});

describe('gate: finding and checking', () => {
  const refused: [name: string, tool: string, args: unknown, code: string, message: RegExp][] = [
    ['an unknown tool', 'fs.raed', {}, 'TOOL_NOT_AVAILABLE', /no tool "fs\.raed"\. Did you mean "fs\.read"/],
    ['a tool nobody has', 'teleport', {}, 'TOOL_NOT_AVAILABLE', /There are: fs\.list, .*shell\.run/],
    ['constructor', 'constructor', {}, 'TOOL_NOT_AVAILABLE', /There are/],
    ['__proto__', '__proto__', {}, 'TOOL_NOT_AVAILABLE', /There are/],
    ['a missing argument', 'fs.read', {}, 'TOOL_ARGS_INVALID', /^path: expected string, but it is missing\. fs\.read takes \{path: string, offset\?: integer, limit\?: integer\}\.$/],
    ['a wrong type', 'fs.read', { path: 'a', offset: 'one' }, 'TOOL_ARGS_INVALID', /^offset: expected number, received string/],
    ['no number', 'fs.read', { path: 'a', offset: Number.NaN }, 'TOOL_ARGS_INVALID', /^offset: /],
    ['an endless number', 'fs.read', JSON.parse('{"path":"a","offset":1e400}'), 'TOOL_ARGS_INVALID', /^offset: /],
    ['an argument too many', 'fs.read', { path: 'a', force: true }, 'TOOL_ARGS_INVALID', /^Unrecognized key: "force"/],
    ['a wrong type inside', 'fs.edit', { path: 'a', edits: [{ oldText: 1, newText: '' }] }, 'TOOL_ARGS_INVALID', /^edits\[0\]\.oldText: expected string, received number/],
    ['a list for an object', 'fs.read', ['a'], 'TOOL_ARGS_INVALID', /expected/],
    ['__proto__ as an argument', 'fs.read', JSON.parse('{"path":"a","__proto__":{"x":1}}'), 'TOOL_ARGS_INVALID', /^"__proto__" is not an argument/],
    ['constructor inside', 'fs.edit', { path: 'a', edits: [{ oldText: 'a', newText: 'b', constructor: {} }] }, 'TOOL_ARGS_INVALID', /^"constructor" is not an argument/],
    ['endless nesting', 'fs.read', { path: JSON.parse('['.repeat(900) + ']'.repeat(900)) }, 'TOOL_ARGS_INVALID', /too deeply/],
    ['a megabyte for a path', 'fs.read', { path: 'x'.repeat(1e6) }, 'E_SANDBOX_VIOLATION', /longer than 4,096/],
  ]; // biome-ignore format: a table
  for (const [name, tool, args, code, message] of refused) {
    it(`${name} is answered in words and never asked about`, async () => {
      const { call, asked, events } = conversation(workspace);
      const failed = await error(call(tool, args));
      assert.equal(failed.code, code);
      assert.match(failed.message, message);
      assert.ok(failed.message.length < 600, failed.message);
      assert.deepEqual([asked, told(events)], [[], [`end ${code}`]]);
    });
  }

  it('arguments that are no JSON are told what is wrong with them', async () => {
    const malformed = `{"path":"a.txt","content":"${'x'.repeat(100)}`;
    const { call } = conversation(workspace);
    const { code, message } = await error(call('fs.write', {}, { malformed }));
    assert.equal(code, 'TOOL_ARGS_INVALID_JSON');
    assert.match(
      message,
      /not one complete JSON object: Unterminated string.*They end with "x{40}"\. Nothing was run\./,
    );
  });

  it('an untrusted workspace offers and runs only what reads', async () => {
    workspace.trusted = false;
    const { call, host, asked } = conversation(workspace);
    assert.deepEqual(
      host.getVisibleTools({ agentId: 'default' }).map(({ name }) => name),
      ['fs.list', 'fs.find', 'fs.search', 'fs.read', 'output.read', 'plan.update', 'ask.person'],
    );
    assert.ok((await call('fs.read', { path: 'a.txt' })).ok);
    const { code, message } = await error(call('fs.write', write));
    assert.deepEqual([code, asked], ['TOOL_NOT_AVAILABLE', []]);
    assert.match(message, /not trusted/);
  });

  it('reads are free to start early, changes and slips are not', () => {
    const { host } = conversation(workspace);
    const free = (name: string, malformed?: string) =>
      host.isFree({ id: '1', name, arguments: {}, ...(malformed && { malformed }) }, 'run');
    assert.deepEqual(
      [free('fs.read'), free('fs.search'), free('fs.write'), free('shell.run'), free('x'), free('fs.read', '{')],
      [true, true, false, false, false, false],
    );
  });
});

describe('gate: the world changes during the question', () => {
  const during: [name: string, change: Partial<TemporaryWorkspace>, code: string][] = [
    ['trust is taken back', { trusted: false }, 'TOOL_NOT_AVAILABLE'],
    ['the folder is closed', { roots: [] }, 'E_SANDBOX_VIOLATION'],
    ['another folder is opened instead', { roots: [{ name: 'x', path: '/nowhere' }] }, 'ENOENT'],
  ];
  for (const [name, change, code] of during) {
    it(`T20 ${name}: refused`, async () => {
      const { call } = conversation(workspace, {
        answer: async () => {
          Object.assign(workspace, change);
          return { decision: 'allow' };
        },
      });
      assert.equal((await error(call('fs.write', write))).code, code);
      assert.deepEqual(workspace.effects, []);
    });
  }

  it('a folder becomes a link to somewhere else: refused, nothing appears there', async () => {
    const outside = await temporaryWorkspace();
    workspace.write('sub/b.txt', 'x');
    const { call } = conversation(workspace, {
      answer: async () => {
        rmSync(paths.join(workspace.root, 'sub'), { recursive: true });
        symlinkSync(outside.root, paths.join(workspace.root, 'sub'));
        return { decision: 'allow' };
      },
    });
    const { reason } = await error(call('fs.write', { path: 'sub/new/c.txt', content: 'x' }));
    assert.deepEqual([reason, outside.exists('new')], ['SYMLINK_ESCAPE', false]);
    outside.cleanup();
  });
});

describe('gate: stopping', () => {
  it('before anything: nothing is asked', async () => {
    const { call, stop, asked } = conversation(workspace);
    stop.abort();
    assert.deepEqual(await call('fs.write', write), {
      ok: false,
      error: { code: 'TOOL_INTERRUPTED', message: 'Stopped before it ran.' },
    });
    assert.deepEqual(asked, []);
  });

  it('during the question: its later answer is ignored', async () => {
    let answer: (answer: { decision: 'allow' }) => void = () => {};
    const { call, stop, events } = conversation(workspace, {
      answer: () => {
        setImmediate(() => stop.abort());
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
    });
    assert.equal((await error(call('fs.write', write))).code, 'TOOL_INTERRUPTED');
    answer({ decision: 'allow' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(told(events), ['question Replace a.txt', 'end TOOL_INTERRUPTED']);
    assert.deepEqual(workspace.effects, []);
  });

  it('during a write: the write finishes and says so', async () => {
    const { call, stop } = conversation(workspace);
    const writeText = workspace.writeText;
    workspace.writeText = async (path, text, before) => {
      stop.abort();
      await new Promise((resolve) => setTimeout(resolve, 20));
      return writeText(path, text, before);
    };
    assert.ok((await call('fs.write', write)).ok);
    assert.equal(workspace.read('a.txt'), 'two\n');
  });

  it('during a read: it is left at once', async () => {
    const slow = createReadOnlyTool({ name: 'slow', description: '', arguments: {} }, () => new Promise(() => {}));
    const { call, stop } = conversation(workspace, { tools: [slow] });
    setImmediate(() => stop.abort());
    assert.equal((await error(call('slow'))).code, 'TOOL_INTERRUPTED');
  });
});

describe('gate: a store that cannot keep', () => {
  const full = Object.assign(new Error('The disk is full.'), { code: 'STORE_FULL' });
  for (const type of ['approval-request', 'question', 'approval', 'tool-start'] as const) {
    it(`${type} could not be kept: the effect does not happen`, async () => {
      const { call } = conversation(workspace, {
        beforeEvent: (event) => {
          if (event.type === type) throw full;
        },
      });
      const { code, message } = await error(call('fs.write', write));
      assert.deepEqual([code, workspace.effects], ['STORE_FULL', []]);
      assert.equal(message, 'Nothing was run, because the run could not be kept: The disk is full.');
    });
  }

  it('the end could not be kept: the outcome is still what happened', async () => {
    const { call } = conversation(workspace, {
      beforeEvent: (event) => {
        if (event.type === 'tool-end') throw full;
      },
    });
    assert.ok((await call('fs.write', write)).ok);
  });
});

describe('gate: what a tool gives', () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const giving = (give: () => unknown): Tool =>
    createReadOnlyTool({ name: 'tool', description: '', arguments: {} }, async () => give());
  const throwing = (thrown: unknown) =>
    giving(() => {
      throw thrown;
    });
  const bare = Object.create(null) as object;
  const cases: [name: string, tool: Tool, expect: unknown][] = [
    ['nothing', giving(() => undefined), { ok: true, data: null }],
    ['null thrown', throwing(null), 'The tool failed without saying why.'],
    ['an object without a prototype thrown', throwing(bare), 'The tool failed without saying why.'],
    ['a circular object thrown', throwing(circular), 'The tool failed without saying why.'],
    ['a text thrown', throwing('no luck'), 'no luck'],
    ['an error thrown', throwing(new Error('no luck')), 'no luck'],
    ['a system error thrown', throwing(Object.assign(new Error('open /secret/place'), { code: 'EIO', syscall: 'open' })), 'The system refused it: open EIO.'],
    ['a circular object', giving(() => circular), 'The tool gave something that cannot be written down as JSON.'],
    ['a big integer', giving(() => 1n), 'The tool gave something that cannot be written down as JSON.'],
  ]; // biome-ignore format: a table
  for (const [name, tool, expect] of cases) {
    it(`T24 ${name}: an outcome all the same`, async () => {
      const outcome = await conversation(workspace, { tools: [tool] }).call('tool');
      assert.deepEqual(
        outcome,
        typeof expect === 'string' ? { ok: false, error: { code: 'TOOL_EXEC_FAILED', message: expect } } : expect,
      );
    });
  }

  const large: [name: string, value: unknown][] = [
    ['a text', { text: 'x'.repeat(1e6) }],
    ['a text of wide letters', { text: '日'.repeat(60_000) }],
    ['a text of escapes', { text: '\u0000'.repeat(60_000) }],
    ['a list', Array.from({ length: 1e5 }, (_, index) => ({ index }))],
    ['many names', Object.fromEntries(Array.from({ length: 1e4 }, (_, index) => [`name${index}`, 'value'.repeat(10)]))],
  ];
  for (const [name, value] of large) {
    it(`${name} too large is cut to 64 KiB and says so`, async () => {
      const outcome = await conversation(workspace, { tools: [giving(() => value)] }).call('tool');
      assert.ok(outcome.ok);
      assert.ok(Buffer.byteLength(JSON.stringify(outcome)) <= 64 * 1024);
      assert.match((outcome.data as { cut: string }).cut, /^Cut from \d+ bytes/);
    });
  }

  it('a plan that fails is told and never asked about', async () => {
    const tool = createSideEffectTool(
      { name: 'tool', description: '', arguments: { a: z.string() } },
      'change',
      async () => {
        throw new Error('cannot plan');
      },
    );
    const { call, asked } = conversation(workspace, { tools: [tool] });
    assert.equal((await error(call('tool', { a: '' }))).message, 'cannot plan');
    assert.deepEqual(asked, []);
  });

  it('live output reaches the card, and nothing after a stop', async () => {
    const plan = (output: (text: string) => void): ToolCallPlan => ({
      what: 'x',
      where: 'x',
      why: 'x',
      run: async () => {
        output('before');
        talking.stop.abort();
        output('after');
      },
    });
    const tool = createSideEffectTool(
      { name: 'tool', description: '', arguments: {} },
      'execute',
      async (_, { output }) => plan(output),
    );
    const talking = conversation(workspace, { tools: [tool] });
    await talking.call('tool');
    assert.deepEqual(
      talking.events.flatMap((event) => (event.type === 'tool-output' ? [event.text] : [])),
      ['before'],
    );
  });
});
