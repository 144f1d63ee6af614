import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type AuditEntry, auditEntryOf } from '../../../src/protocol/run/audit.ts';
import type { RunEvent, RunEventBody } from '../../../src/protocol/run/events.ts';
import { runEventTypes } from '../../../src/protocol/run/logLine.ts';
import { readPage } from '../../support/help/pages.ts';

const said = 'The words of a person, which are nobody else’s business.';
const key = 'hush-1234';
const usage = { promptTokens: 12, completionTokens: 3, totalTokens: 15, cachedTokens: 10, cost: 0.5 };
const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const script = `cat > a.sh <<'END'\n${said}\nEND`;

type Body = { [Type in RunEvent['type']]: Extract<RunEventBody, { type: Type }> };
const call = 'a';
const toolCallId = 'a';

/** Undefined: no line. A new type of event does not compile without a case here. */
const cases: { [Type in RunEvent['type']]: [event: Omit<Body[Type], 'type'>, entry: AuditEntry | undefined][] } = {
  'run-start': [
    [
      { workflowId: 'w', agentId: '', model: 'm/x' },
      { kind: 'run', status: 'begins', workflow: 'w', model: 'm/x' },
    ],
  ],
  phase: [
    [{ phase: 'Running' }, { kind: 'run', status: 'at-work' }],
    [
      { phase: 'Failed', error: { code: 'X', message: said } },
      { kind: 'run', status: 'failed', code: 'X' },
    ],
  ],
  model: [
    [{ model: 'm/y' }, { kind: 'run', status: 'model', model: 'm/y' }],
    [
      { model: 'm/y', effort: 'high' },
      { kind: 'run', status: 'model', model: 'm/y', effort: 'high' },
    ],
  ],
  agent: [[{ agentId: 'plan' }, { kind: 'run', status: 'agent', agent: 'plan' }]],
  request: [
    [
      { model: 'x', asked: 'm/x', host: 'h', sent: { messages: 1, tools: 2, tokens: 3 } },
      { kind: 'model-call', status: 'begins', model: 'm/x', host: 'h', sent: { messages: 1, tools: 2, tokens: 3 } },
    ],
  ],
  'task-start': [
    [
      { task: 't', title: said, agent: '', name: 'Explorer', maxSteps: 20 },
      { kind: 'task', status: 'begins', call: 't', agent: 'Explorer' },
    ],
    [
      { task: 't', title: said, agent: '.claude/agents/fixer.md', name: said, maxSteps: 20, mayChange: true },
      { kind: 'task', status: 'begins', call: 't', agent: '.claude/agents/fixer.md', mayChange: true },
    ],
  ],
  'task-message': [
    [{ task: 't', message: { role: 'user', content: said } }, undefined],
    [
      {
        task: 't',
        message: { role: 'assistant', content: said, toolCalls: [{ id: 'a', name: 'fs.write', arguments: {} }] },
      },
      { kind: 'model-call', status: 'answered', calls: [{ call: 't:a', tool: 'fs.write' }] },
    ],
  ],
  'task-end': [
    [
      { task: 't', status: 'done' },
      { kind: 'task', status: 'done', call: 't' },
    ],
    [
      { task: 't', status: 'stopped', limit: 'steps' },
      { kind: 'task', status: 'stopped', call: 't', limit: 'steps' },
    ],
    [
      { task: 't', status: 'failed', error: { code: 'X', message: said } },
      { kind: 'task', status: 'failed', call: 't', code: 'X' },
    ],
  ],
  'interruption-choice': [
    [
      { toolCallIds: ['a'], choice: 'after', result: said },
      { kind: 'answer', to: 'interruption', by: 'person', calls: ['a'], choice: 'after' },
    ],
  ],
  'hold-end': [[{}, undefined]],
  'node-message': [
    [
      {
        node: 'ask',
        conversation: '0',
        callPrefix: 'ask:1:0:',
        message: { role: 'assistant', content: said, toolCalls: [{ id: 'a', name: 'fs.write', arguments: {} }] },
      },
      { kind: 'model-call', status: 'answered', calls: [{ call: 'ask:1:0:a', tool: 'fs.write' }] },
    ],
    [
      {
        node: 'ask',
        conversation: '0',
        callPrefix: 'ask:1:0:',
        message: { role: 'assistant', content: said },
        given: true,
      },
      undefined,
    ],
  ],
  message: [
    [{ message: { role: 'user', content: said } }, undefined],
    [{ message: { role: 'tool', content: '', toolResults: [] } }, undefined],
    [
      {
        message: {
          role: 'assistant',
          content: said,
          thinking: said,
          toolCalls: [
            { id: 'a', name: 'fs.write', arguments: { path: `${key}/b`, content: said } },
            { id: 'b', name: 'x__y', arguments: { path: [said], url: 7, query: said, toString: said } },
          ],
        },
      },
      {
        kind: 'model-call',
        status: 'answered',
        calls: [
          { call: 'a', tool: 'fs.write', path: '[key]/b' },
          { call: 'b', tool: 'x__y' },
        ],
      },
    ],
    [
      { message: { role: 'assistant', content: said, incomplete: true } },
      { kind: 'model-call', status: 'broken-off', calls: [] },
    ],
  ],
  usage: [
    [
      { usage, attempts: 2, model: 'x', asked: 'm/x', ms: 5 },
      {
        kind: 'model-call',
        status: 'counted',
        model: 'm/x',
        ms: 5,
        tries: 2,
        promptTokens: 12,
        completionTokens: 3,
        cachedTokens: 10,
        cost: 0.5,
      },
    ],
  ],
  instructions: [[{ files: [{ path: 'AGENTS.md', text: 'Use tabs.' }] }, undefined]],
  pin: [[{ pinned: true }, undefined]],
  'limit-raise': [
    [
      { of: 'day', more: 5, to: 15 },
      { kind: 'answer', to: 'limit', of: 'day', by: 'person', more: 5, most: 15 },
    ],
  ],
  title: [
    [{ title: said }, undefined],
    [
      { title: said, usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 }, asked: 'm/s' },
      { kind: 'model-call', status: 'counted', model: 'm/s', promptTokens: 1, completionTokens: 2 },
    ],
  ],
  attempt: [
    [
      { attempt: 1, code: 'LLM_TIMEOUT', message: said, waitMs: 7, model: 'x', node: 'n' },
      { kind: 'model-call', status: 'failed', model: 'x', node: 'n', try: 1, code: 'LLM_TIMEOUT', waitMs: 7 },
    ],
  ],
  question: [
    [
      { toolCallId, question: { id: 'q', what: 'Run\u202e it', where: '/p', why: said, command: script } },
      {
        kind: 'question',
        of: 'gate',
        call,
        what: 'Run⟨U+202E⟩ it',
        where: '/p',
        command: "cat > a.sh <<'END'",
        commandSha256: hash(script),
      },
    ],
    [
      {
        toolCallId,
        question: { id: 'q', what: 'Ausführen', where: 'hier', why: said, english: { what: 'Run it', where: '/p' } },
      },
      { kind: 'question', of: 'gate', call, what: 'Run it', where: '/p' },
    ],
  ],
  ask: [
    [
      { toolCallId, questions: [{ question: said, answers: [] }] },
      { kind: 'question', of: 'model', call, questions: 1 },
    ],
  ],
  approval: [
    [
      { toolCallId, name: 't', decision: 'deny', waitedMs: 9, words: said, edited: true },
      {
        kind: 'answer',
        to: 'gate',
        call,
        tool: 't',
        decision: 'deny',
        by: 'person',
        waitedMs: 9,
        edited: true,
        withWords: true,
      },
    ],
    [
      { toolCallId, name: 't', decision: 'allow', waitedMs: 0, automatic: 'It only reads.' },
      { kind: 'answer', to: 'gate', call, tool: 't', decision: 'allow', by: 'rule', why: 'It only reads.' },
    ],
  ],
  answer: [
    [
      { toolCallId, choices: [{ chosen: [0] }], said },
      { kind: 'answer', to: 'model', call, by: 'person', choices: 1, withWords: true },
    ],
  ],
  'tool-start': [
    [
      {
        toolCallId,
        name: 't',
        changes: [{ path: 'a', before: null, after: 'f00' }],
        command: { line: script, folder: '/p', marker: 'secret' },
      },
      {
        kind: 'effect',
        status: 'begins',
        call,
        tool: 't',
        changes: [{ path: 'a', before: null, after: 'f00' }],
        command: "cat > a.sh <<'END'",
        commandSha256: hash(script),
        folder: '/p',
      },
    ],
    [
      { toolCallId, name: 't', reads: `ls ${key}` },
      { kind: 'effect', status: 'begins', call, tool: 't', command: 'ls [key]', commandSha256: hash(`ls ${key}`) },
    ],
  ],
  'tool-end': [
    [
      { toolCallId, name: 't', ok: true, ms: 3, exitCode: 1, moved: { from: 'a', to: 'b' } },
      { kind: 'effect', status: 'done', call, tool: 't', ms: 3, exitCode: 1, moved: { from: 'a', to: 'b' } },
    ],
    [
      { toolCallId, name: 't', ok: false, ms: 3, code: 'TOOL_DENIED' },
      { kind: 'effect', status: 'failed', call, tool: 't', ms: 3, code: 'TOOL_DENIED' },
    ],
    [
      { toolCallId, name: 't', ok: true, ms: 3, background: { id: 'b' } },
      { kind: 'effect', status: 'goes-on', call, tool: 't', ms: 3 },
    ],
    [
      {
        toolCallId,
        name: 't',
        ok: true,
        ms: 3,
        changes: [{ path: `${key}/a`, before: 'f00', after: 'f01', afterMode: 0o644, mixed: true }],
        unrecorded: 'too-many-files',
        lost: [`${key}/b`],
        lostCount: 2,
      },
      {
        kind: 'effect',
        status: 'done',
        call,
        tool: 't',
        ms: 3,
        changes: [{ path: '[key]/a', before: 'f00', after: 'f01', mixed: true }],
        unrecorded: 'too-many-files',
        lost: ['[key]/b'],
        lostCount: 2,
      },
    ],
  ],
  access: [
    [
      { toolCallId, name: 'shell.network', target: { host: 'a.example', port: 443 }, decision: 'allow', waitedMs: 9 },
      {
        kind: 'answer',
        to: 'gate',
        call,
        tool: 'shell.network',
        decision: 'allow',
        host: 'a.example:443',
        by: 'person',
        waitedMs: 9,
      },
    ],
    [
      {
        toolCallId,
        name: 'shell.run',
        target: { paths: ['.vscode/a'] },
        decision: 'deny',
        waitedMs: 0,
        automatic: 'A rule.',
      },
      {
        kind: 'answer',
        to: 'gate',
        call,
        tool: 'shell.run',
        decision: 'deny',
        paths: ['.vscode/a'],
        by: 'rule',
        why: 'A rule.',
      },
    ],
  ],
  'command-changes': [
    [
      { toolCallId, changes: [{ path: 'a', before: null, after: 'f00' }], lost: ['b'] },
      {
        kind: 'effect',
        status: 'command-changed',
        call,
        changes: [{ path: 'a', before: null, after: 'f00' }],
        lost: ['b'],
      },
    ],
  ],
  'command-end': [
    [
      { toolCallId, by: 'itself', exitCode: 3 },
      { kind: 'effect', status: 'command-ended', call, by: 'itself', exitCode: 3 },
    ],
  ],
  redo: [
    [
      { undo: 3, toolCallIds: ['a'], changes: [{ path: 'a', before: null, after: 'f00' }], paths: ['a'], moves: [] },
      {
        kind: 'effect',
        status: 'redone',
        by: 'person',
        calls: ['a'],
        changes: [{ path: 'a', before: null, after: 'f00' }],
      },
    ],
  ],
  undo: [
    [
      { toolCallIds: ['a'], changes: [{ path: 'a', before: 'f00', after: null }] },
      {
        kind: 'effect',
        status: 'undone',
        by: 'person',
        calls: ['a'],
        changes: [{ path: 'a', before: 'f00', after: null }],
      },
    ],
    [
      { toolCallIds: [], changes: [{ path: 'a', before: 'f00', after: null }] },
      {
        kind: 'effect',
        status: 'restored',
        by: 'person',
        calls: [],
        changes: [{ path: 'a', before: 'f00', after: null }],
      },
    ],
  ],
  queued: [[{ text: said }, undefined]],
  'queued-change': [[{ queued: 3, text: said, when: 'done' }, undefined]],
  'queued-remove': [[{ queued: 3 }, undefined]],
  'call-arguments': [
    [
      { toolCallId, arguments: { path: 'a', limit: 1 }, leftOut: ['offset'] },
      { kind: 'model-call', status: 'understood', calls: [{ call: toolCallId, path: 'a' }] },
    ],
  ],
  'approval-request': [
    [
      {
        toolCallId,
        name: 'fs.edit',
        question: { id: 'q', what: 'Edit a', where: '/a', why: 'x' },
        proposed: { location: 'hash' },
      },
      undefined,
    ],
  ],
  'command-start': [[{ toolCallId, process: { pid: 1, began: 'then' } }, undefined]],
  outline: [[{ outline: { nodes: [], edges: [] } as never }, undefined]],
  node: [[{ node: 'n', status: 'start' }, undefined]],
  compaction: [[{ upTo: 1, summary: said }, undefined]],
  mended: [[{ from: 1, to: 2, places: [], damage: said }, undefined]],
  chunk: [[{ content: said }, undefined]],
  progress: [[{ text: said }, undefined]],
  pausing: [[{}, undefined]],
  'tool-output': [[{ toolCallId, text: said }, undefined]],
};

