import assert from 'node:assert/strict';
import type { RunEvent, RunEventBody } from '../../../src/protocol/run/events.ts';
import { logLineOf, runEventTypes } from '../../../src/protocol/run/logLine.ts';

const usage = { promptTokens: 12_000, completionTokens: 345, totalTokens: 12_345, cachedTokens: 11_000, cost: 0.0123 };
const sent = { messages: 12, tools: 23, tokens: 11_500 };
const change = (path: string, before: string | null, after: string | null) => ({ path, before, after });
const process = { pid: 7, began: 'then' };
const said = 'The words of a person, which are nobody else’s business.';

type Body = { [Type in RunEvent['type']]: Extract<RunEventBody, { type: Type }> };

/** What each type of event says: a new one does not compile without a case here. Undefined: nothing. */
const cases: { [Type in RunEvent['type']]: [event: Omit<Body[Type], 'type'>, line: string | undefined][] } = {
  'run-start': [
    [{ workflowId: 'chat', agentId: '', model: 'local/demo' }, 'info run begins: workflow chat, model local/demo'],
    [{ workflowId: 'w', agentId: 'coder', model: '' }, 'info run begins: workflow w, agent coder'],
  ],
  'limit-raise': [
    [{ of: 'run', more: 2, to: 4 }, 'info the person lets this run spend $2 more: $4 in all'],
    [{ of: 'day', more: 0.5, to: 1 }, 'info the person lets all runs spend $0.50 more today: $1 in all'],
  ],
  instructions: [
    [
      {
        files: [
          { path: 'AGENTS.md', text: said },
          { path: 'CLAUDE.md', text: said },
        ],
      },
      'info the workspace says to agents: AGENTS.md, CLAUDE.md',
    ],
  ],
  pin: [
    [{ pinned: true }, 'debug the person pins the run'],
    [{ pinned: false }, 'debug the person unpins the run'],
  ],
  title: [
    [{ title: said }, undefined],
    [{ title: said, by: 'person' }, 'debug the person renames the run'],
    [
      { title: said, usage, asked: 'openai/small' },
      'info named by openai/small: 12,000 tokens read (11,000 cached), 345 written, $0.0123',
    ],
  ],
  'task-start': [
    [
      { task: 't', title: said, agent: '', name: 'Explorer', maxSteps: 20 },
      'info task [t] is given to Explorer: at most 20 steps',
    ],
  ],
  'task-message': [
    [{ task: 't', message: { role: 'user', content: said } }, `debug task [t] is told ${said.length} characters`],
    [
      { task: 't', message: { role: 'assistant', content: said } },
      `debug the reply of task [t] is ${said.length} characters, 0 calls`,
    ],
    [{ task: 't', message: { role: 'tool', content: '', toolResults: [] } }, undefined],
  ],
  'task-end': [
    [{ task: 't', status: 'done' }, 'info task [t] is done'],
    [{ task: 't', status: 'stopped', limit: 'time' }, 'info task [t] stopped: limit of time'],
    [{ task: 't', status: 'failed', error: { code: 'X', message: 'No.' } }, 'warn task [t] failed: X: No.'],
  ],
  'interruption-choice': [
    [
      { toolCallIds: ['deploy:1:0'], choice: 'after', result: said },
      'info the person lets 1 interrupted call be: the run continues after that',
    ],
    [{ toolCallIds: ['a', 'b'], choice: 'again' }, 'info the person lets 2 interrupted calls run again'],
  ],
  'hold-end': [[{}, 'info the user lets the run continue without instructions']],
  'node-message': [
    [
      { node: 'ask', conversation: '0', callPrefix: 'ask:1:0:', message: { role: 'user', content: said }, given: true },
      undefined,
    ],
    [
      { node: 'ask', conversation: '0', callPrefix: 'ask:1:0:', message: { role: 'assistant', content: said } },
      'debug the reply for node ask is 56 characters, 0 calls',
    ],
  ],
  model: [
    [{ model: 'openai/gpt' }, 'info the conversation goes to openai/gpt'],
    [{ model: 'openai/gpt', effort: 'off' }, 'info the conversation goes to openai/gpt, thinking effort off'],
  ],
  agent: [[{ agentId: 'plan' }, 'info agent plan speaks from here on']],
  message: [
    [
      {
        message: { role: 'system', content: said },
        instructions: [{ path: 'docs/AGENTS.md', hash: 'a', near: true, tokens: 3 }],
      },
      'info the model hears what the workspace says: docs/AGENTS.md',
    ],
    [{ message: { role: 'user', content: said } }, 'info the person says 56 characters'],
    [
      { message: { role: 'user', content: '', attachments: [{ mediaType: 'image/png', data: said }] } },
      'info the person says 0 characters and 1 file',
    ],
    [{ message: { role: 'system', content: said } }, undefined],
    [{ message: { role: 'system', content: said }, ends: ['a', 'b'] }, 'info the model hears of 2 ended commands'],
    [{ message: { role: 'tool', content: '', toolResults: [{ toolCallId: 'a', content: said }] } }, undefined],
    [{ message: { role: 'assistant', content: said, thinking: said } }, 'debug the reply is 56 characters, 0 calls'],
    [
      {
        message: {
          role: 'assistant',
          content: said,
          toolCalls: [{ id: 'a', name: 'fs.read', arguments: { said } }],
          incomplete: true,
        },
      },
      'warn the reply broke off: 56 characters, 1 call',
    ],
    [
      { message: { role: 'assistant', content: said, warnings: ['Tools were left out.'] } },
      'warn the reply came not quite as asked: Tools were left out.',
    ],
  ],
  queued: [
    [{ text: said }, 'info 56 characters of the person wait for the next turn'],
    [{ text: said, when: 'done' }, 'info 56 characters of the person wait for the end of the work'],
  ],
  'queued-change': [
    [
      { queued: 7, text: said, when: 'now' },
      'info what waited as 7 is 56 characters now, and waits for the stop that it asks for',
    ],
  ],
  'queued-remove': [[{ queued: 7 }, 'info what waited as 7 is taken back']],
  approval: [
    [
      { toolCallId: 'a', name: 'fs.edit', decision: 'allow', waitedMs: 3210 },
      'info fs.edit [a] is allowed after 3.2 s',
    ],
    [
      { toolCallId: 'a', decision: 'deny', waitedMs: 125_000, words: said },
      'info call [a] is denied after 2 min 5 s, with words',
    ],
    [
      { toolCallId: 'a', name: 'fs.edit', decision: 'allow-run', waitedMs: 999.6, edited: true },
      'info fs.edit [a] is allowed for this run after 1000 ms, changed by the person',
    ],
    [
      { toolCallId: 'a', name: 'fs.read', decision: 'allow', waitedMs: 0, automatic: 'It only reads.' },
      'info fs.read [a] is allowed without a question: It only reads.',
    ],
  ],
  'tool-start': [
    [{ toolCallId: 'a', name: 'fs.read' }, 'info fs.read [a] begins'],
    [
      {
        toolCallId: 'a',
        name: 'fs.edit',
        changes: [change('a.ts', 'x', 'y'), change('b.ts', null, 'y'), change('c.ts', 'x', null)],
      },
      'info fs.edit [a] begins: a.ts, b.ts (new), c.ts (deleted)',
    ],
    [{ toolCallId: 'a', name: 'fs.move', moved: { from: 'a', to: 'b' } }, 'info fs.move [a] begins: a to b'],
    [
      { toolCallId: 'a', name: 'shell.run', command: { line: 'npm test\nrm x', folder: '/home/ada/p', marker: 'm' } },
      'info shell.run [a] begins: `npm test ⏎ rm x` in ~/p',
    ],
    [{ toolCallId: 'a', name: 'shell.run', reads: 'ls -l' }, 'info shell.run [a] begins: `ls -l`'],
  ],
  'call-arguments': [
    [
      { toolCallId: 'a', arguments: { path: 'a' }, leftOut: ['offset'] },
      'debug the arguments of call [a] are not as sent: path, offset',
    ],
  ],
  'approval-request': [
    [
      {
        toolCallId: 'a',
        name: 'fs.edit',
        question: { id: 'q', what: 'Edit a', where: '/a', why: 'x' },
        proposed: { location: 'hash' },
      },
      undefined,
    ],
  ],
  'command-start': [[{ toolCallId: 'a', process }, 'debug call [a] has process 7']],
  ask: [
    [{ toolCallId: 'a', questions: [{ question: said, answers: [] }] }, 'info call [a] asks the person 1 question'],
  ],
  answer: [
    [{ toolCallId: 'a', choices: [{ chosen: [0] }], said }, 'info call [a] is answered: 1 choice, 56 characters'],
  ],
  'tool-end': [
    [{ toolCallId: 'a', name: 'fs.read', ok: true, ms: 12 }, 'info fs.read [a] done in 12 ms'],
    [
      { toolCallId: 'a', name: 'shell.run', ok: true, ms: 1200, exitCode: 1 },
      'info shell.run [a] done in 1.2 s, exit code 1',
    ],
    [
      { toolCallId: 'a', name: 'shell.run', ok: true, ms: 0, background: { id: 'b' } },
      'info shell.run [a] done in 0 ms, goes on in the background',
    ],
    [
      { toolCallId: 'a', name: 'fs.edit', ok: false, ms: 5, code: 'TOOL_DENIED' },
      'warn fs.edit [a] failed after 5 ms: TOOL_DENIED',
    ],
  ],
  access: [
    [
      {
        toolCallId: 'a',
        name: 'shell.network',
        target: { host: 'b.example', port: 80 },
        decision: 'deny',
        waitedMs: 2,
      },
      'info shell.network [a]: b.example:80 is denied after 2 ms',
    ],
  ],
  'command-changes': [
    [{ toolCallId: 'a', changes: [change('a.ts', 'x', 'y')] }, 'info the command of call [a] has changed a.ts'],
    [{ toolCallId: 'a', snapshot: 's' }, 'info the command of call [a] has changed no file'],
  ],
  'command-end': [
    [{ toolCallId: 'a', by: 'person' }, 'info the command of call [a] was stopped by the person'],
    [{ toolCallId: 'a', by: 'itself', exitCode: 3 }, 'warn the command of call [a] exited with code 3'],
  ],
  undo: [
    [
      { toolCallIds: ['a', 'b'], changes: [change('a.ts', 'x', null)] },
      'info the person undoes 2 calls: a.ts (deleted)',
    ],
    [{ toolCallIds: [], changes: [change('a.ts', 'x', null)] }, 'info the person restores files: a.ts (deleted)'],
  ],
  redo: [
    [
      { undo: 3, toolCallIds: ['a'], changes: [change('a.ts', null, 'x')], paths: ['a.ts'], moves: [] },
      'info the user redoes 1 call: a.ts (new)',
    ],
    [
      { undo: 3, toolCallIds: [], changes: [change('a.ts', 'y', 'x')], paths: [], moves: [] },
      'info the user redoes what was restored: a.ts',
    ],
  ],
  usage: [
    [
      { usage, attempts: 1, model: 'gpt', asked: 'openai/gpt', ms: 2100, beside: true },
      'info openai/gpt for a summary answers in 2.1 s: 12,000 tokens read (11,000 cached), 345 written, $0.0123',
    ],
    [
      { usage, attempts: 1, model: 'gpt', ms: 2100 },
      'info gpt answers in 2.1 s: 12,000 tokens read (11,000 cached), 345 written, $0.0123',
    ],
    [
      {
        usage: { ...usage, cachedTokens: 0, cost: undefined },
        attempts: 2,
        model: 'gpt-5-x',
        asked: 'openai/gpt-5',
        ms: 2100,
        delayMs: 900,
        node: 'n',
        sent,
      },
      'info openai/gpt-5 (gpt-5-x) for node n answers in 2.1 s, 900 ms of it waiting, at try 2: 12,000 tokens read, 345 written (sent 12 messages, 23 tools, about 11,500 tokens)',
    ],
  ],
  attempt: [
    [
      {
        attempt: 1,
        code: 'LLM_RATE_LIMITED',
        message: 'Slow down, https://user:hush@example.com/?key=hush says.',
        waitMs: 2000,
        model: 'm',
      },
      'warn m gives no answer at try 1: LLM_RATE_LIMITED: Slow down, https://example.com/?key=… says. Tried again after 2.0 s.',
    ],
    [
      { attempt: 4, code: 'LLM_TIMEOUT', message: 'Nothing came.', model: 'm', asked: 'openai/m', node: 'n' },
      'warn openai/m for node n gives no answer at try 4: LLM_TIMEOUT: Nothing came.',
    ],
  ],
  outline: [[{ outline: { nodes: [], edges: [] } as never }, 'debug the workflow is another than before']],
  node: [
    [{ node: 'n', status: 'start' }, 'info node n begins'],
    [{ node: 'n', status: 'step' }, 'debug node n has done a step'],
    [{ node: 'n', status: 'end', next: ['m'], branch: 'b', output: said }, 'info node n (b) is done, next m'],
    [{ node: 'n', status: 'failed', error: { code: 'X', message: 'No.' } }, 'error node n failed: X: No.'],
  ],
  compaction: [
    [{ upTo: 9 }, 'info room is made: long texts cut to the usual length in place of what came before message 9'],
    [
      { upTo: 9, summary: said, node: 'n' },
      'info room is made for node n: a summary of 56 characters in place of what came before message 9',
    ],
  ],
  mended: [
    [
      { from: 1, to: 2, places: [], damage: 'line 2 is damaged' },
      'warn gone on with, though damaged: line 2 is damaged',
    ],
  ],
  phase: [
    [{ phase: 'Running' }, 'info at work.'],
    [{ phase: 'WaitingUser' }, 'info rests.'],
    [
      { phase: 'Failed', error: { code: 'ENGINE_ABORTED', message: 'Stopped.' } },
      'info ends: ENGINE_ABORTED: Stopped.',
    ],
    [
      {
        phase: 'Failed',
        error: { code: 'LIMIT', message: 'So far.' },
        took: { turns: 50, ms: 61_000, tokens: 1000, files: 0 },
      },
      'error ends: LIMIT: So far. It took 50 turns, 1 min 1 s, 1,000 tokens.',
    ],
    [{ phase: 'WaitingUser', error: { code: 'LLM_INCOMPLETE', message: 'Cut.' } }, 'warn rests: LLM_INCOMPLETE: Cut.'],
  ],
  chunk: [[{ content: said }, undefined]],
  request: [
    [{ model: 'gpt' }, 'info asking gpt'],
    [
      { model: 'gpt', asked: 'openai/gpt', host: 'api.example.com', node: 'n', sent },
      'info asking openai/gpt at api.example.com for node n: 12 messages, 23 tools, about 11,500 tokens',
    ],
  ],
  progress: [
    [{ text: 'Starting the server.' }, 'info Starting the server.'],
    [{ text: 'Waiting for a place.', until: 3500 }, 'info Waiting for a place. (2.5 s)'],
    [{ text: 'Loading', fraction: 0.5 }, undefined],
    [{ text: 'Slow down', until: 3500, attempt: 2 }, undefined],
  ],
  pausing: [[{}, 'info the person wants it to rest after this turn']],
  question: [
    [
      {
        toolCallId: 'a',
        question: { id: 'q', what: 'Run a\u202ecommand', where: '/home/ada/p', why: said, command: 'make' },
      },
      'info call [a] asks: Run a⟨U+202E⟩command (~/p): `make`',
    ],
  ],
  'tool-output': [[{ toolCallId: 'a', text: said }, undefined]],
};

const hide = (text: string) => text.replaceAll('/home/ada', '~').replaceAll('user:hush@', '').replaceAll('=hush', '=…');
const lineOfBody = (body: object) => logLineOf({ runId: 'run-1', seq: 1, at: 1000, ...body } as RunEvent, hide);

describe('what the log says of an event', () => {
  it('has a case of each type', () => assert.deepEqual(Object.keys(cases).sort(), [...runEventTypes].sort()));

  for (const [type, told] of Object.entries(cases))
    for (const [event, line] of told)
      it(`${type}: ${line ?? 'nothing'}`, () => {
        const given = lineOfBody({ type, ...event });
        assert.equal(given && `${given.level} ${given.text}`, line);
        assert.ok(!given?.text.includes('business'), 'what is said is nobody’s business');
      });

  for (const before of [940, 941])
    it(`a command that is a file is cut after whole characters, keys are hidden before (${before})`, () => {
      const reads = `${'x'.repeat(before)} /home/ada ${'😀'.repeat(200)}`;
      const { text } = lineOfBody({ type: 'tool-start', toolCallId: 'a', name: 'shell.run', reads })!;
      assert.match(text, /x ~ 😀+…$/u);
      assert.ok(text.length <= 1001 && text.length >= 1000);
    });
});
