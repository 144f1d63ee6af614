import { failedToolOutcome, toToolResult } from '../../src/protocol/content/tools.ts';
import type { PanelState } from '../../src/protocol/panel/panelMessages.ts';
import type { RunEvent, RunEventBody } from '../../src/protocol/run/events.ts';
import { applyEvent } from '../../src/protocol/run/fold.ts';
import type { Run } from '../../src/protocol/run/run.ts';
import { newRun } from '../../src/protocol/run/run.ts';

/** Events of one run in order, a second apart, the last of them now. */
export function eventsOf(runId: string, bodies: RunEventBody[], from = 0): RunEvent[] {
  const now = Date.now();
  return bodies.map((body, index) => ({
    ...body,
    runId,
    seq: from + index + 1,
    at: now - (bodies.length - 1 - index) * 1000,
  })) as RunEvent[];
}

export function runOf(runId: string, bodies: RunEventBody[]): Run {
  const run = newRun(runId);
  for (const event of eventsOf(runId, bodies)) applyEvent(run, event);
  return run;
}

export const readyState: PanelState = {
  models: [
    { id: 'local/demo', label: 'Demo model', detail: 'Follows a script, in this process' },
    { id: 'openai-compatible/qwen3-coder', label: 'Qwen3 Coder', detail: 'http://127.0.0.1:8080/v1' },
  ],
  modelId: 'openai-compatible/qwen3-coder',
  modelChosen: true,
  agent: 'Work',
  preset: 'reads-free',
  presetOfRun: false,
  commands: [],
  workspace: { open: true, trusted: true, name: 'sample' },
};

const question = {
  id: 'question-1',
  what: 'Edit src/cli.ts',
  where: '/home/ada/sample/src/cli.ts',
  why: 'It changes a file of the workspace.',
};

export const begin: RunEventBody[] = [
  { type: 'run-start', workflowId: 'chat', agentId: 'default', model: 'qwen3-coder' },
  { type: 'title', title: 'Add a --json flag' },
  { type: 'message', message: { role: 'user', content: 'Add a `--json` flag to the CLI and a test for it.' } },
  { type: 'phase', phase: 'Running' },
];

export const readCall = { id: 'call-read', name: 'fs.read', arguments: { path: 'src/cli.ts' } };
export const editCall = {
  id: 'call-edit',
  name: 'fs.edit',
  arguments: { path: 'src/cli.ts', edits: [{ old: 'print(rows)', new: 'print(json ? encode(rows) : rows)' }] },
};
export const testCall = { id: 'call-test', name: 'shell.run', arguments: { command: 'npm test -- --grep json' } };

/** The model reads a file. */
export const reads: RunEventBody[] = [
  {
    type: 'message',
    message: {
      role: 'assistant',
      thinking: 'The flag belongs where the arguments are parsed. **First** I read that file.',
      content: 'I will look at the command line first.',
      toolCalls: [readCall],
    },
  },
  { type: 'approval', toolCallId: readCall.id, decision: 'allow', waitedMs: 0, automatic: 'Reads are free.' },
  { type: 'tool-start', toolCallId: readCall.id, name: readCall.name },
  { type: 'tool-end', toolCallId: readCall.id, name: readCall.name, ok: true, ms: 12 },
  {
    type: 'message',
    message: {
      role: 'tool',
      content: '',
      toolResults: [
        toToolResult(readCall.id, {
          ok: true,
          data: { path: 'src/cli.ts', lines: 2, content: 'const rows = load();\nprint(rows);\n' },
        }),
      ],
    },
  },
];

/** It wants to edit that file, and the person is asked. */
export const asks: RunEventBody[] = [
  {
    type: 'message',
    message: {
      role: 'assistant',
      content:
        'The rows are printed in one place, so the flag is one line:\n\n```ts\nprint(json ? encode(rows) : rows);\n```\n',
      toolCalls: [editCall, testCall],
    },
  },
  { type: 'question', toolCallId: editCall.id, question },
];

export const allowsEdit: RunEventBody[] = [
  { type: 'approval', toolCallId: editCall.id, decision: 'allow-run', waitedMs: 2000 },
  { type: 'tool-start', toolCallId: editCall.id, name: editCall.name },
  {
    type: 'tool-end',
    toolCallId: editCall.id,
    name: editCall.name,
    ok: true,
    ms: 40,
    changes: [{ path: 'src/cli.ts', before: 'a'.repeat(64), after: 'b'.repeat(64) }],
  },
];

export const runsTests: RunEventBody[] = [
  { type: 'approval', toolCallId: testCall.id, decision: 'allow', waitedMs: 1500 },
  { type: 'tool-start', toolCallId: testCall.id, name: testCall.name },
  { type: 'tool-output', toolCallId: testCall.id, text: '> sample@1.0.0 test\n> mocha --grep json\n\n' },
  { type: 'tool-output', toolCallId: testCall.id, text: '  \u001b[32m✔\u001b[0m prints rows as JSON\n' },
];

export const testsFail: RunEventBody[] = [
  { type: 'tool-end', toolCallId: testCall.id, name: testCall.name, ok: false, ms: 3400, code: 'TOOL_EXEC_FAILED' },
  {
    type: 'message',
    message: {
      role: 'tool',
      content: '',
      toolResults: [
        toToolResult(editCall.id, { ok: true, data: { path: 'src/cli.ts', replaced: 1 } }),
        toToolResult(
          testCall.id,
          failedToolOutcome('TOOL_EXEC_FAILED', 'The command ended with code 1.', { exitCode: 1 }),
        ),
      ],
    },
  },
];

export const concludes: RunEventBody[] = [
  { type: 'chunk', thinking: 'One test is ' },
  { type: 'chunk', thinking: 'missing.' },
  { type: 'chunk', content: '## Done\n\nThe flag works; ' },
  { type: 'chunk', content: '**one test** fails, see [the test](test/cli.test.ts:12).\n\n' },
  {
    type: 'message',
    message: {
      role: 'assistant',
      thinking: 'One test is missing.',
      content: '## Done\n\nThe flag works; **one test** fails, see [the test](test/cli.test.ts:12).\n\n',
    },
  },
  {
    type: 'usage',
    usage: { promptTokens: 11_800, completionTokens: 540, totalTokens: 12_340 },
    attempts: 1,
    model: 'qwen3-coder',
    ms: 8000,
  },
  { type: 'phase', phase: 'WaitingUser' },
];
