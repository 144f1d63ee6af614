import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import * as paths from 'node:path';
import type { ApprovalPolicy } from '../../../src/protocol/content/policy.ts';
import type { ScopedPermissionRule } from '../../../src/protocol/content/rule.ts';
import type { RunEvent, RunEventBody } from '../../../src/protocol/run/events.ts';
import { applyEvent } from '../../../src/protocol/run/fold.ts';
import { newRun } from '../../../src/protocol/run/run.ts';
import type { ApprovalAnswer, ApprovalRequester } from '../../../src/tools/core/tool.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { createSandboxExit } from '../../../src/tools/host/sandboxExit.ts';
import { type TemporarySandbox, temporarySandbox } from '../../support/commandSandbox.ts';
import { eventually } from '../../support/eventually.ts';
import { type Listening, listen } from '../../support/listening.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation } from '../conversation.ts';

const outside: ApprovalAnswer = { decision: 'deny', outside: true };

// Holds sandbox-never-falls-back.
describe('tools: leaving the sandbox of a command that asks for a host', () => {
  let sandbox: TemporarySandbox;
  let workspace: TemporaryWorkspace;
  let server: Listening;

  before(async function () {
    const made = await temporarySandbox();
    if (!made) return this.skip();
    sandbox = made;
    server = await listen(async (_, response) => void response.end('hello'));
  });
  after(async () => {
    await sandbox?.cleanup();
    await server?.close();
  });
  beforeEach(async () => {
    workspace = await temporaryWorkspace({ 'a.txt': 'one\n', 'flag.txt': '' });
  });
  afterEach(() => {
    workspace.cleanup();
    rmSync(file(), { force: true });
  });

  const file = () => paths.join(sandbox.home, 'outside');
  const fetch = (host = '127.0.0.1') => `curl -sS --noproxy '' --max-time 60 http://${host}:${server.port}/`;
  /** Writes a file that only a command outside of the sandbox can write. */
  const command = (more = '') => `echo two >> a.txt; echo 1 2>&- >> ${file()}; ${more}${fetch()}`;

  const talk = (
    answer: ApprovalAnswer | ApprovalRequester,
    policy: Partial<ApprovalPolicy> = {},
    place = workspace,
    runId = 'run',
  ) =>
    conversation(place, {
      runId,
      tools: builtinTools({ shell: { sandbox, covers: async () => ({ isWhole: true }) } }),
      policy: { preset: 'sandbox', ...policy },
      answer,
    });
  const run = (talking: ReturnType<typeof talk>, line = command(), more: object = {}) =>
    talking.call('shell.run', { command: line, ...more });
  /** What is recorded, but for output and processes. */
  const recorded = (events: readonly RunEventBody[]) =>
    events.flatMap((event) => {
      switch (event.type) {
        case 'question':
          return [event.isOver ? 'question over' : `question ${event.question.what.replace(/\d+\?$/, '…')}`];
        case 'access':
          return [`access ${event.decision}`];
        case 'approval':
          return [`${event.decision} ${event.name}${event.automatic === undefined ? '' : ': by a rule'}`];
        case 'tool-start':
          return [`start ${event.sandbox}`];
        case 'tool-end':
          return [`end ${event.code ?? 'ok'}`];
      }
      return [];
    });
  const asks = 'question Allow network access to 127.0.0.1:…';
  const stayed = () => [existsSync(file()), workspace.read('a.txt')];

  it('ends the command, keeps nothing of it, and runs it outside from the beginning', async () => {
    const talking = talk(outside);
    const outcome = await run(talking);
    assert.deepEqual(outcome.ok && outcome.data, { exitCode: 0, output: 'hello' });
    assert.deepEqual([readFileSync(file(), 'utf8'), workspace.read('a.txt')], ['1\n', 'one\ntwo\n']);
    assert.deepEqual(recorded(talking.events), [
      'allow shell.run: by a rule',
      'start inside',
      asks,
      'access deny',
      'allow shell.run',
      'start outside',
      'end ok',
    ]);
  });

  it('holds once, and makes no rule and no permission', async () => {
    const answers = [outside, { decision: 'deny' } as const];
    const talking = talk(async () => answers.shift()!);
    await run(talking);
    await run(talking);
    assert.deepEqual(recorded(talking.events).slice(-5), [
      'allow shell.run: by a rule',
      'start inside',
      asks,
      'access deny',
      'end ok',
    ]);
    assert.deepEqual([readFileSync(file(), 'utf8'), [...talking.grants]], ['1\n', []]);
  });

  it('the card says so, also after it is read again, and no longer names what was blocked inside', async () => {
    const talking = talk(outside);
    await run(talking, command('echo hello inside; '));
    const shown = newRun('run');
    for (const [at, event] of talking.events.entries())
      applyEvent(shown, { runId: 'run', seq: at + 1, at: at + 1, ...event } as RunEvent);
    const { sandbox: place, blocked, output, decision, automatic } = shown.calls['call-1']!;
    assert.deepEqual(
      { place, blocked, output, decision, automatic },
      { place: 'outside', blocked: undefined, output: 'hello inside\nhello', decision: 'allow', automatic: undefined },
    );
  });

  it('a background command starts again there, too', async () => {
    const talking = talk(outside);
    const outcome = await run(talking, `${command()}; echo`, { background: true });
    assert.equal(outcome.ok, true, JSON.stringify(outcome));
    await eventually('it has run', () => existsSync(file()));
    assert.deepEqual(recorded(talking.events).slice(-2), ['start outside', 'end ok']);
  });

  it('is offered for a host only, and not for a command that discards data', async () => {
    const talking = talk(outside);
    await run(talking, 'mkdir .vscode && echo "{}" > .vscode/settings.json');
    assert.equal(talking.asked[0]!.plan.offersOutside, undefined);
    assert.deepEqual(recorded(talking.events).slice(-2), ['access deny', 'end ok']);
    assert.equal(createSandboxExit({ loss: { text: 'Discards a.txt.', items: ['a.txt'] } }), undefined);
  });

  const others: [name: string, answer: unknown, end: string][] = [
    ['an unclear answer', { decision: 'outside', outside: true }, 'access deny'],
    ['an answer without a decision', { outside: true }, 'access deny'],
    ['a text', { decision: 'deny', outside: 'true' }, 'access deny'],
    ['an approval of the host', { decision: 'allow', outside: true }, 'access allow'],
  ];
  for (const [name, answer, end] of others)
    it(`is not chosen by ${name}`, async () => {
      const talking = talk(answer as ApprovalAnswer);
      await run(talking);
      assert.deepEqual([recorded(talking.events).slice(-2), existsSync(file())], [[end, 'end ok'], false]);
    });

  it('is not chosen where a call asks before it starts', async () => {
    const talking = talk(outside);
    const outcome = await run(talking, command(), { outside: true });
    assert.deepEqual([outcome.ok, ...stayed()], [false, false, 'one\n']);
  });

  it('a rule made meanwhile that denies the command holds', async () => {
    const rules: ScopedPermissionRule[] = [];
    const talking = talk(
      async () => {
        rules.push({ effect: 'deny', tool: 'shell.run', command: 'curl', scope: 'user' });
        return outside;
      },
      { rules },
    );
    const outcome = await run(talking);
    assert.deepEqual([outcome.ok ? '' : outcome.error.code, ...stayed()], ['TOOL_DENIED', false, 'one\n']);
    assert.deepEqual(recorded(talking.events).slice(-3), [
      'access deny',
      'deny shell.run: by a rule',
      'end TOOL_DENIED',
    ]);
  });

  it('nothing runs where the workspace is no longer trusted', async () => {
    const place = Object.create(workspace, { trusted: { value: true, writable: true } });
    const talking = talk(
      async () => {
        place.trusted = false;
        return outside;
      },
      {},
      place,
    );
    const outcome = await run(talking);
    assert.deepEqual([outcome.ok ? '' : outcome.error.code, ...stayed()], ['TOOL_NOT_AVAILABLE', false, 'one\n']);
  });

  it('nothing runs after a stop, also of a command that does not want to end', async () => {
    const talking = talk(async () => {
      setImmediate(() => talking.stop.abort());
      return outside;
    });
    const outcome = await run(talking, command(`trap '' TERM; `));
    assert.deepEqual([outcome.ok ? '' : outcome.error.code, ...stayed()], ['TOOL_INTERRUPTED', false, 'one\n']);
    assert.deepEqual(recorded(talking.events).slice(-2), ['access deny', 'end TOOL_INTERRUPTED']);
  });

  it('nothing runs if the approval cannot be recorded', async () => {
    const talking = conversation(workspace, {
      tools: builtinTools({ shell: { sandbox, covers: async () => ({ isWhole: true }) } }),
      policy: { preset: 'sandbox' },
      answer: outside,
      beforeEvent(event) {
        if (event.type === 'approval' && event.automatic === undefined) throw new Error('The disk is full.');
      },
    });
    const outcome = await run(talking);
    assert.deepEqual([outcome.ok, ...stayed()], [false, false, 'one\n']);
  });

  it('an answer to a command that has ended meanwhile changes nothing', async () => {
    let late: Promise<unknown> | undefined;
    const talking = talk((_, signal) => {
      const answer = new Promise<ApprovalAnswer>((resolve) => {
        signal.addEventListener('abort', () => resolve(outside), { once: true });
      });
      late = answer;
      return answer;
    });
    const outcome = await run(talking, command().replace('--max-time 60', '--max-time 1'));
    await late;
    assert.equal(outcome.ok, true);
    assert.deepEqual([recorded(talking.events).at(-1), ...stayed()], ['end ok', false, 'one\ntwo\n']);
  });

  it('of two hosts asked about at once, the other request ends', async () => {
    let isOver = false;
    const talking = talk(async ({ plan }, signal) => {
      if (!plan.where.startsWith('127.'))
        return new Promise(() => signal.addEventListener('abort', () => (isOver = true)));
      await eventually('both requests', () => talking.asked.length > 1);
      return outside;
    });
    const outcome = await run(talking, `${fetch('localhost')} & ${command()}; wait`);
    assert.equal(outcome.ok, true);
    assert.deepEqual([isOver, existsSync(file())], [true, true]);
    const events = recorded(talking.events);
    assert.deepEqual(events.filter((one) => /^(access|start|end)|over/.test(one)).sort(), [
      'access deny',
      'end ok',
      'question over',
      'start inside',
      'start outside',
    ]);
  });

  it('of two runs, only the one of the answer leaves', async () => {
    const other = await temporaryWorkspace({ 'a.txt': 'one\n' });
    try {
      const answers = [talk(outside), talk({ decision: 'allow' }, {}, other, 'other')];
      await Promise.all(answers.map((one) => run(one)));
      const places = answers.map(({ events }) => recorded(events).filter((one) => one.startsWith('start')));
      assert.deepEqual(places, [['start inside', 'start outside'], ['start inside']]);
      assert.equal(readFileSync(file(), 'utf8'), '1\n');
    } finally {
      other.cleanup();
    }
  });
});