describe('what the audit says of an event', () => {
  const page = readPage('audit');

  it('has a case of each type', () => assert.deepEqual(Object.keys(cases).sort(), [...runEventTypes].sort()));

  for (const [type, told] of Object.entries(cases))
    for (const [event, entry] of told)
      it(`${type}: ${entry ? `${entry.kind} ${entry.status ?? ''}` : 'nothing'}`, () => {
        const given = auditEntryOf({ runId: 'run-1', seq: 1, at: 0, type, ...event } as RunEvent, {
          hide: (text) => text.replaceAll(key, '[key]'),
          sha256: hash,
        });
        assert.deepEqual(given, entry);
        assert.ok(!JSON.stringify(given ?? '').match(/business|hush|secret/), 'contents are nobody’s business');
        for (const name of Object.keys(entry ?? {})) assert.match(page, new RegExp(`\`${name}\``), 'is on the page');
      });

  it('a command is cut after whole characters, and keys are looked for before', () => {
    const reads = `${'x'.repeat(297)}${key}${'😀'.repeat(20)}`;
    const event = { runId: 'r', seq: 1, at: 0, type: 'tool-start', toolCallId, name: 't', reads } as RunEvent;
    const { command } = auditEntryOf(event, { hide: (text) => text.replaceAll(key, '😀😀😀😀'), sha256: hash })!;
    assert.equal(command, `${'x'.repeat(297)}😀😀😀`);
  });
});
