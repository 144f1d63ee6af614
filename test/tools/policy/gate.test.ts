import assert from 'node:assert/strict';
import { truncateSync } from 'node:fs';
import type { ApprovalPolicy } from '../../../src/protocol/content/policy.ts';
import type { ScopedPermissionRule } from '../../../src/protocol/content/rule.ts';
import type { ToolOutcome } from '../../../src/protocol/content/tools.ts';
import type { RunEventBody } from '../../../src/protocol/run/events.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation, data, error } from '../conversation.ts';

let workspace: TemporaryWorkspace;
beforeEach(async () => {
  workspace = await temporaryWorkspace({ 'a.txt': 'one\n', 'src/b.txt': 'b\n', '.env': 'KEY=1\n' });
});
afterEach(() => workspace.cleanup());

type Call = [name: string, args: object];
const read: Call = ['fs.read', { path: 'a.txt' }];
const write = (path: string): Call => ['fs.write', { path, content: `${path}!` }];
const run = (command: string): Call => ['shell.run', { command }];
const rules = (...all: Omit<ScopedPermissionRule, 'scope'>[]): Partial<ApprovalPolicy> => ({
  rules: all.map((rule) => ({ scope: 'user', ...rule })),
});

/** How each call was decided: what was asked, or why nobody was. */
const decisions = (events: readonly RunEventBody[]) =>
  events.flatMap((event) => {
    if (event.type === 'question') return [`asked: ${event.question.what}`];
    return event.type === 'approval' && event.automatic ? [`${event.decision}: ${event.automatic}`] : [];
  });
const codes = (outcomes: readonly ToolOutcome[]) => outcomes.map((one) => (one.ok ? 'ok' : one.error.code));

