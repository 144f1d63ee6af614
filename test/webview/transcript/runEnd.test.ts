import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { ErrorInfo } from '../../../src/protocol/content/messages.ts';
import { toToolResult } from '../../../src/protocol/content/tools.ts';
import { intentOfPanelAction, type PanelAction } from '../../../src/protocol/panel/intents.ts';
import { viewMessageSchema } from '../../../src/protocol/panel/panelMessages.ts';
import type { RunEventBody } from '../../../src/protocol/run/events.ts';
import {
  type RunEndAction,
  runEndActions,
  runEndActionsByCommand,
  runEndNotice,
  runEndPresentationsByErrorCode,
  runEndPresentationsByReason,
} from '../../../webview/transcript/runEnd.ts';
import { begin, concludes, reads, runOf } from '../conversation.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  contributes: { commands: { command: string; title: string }[] };
};

const endedWith = (error: ErrorInfo, ...more: RunEventBody[]) =>
  runEndNotice(runOf('run-1', [...begin, ...more, { type: 'phase', phase: 'Failed', error }]));

describe('Every end of a run', () => {
  const sample = 'Something of the provider.';
  for (const [name, error] of [
    ...Object.keys(runEndPresentationsByErrorCode).map((code) => [code, { code, message: sample }] as const),
    ...Object.keys(runEndPresentationsByReason).map(
      (reason) => [reason, { code: 'UNKNOWN', message: sample, reason }] as const,
    ),
  ])
    it(`${name} has a sentence in words, and ways out that the host knows`, () => {
      const end = endedWith(error)!;
      assert.doesNotMatch(end.says, /[_{}]|\b[A-Z]{2,}_[A-Z]/);
      if (name !== 'ENGINE_BUSY') assert.ok(end.ways.length > 0, 'a run that rests can be gone on with, somehow');
      assert.equal(new Set(end.ways).size, end.ways.length);
      for (const way of end.ways) isHandled(way);
    });

  function isHandled(way: RunEndAction): void {
    const act = runEndActions[way];
    if (typeof act === 'string') return; // the message box, `open-output` and `review-files`
    viewMessageSchema.parse(act);
    if (act.type !== 'action') return;
    const command = intentOfPanelAction(act.action).id;
    const isOurs = manifest.contributes.commands.some((one) => one.command === command);
    assert.ok(isOurs || command.startsWith('workbench.'), `${way} leads to ${command}`);
  }

  describe('of a workflow that the editor’s end interrupted', () => {
    const node = 'deploy';
    const closed: RunEventBody = {
      type: 'phase',
      phase: 'WaitingUser',
      error: { code: 'ENGINE_ABORTED', message: 'x' },
    };
    const begun = (id: string): RunEventBody[] => [
      { type: 'approval', toolCallId: id, decision: 'allow', waitedMs: 1 },
      { type: 'tool-start', toolCallId: id, name: 'shell.run' },
    ];
    const endAt = (...events: RunEventBody[]) => runEndNotice(runOf('run-1', [...begin, ...events, closed]))!;

    it('offers to continue after it or to run it again, neither first', () => {
      const { says, ways, labels, tone } = endAt({ type: 'node', node, status: 'start' }, ...begun('deploy:1:0'));
      assert.match(says, /^“deploy” was interrupted at \d\d:\d\d.*\. It may have run\.$/);
      assert.deepEqual([tone, ways], ['warning', ['Continue After…', 'Run Again']]);
      assert.deepEqual(Object.values(labels!), ['Continue After “deploy”…', 'Run “deploy” Again']);
      for (const way of ways) isHandled(way);
    });

    it('counts the items of a list, and leaves out those that have an outcome', () => {
      const items = [0, 1, 2].flatMap((index): RunEventBody[] => [
        { type: 'node', node: `deploy[${index}]`, branch: `deploy[${index}]`, status: 'start', state: {}, of: 10 },
        ...begun(`deploy[${index}]:1:0`),
      ]);
      const done: RunEventBody = {
        type: 'tool-end',
        toolCallId: 'deploy[2]:1:0',
        name: 'shell.run',
        ok: true,
        ms: 1,
        outcome: { data: 1 },
      };
      const { says, labels } = endAt({ type: 'node', node, status: 'start' }, ...items, done);
      assert.equal(says, '2 of 10 items were interrupted. They may have run.');
      assert.deepEqual(Object.values(labels!), ['Continue After Them…', 'Run Them Again']);
    });

    it('says that it finished where its end is on record', () => {
      const end: RunEventBody = {
        type: 'tool-end',
        toolCallId: 'deploy:1:0',
        name: 'shell.run',
        ok: true,
        ms: 1,
        outcome: { data: {} },
      };
      const { says, ways } = endAt({ type: 'node', node, status: 'start' }, ...begun('deploy:1:0'), end);
      assert.deepEqual([says, ways], ['“deploy” finished before the window closed.', ['Continue']]);
    });

    it('decides nothing before the files are looked at', () => {
      const start: RunEventBody = {
        type: 'tool-start',
        toolCallId: 'deploy:1:0',
        name: 'fs.write',
        changes: [{ path: 'a', before: null, after: 'x' }],
      };
      const { ways } = endAt({ type: 'node', node, status: 'start' }, begun('deploy:1:0')[0]!, start);
      assert.deepEqual(ways, ['Continue']);
    });
  });

  it('a command that an error links is its first button, whatever its message says', () => {
    const links = sources(path.join(root, 'src')).flatMap((text) => [
      ...text.matchAll(/commands: \[('towpath\.[^\]]*)\]/g),
    ]);
    const commands = new Set(links.flatMap(([, ids]) => [...ids!.matchAll(/'([^']*)'/g)].map(([, id]) => id!)));
    assert.ok(commands.size > 4);
    for (const command of commands) {
      const way = runEndActionsByCommand[command];
      assert.ok(way, `${command} has a button`);
      const end = endedWith({ code: 'UNKNOWN', message: 'Another sentence.', links: { commands: [command] } })!;
      assert.equal(end.ways[0], way);
      const act = runEndActions[way] as { action: PanelAction };
      assert.ok(
        manifest.contributes.commands.some((one) => one.command === command),
        command,
      );
      assert.ok(intentOfPanelAction(act.action).id === command || act.action === 'try-another-model', command);
    }
  });

  it('a command and a setting that the message of an earlier version names have their buttons', () => {
    for (const [title, way] of [
      ['Set API Key', 'Set API Key'],
      ['Set Secret of a Header', 'Set Secret…'],
      ['Forget API Key', 'Delete API Key'],
      ['Use an Endpoint', 'Connect to a Provider…'],
      ['Pick Model…', 'Pick Model'],
      ['Manage Models…', 'Manage Models…'],
    ] as const) {
      const message = `The setting towpath.providers is wrong. Run *Towpath: ${title}*.`;
      const { ways, setting } = endedWith({ code: 'UNKNOWN', message })!;
      assert.deepEqual([ways[0], setting], [way, 'towpath.providers']);
    }
  });

  for (const [what, error, expected] of [
    [
      'a refused key',
      { code: 'LLM_AUTH_FAILED', message: 'OpenAI (api.openai.com) rejected the API key. Run *Towpath: Set API Key*.' },
      ['error', ['Set API Key', 'Retry', 'Retry With…']],
    ],
    [
      'a model of the editor that is not allowed, where no key helps',
      { code: 'LLM_AUTH_FAILED', message: 'The editor does not let Towpath use gpt: no.' },
      ['error', ['Retry', 'Retry With…']],
    ],
    [
      'an answer that is cut off, which is no error',
      { code: 'LLM_INCOMPLETE', reason: 'cut', message: 'The answer is cut off. Continue to let it go on.' },
      ['', ['Continue']],
    ],
    [
      'a stream that broke',
      { code: 'LLM_INCOMPLETE', message: 'The answer broke off.' },
      ['error', ['Retry', 'Retry With…']],
    ],
    [
      'an empty reply',
      { code: 'LLM_BAD_RESPONSE', reason: 'empty', message: 'The model returned an empty answer.' },
      ['', ['Retry With…', 'Retry']],
    ],
    [
      'an unknown model',
      { code: 'LLM_HTTP_ERROR', reason: 'other-model', message: 'OpenAI answered 404.' },
      ['error', ['Pick Model', 'Retry']],
    ],
    [
      'a full window',
      { code: 'LLM_CONTEXT_OVERFLOW', message: "The conversation is longer than the model's context window." },
      ['warning', ['New Run with Summary', 'Pick Model']],
    ],
    [
      'a record that another window has',
      { code: 'STORE_LOCKED', message: 'This run is in progress in another window.' },
      ['warning', ['Take Over']],
    ],
    [
      'a code of a later version, and of a node’s tool',
      { code: 'TOOL_EXEC_FAILED', message: 'Node test: it failed.' },
      ['error', ['Retry']],
    ],
  ] as const)
    it(`${what}: ${expected[1].join(' · ')}`, () => {
      const { tone, ways } = endedWith(error)!;
      assert.deepEqual([tone, ways], expected);
    });

  it('a window that is full says what fills most of it', () => {
    const filling = { total: 31_800, size: 32_800, instructions: 1200, tools: 2600, words: 900, output: 21_000, answers: 6100, summary: 0, leftOut: 0 }; // biome-ignore format: short
    const usage = { promptTokens: 31_800, completionTokens: 0, totalTokens: 31_800 };
    const error = {
      code: 'LLM_CONTEXT_OVERFLOW',
      message: "The conversation is longer than the model's context window.",
    };
    assert.equal(
      endedWith(error, { type: 'usage', usage, attempts: 1, model: 'm', ms: 1, filling })!.says,
      "The conversation is longer than the model's context window. Mostly: files and output (about 21.0k) and answers (about 6.1k).",
    );
    assert.equal(endedWith(error)!.says, error.message);
  });

  it('a loop names the call by what it is about, and how often', () => {
    const details = { name: 'shell.run', arguments: { command: 'npm test' }, times: 3 };
    const message =
      'The same call failed 3 times: shell.run {"command":"npm test"}. Say what to do instead, or continue.';
    assert.equal(
      endedWith({ code: 'ENGINE_LOOP_DETECTED', message, details })!.says,
      'The same call failed 3 times without a change in between: “npm test”. Change the instructions, or continue.',
    );
    assert.doesNotMatch(endedWith({ code: 'ENGINE_LOOP_DETECTED', message })!.says, /\{/, 'a record of before');
  });

  const planCall = {
    id: 'call-plan',
    name: 'plan.update',
    arguments: {
      items: [
        { text: 'Read', status: 'done' },
        { text: 'Edit', status: 'active' },
        { text: 'Test', status: 'pending' },
      ],
    },
  };
  const plans: RunEventBody[] = [
    { type: 'message', message: { role: 'assistant', content: '', toolCalls: [planCall] } },
    { type: 'tool-end', toolCallId: planCall.id, name: planCall.name, ok: true, ms: 1 },
  ];
  it('a stop says what of the plan is left', () => {
    assert.equal(
      endedWith({ code: 'ENGINE_ABORTED', message: 'Stopped.' }, ...plans)!.says,
      'Stopped · 2 of 3 of the plan left',
    );
    assert.equal(endedWith({ code: 'ENGINE_ABORTED', message: 'Stopped.' })!.says, 'Stopped.');
  });

  it('a work that is done has a receipt when it changed or ran something, and none for mere words', () => {
    const does: RunEventBody[] = [
      ...reads,
      { type: 'tool-start', toolCallId: 'c1', name: 'fs.write' },
      {
        ...{ type: 'tool-end', toolCallId: 'c1', name: 'fs.write', ok: true, ms: 1 },
        changes: [{ path: 'a.ts', before: null, after: 'a'.repeat(64) }],
      } as RunEventBody,
      {
        ...{ type: 'tool-start', toolCallId: 'c2', name: 'shell.run' },
        command: { line: 'npm test', folder: '/', marker: 'm' },
      } as RunEventBody,
      { type: 'tool-end', toolCallId: 'c2', name: 'shell.run', ok: true, ms: 1 },
    ];
    const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2, cost: 0.04 };
    const paid: RunEventBody = { type: 'usage', usage, attempts: 1, model: 'm', ms: 1 };
    const run = runOf('run-1', [...begin, ...does, paid, ...concludes]);
    assert.match(runEndNotice(run)!.says, /^Done · 1 file · 1 command · \$0\.04 · \d+ s$/);
    assert.deepEqual(runEndNotice(run)!.ways, ['Review']);
    const told = toToolResult('c1', { ok: true, data: { path: 'a.ts', added: 1200, removed: 2 } });
    const counts: RunEventBody = { type: 'message', message: { role: 'tool', content: '', toolResults: [told] } };
    const counted = [...begin, ...does, counts, paid, ...concludes];
    assert.match(runEndNotice(runOf('run-1', counted))!.says, /^Done · 1 file \+1,200 −2 · 1 command/);
    const folder = { path: 'new', before: null, after: 'f', afterKind: 'folder' as const };
    const made = does.map((one) =>
      one.type === 'tool-end' && one.toolCallId === 'c2'
        ? { ...one, changes: [folder, { ...folder, path: 'new/b.ts', afterKind: 'file' as const }] }
        : one,
    );
    assert.match(
      runEndNotice(runOf('run-1', [...begin, ...made, ...concludes]))!.says,
      /^Done · 2 files · 1 command · /,
    );
    const undo = { toolCallIds: ['c1'], changes: [{ path: 'a.ts', before: 'a'.repeat(64), after: null }] };
    assert.match(runEndNotice(runOf('run-1', [...counted, { type: 'undo', ...undo }]))!.says, /^Done · 1 command · /);
    assert.equal(runEndNotice(runOf('run-1', [...begin, ...reads, ...concludes])), undefined);
    const more = runOf('run-1', [...begin, ...does, paid, ...concludes, ...begin.slice(2), ...concludes]);
    assert.equal(runEndNotice(more), undefined, 'what was done before was told before');
  });
});

/** The text of every source below a folder. */
function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'utf8'));
}