describe('the gate with a policy', () => {
  const all = [read, write('src/new.txt'), run('true')];
  const table: [policy: Partial<ApprovalPolicy>, calls: Call[], decided: string[]][] = [
    [{ preset: 'ask-everything' }, all, ['asked: Read a.txt', 'asked: Create src/new.txt', 'asked: Run a command']],
    [{}, all, ['asked: Create src/new.txt', 'asked: Run a command']],
    [{ preset: 'edits-free' }, all, ['allow: Auto-approved: edits.', 'asked: Run a command']],
    [
      { preset: 'autopilot' },
      all,
      ['allow: Allowed because Autopilot is on.', 'allow: Allowed because Autopilot is on.'],
    ],
    [{ preset: 'autopilot' }, [['fs.read', { path: '.env' }]], ['asked: Read .env']],
    [{ preset: 'autopilot' }, [write('.vscode/tasks.json')], ['asked: Create .vscode/tasks.json']],
    [{ preset: 'ask-everything' }, [['plan.update', { items: [] }]], []],
    [
      { preset: 'ask-everything', ...rules({ effect: 'allow', tool: 'fs.read', path: 'src/**' }) },
      [read, ['fs.read', { path: './src/../src/b.txt' }]],
      ['asked: Read a.txt', 'allow: Allowed by your rule “fs.read src/**”.'],
    ],
    [rules({ effect: 'ask', tool: 'fs.read', path: 'src/**' }), [read, ['fs.read', { path: 'src/b.txt' }]], ['asked: Read src/b.txt']],
    [rules({ effect: 'deny', tool: 'fs.*', path: 'SRC/**' }), [['fs.read', { path: 'src/b.txt' }]], ['deny: Denied by your rule “fs.* SRC/**”.']],
    [
      rules({ effect: 'allow', tool: 'fs.move', path: 'src/**' }),
      [['fs.move', { from: 'src/b.txt', to: 'src/c.txt' }], ['fs.move', { from: 'src/c.txt', to: 'c.txt' }]],
      ['allow: Allowed by your rule “fs.move src/**”.', 'asked: Move src/c.txt to c.txt'],
    ],
    [
      rules({ effect: 'deny', tool: 'fs.*', path: 'src/b.txt' }),
      [['fs.move', { from: 'src', to: 'lib' }], ['fs.delete', { path: 'src' }]],
      ['deny: Denied by your rule “fs.* src/b.txt”.', 'deny: Denied by your rule “fs.* src/b.txt”.'],
    ],
    [
      rules({ effect: 'allow', tool: 'shell.run', command: 'touch x' }),
      [run('touch x'), run('touch x y'), run('touch x; touch y')],
      ['allow: Allowed by your rule “shell.run touch x”.', 'asked: Run a command', 'asked: Run a command'],
    ],
    [{ readOnlyCommands: true }, [run('cat a.txt | wc -l'), run('cat .env')], ['allow: Auto-approved: read-only command.', 'asked: Run a command']],
    [{ readOnlyCommands: true, ...rules({ effect: 'deny', tool: '*', path: 'src/**' }) }, [run('cat src/b.txt')], ['asked: Run a command']],
  ]; // biome-ignore format: a table
  for (const [policy, calls, decided] of table) {
    const { preset = '', rules = [], readOnlyCommands } = policy;
    const rule = rules.map(({ effect, tool, path, command }) => [effect, tool, path ?? command].join(' '));
    const name =
      [preset, ...rule, readOnlyCommands && 'read-only commands'].filter(Boolean).join(', ') || 'nothing set';
    it(`${name}: ${decided.join('; ') || 'not asked'}`, async () => {
      const talk = conversation(workspace, { policy });
      const outcomes: ToolOutcome[] = [];
      for (const [name, args] of calls) outcomes.push(await talk.call(name, args));
      assert.deepEqual(decisions(talk.events), decided);
      const expected = decided.some((one) => one.startsWith('deny')) ? 'TOOL_DENIED' : 'ok';
      assert.deepEqual(
        codes(outcomes),
        calls.map(() => expected),
      );
    });
  }

  it('a denial by a rule names the rule, asks nobody and runs nothing', async () => {
    const { call, asked } = conversation(workspace, { policy: rules({ effect: 'deny', tool: 'fs.write' }) });
    assert.deepEqual(await call(...write('a.txt')), {
      ok: false,
      error: { code: 'TOOL_DENIED', message: 'Denied by your rule “fs.write”. Nothing was run.' },
    });
    assert.deepEqual([asked, workspace.effects], [[], []]);
  });

  it('a rule that asks is named in the question', async () => {
    const { call, asked } = conversation(workspace, {
      policy: { preset: 'edits-free', ...rules({ effect: 'ask', tool: 'fs.write' }) },
    });
    await call(...write('a.txt'));
    assert.equal(asked[0]!.plan.why, 'Needs approval because of your rule “fs.write”.');
  });

  it('reads of one answer that are asked about are asked together, and "for this run" covers the next', async () => {
    const talk = conversation(workspace, { policy: { preset: 'ask-everything' }, answer: 'allow-run' });
    assert.deepEqual(
      codes(await talk.reply(read, ['fs.read', { path: 'src/b.txt' }], write('c.txt'))),
      Array(3).fill('ok'),
    );
    assert.equal(new Set(talk.asked.map(({ batch }) => batch)).size, 1);
    await data(talk.call('fs.read', { path: 'src/b.txt' }));
    assert.equal(decisions(talk.events).at(-1), 'allow: Allowed earlier in this run: fs.read.');
    assert.equal(talk.host.isFree({ id: '1', name: 'fs.read', arguments: {} }, 'run'), false);
  });

  it('a rule made with an answer settles what it covers and asks about the rest', async () => {
    const made: ScopedPermissionRule[] = [];
    const talk = conversation(workspace, {
      policy: { rules: made },
      answer: async ({ plan }, signal) => {
        if (made.length > 0) return { decision: 'allow' };
        if (plan.change?.path !== 'src/1.txt')
          return new Promise((resolve) => signal.addEventListener('abort', () => resolve({ decision: 'deny' })));
        await new Promise(setImmediate); // the others are asked by then
        made.push({ scope: 'workspace', effect: 'allow', tool: 'fs.write', path: 'src/**' });
        return { decision: 'allow', always: true };
      },
    });
    await talk.reply(write('src/1.txt'), write('src/2.txt'), write('3.txt'));
    assert.deepEqual(
      talk.events.flatMap((event) => (event.type === 'approval' ? [event.automatic ?? event.decision] : [])),
      ['allow', 'Allowed by your rule for this workspace “fs.write src/**”.', 'allow'],
    );
    assert.deepEqual(['src/1.txt', 'src/2.txt', '3.txt'].map(workspace.read), ['src/1.txt!', 'src/2.txt!', '3.txt!']);
  });
});

describe('a search', () => {
  const found = async (policy: Partial<ApprovalPolicy>, path?: string) => {
    const talk = conversation(workspace, { policy });
    const { files } = await data<{ files: { path: string }[] }>(
      talk.call('fs.search', { pattern: '.', ...(path && { path }) }),
    );
    return files.map((file) => file.path);
  };

  it('leaves out what a rule keeps from being read', async () => {
    assert.deepEqual(await found({}), ['a.txt', 'src/b.txt']);
    assert.deepEqual(await found(rules({ effect: 'deny', tool: 'fs.read', path: 'src/**' })), ['a.txt']);
    assert.deepEqual(await found(rules({ effect: 'deny', tool: 'fs.read', path: 'src/**' }), 'src'), []);
    assert.deepEqual(await found(rules({ effect: 'ask', tool: '*', path: 'src/**' })), ['a.txt']);
  });

  it('tells what it was itself asked about', async () => {
    assert.deepEqual(await found(rules({ effect: 'ask', tool: 'fs.*', path: 'src/**' }), 'src'), ['src/b.txt']);
  });
});

describe("an agent's own policy", () => {
  const cases: [own: Partial<ApprovalPolicy>, agent: Partial<ApprovalPolicy>, decided: string[]][] = [
    [{ preset: 'autopilot' }, { preset: 'reads-free' }, ['asked: Create c.txt']],
    [{ preset: 'edits-free' }, rules({ effect: 'deny', tool: 'fs.write' }), ['deny: Denied by your rule “fs.write”.']],
    [{}, { preset: 'autopilot' }, ['asked: Create c.txt']],
    [{}, rules({ effect: 'allow', tool: '*' }), ['asked: Create c.txt']],
    [rules({ effect: 'deny', tool: 'fs.write' }), { preset: 'autopilot' }, ['deny: Denied by your rule “fs.write”.']],
  ]; // biome-ignore format: a table
  for (const [policy, agentPolicy, decided] of cases)
    it(`only narrows: ${JSON.stringify(agentPolicy)} under ${JSON.stringify(policy)}: ${decided}`, async () => {
      const talk = conversation(workspace, { policy, agentPolicy });
      await talk.call(...write('c.txt'));
      assert.deepEqual(decisions(talk.events), decided);
    });
});

describe('a command that runs unasked because it only reads', () => {
  const unasked = () => conversation(workspace, { policy: { readOnlyCommands: true }, answer: 'deny' });
  const ran = (command: string, more: object = {}) => data(unasked().call('shell.run', { command, ...more }));

  it('is its words, whatever the environment calls by their names', async () => {
    const before = { ...process.env };
    workspace.write('bin/ls', '#!/bin/sh\necho evil\n');
    Object.assign(process.env, {
      'BASH_FUNC_ls%%': '() { echo evil; }',
      BASH_ENV: `${workspace.root}/bin/ls`,
      ENV: `${workspace.root}/bin/ls`,
      PATH: `${workspace.root}/bin:${process.env.PATH}`,
    });
    try {
      assert.deepEqual(await ran('ls src && echo "$"x || true'.replace('"$"x', "'$HOME' '*'")), {
        exitCode: 0,
        output: 'b.txt\n$HOME *\n',
      });
    } finally {
      for (const name of ['BASH_FUNC_ls%%', 'BASH_ENV', 'ENV']) delete process.env[name];
      process.env.PATH = before.PATH;
    }
  });

  it('shows its output as it comes, and gets no input', async () => {
    const talk = unasked();
    await data(talk.call('shell.run', { command: 'cat - a.txt' }));
    assert.deepEqual(
      talk.events.flatMap((event) => (event.type === 'tool-output' ? [event.text] : [])),
      ['one\n'],
    );
  });

  it('ends at 64 KiB, and says so', async () => {
    workspace.write('long.txt', 'x'.repeat(99) + '\n'.repeat(1) + 'y'.repeat(300_000));
    const { exitCode, cut } = await ran('cat long.txt');
    assert.equal(exitCode, null);
    assert.match(`${cut}`, /It wrote more than 64 KiB and was ended there/);
  });

  it('finds ripgrep where the workspace has it', async () => {
    assert.deepEqual(await ran('rg -n one a.txt'), { exitCode: 0, output: '1:one\n' });
  });

  /** A file of nothing that takes hours to read. */
  const endless = 'cat a.txt && wc -l huge';
  const makeHuge = () => {
    workspace.write('huge', '');
    truncateSync(`${workspace.root}/huge`, 2 ** 42);
  };
  it('is stopped with the run, and its output is told', async () => {
    makeHuge();
    const talk = conversation(workspace, {
      policy: { readOnlyCommands: true },
      beforeEvent: (event) => event.type === 'tool-output' && talk.stop.abort(),
    });
    const { code, details } = await error(talk.call('shell.run', { command: endless }));
    assert.deepEqual([code, details], ['TOOL_INTERRUPTED', { output: 'one\n' }]);
  });

  it('ends in time', async () => {
    makeHuge();
    const { code, details } = await error(unasked().call('shell.run', { command: endless, timeoutSeconds: 1 }));
    assert.deepEqual([code, details], ['TOOL_TIMEOUT', { output: 'one\n' }]);
  });

  it('runs as shown, in a shell, when a person is asked, who is told why', async () => {
    const talk = conversation(workspace, { policy: { readOnlyCommands: true } });
    const { output } = await data(talk.call('shell.run', { command: 'echo $((1 + 1))' }));
    assert.equal(output, '2\n');
    assert.match(talk.asked[0]!.plan.why, /It uses more of the shell than simple commands\.$/);
    const without = conversation(workspace);
    await without.call('shell.run', { command: 'echo $((1 + 1))' });
    assert.equal(without.asked[0]!.plan.why, '');
  });

  it('what destroys the machine is refused without a question', async () => {
    const talk = conversation(workspace, { policy: { preset: 'autopilot' } });
    const failed = await error(talk.call('shell.run', { command: 'rm -rf /' }));
    assert.deepEqual([failed.code, failed.reason, talk.asked], ['E_SANDBOX_VIOLATION', 'COMMAND_REFUSED', []]);
  });
});
