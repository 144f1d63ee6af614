import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sha256 } from '../../../src/tools/sandbox/fileText.ts';
import { PackageRunStateDocument } from '../../../src/workflows/package/document.ts';
import { loadPackage } from '../../../src/workflows/package/load.ts';
import { createMountedWorkspace } from '../../../src/workflows/package/mounts.ts';
import { createPackageRunStateText } from '../../../src/workflows/package/state.ts';
import { isPackageWorkflowComplete } from '../../../src/workflows/package/transitions.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { type Conversation, conversation } from '../../tools/conversation.ts';
import { writePackage } from './sample.ts';

/** At `judge`, with `ask` done. */
const document = `---
tone: warm # stays
currentNodeId: judge
stepsCompleted: [ask]
variables: {}
decisionLog: []
artifacts: []
updatedAt: 2026-01-01T00:00:00Z
---

# Notes
`;
const edited = (oldText: string, newText: string) => ({ edits: [{ oldText, newText }] });
const frontmatter = (values: Record<string, unknown>) => ({ frontmatter: values });
const file = '@state/workflow.md';

const fromJudge = [
  { id: 'ask', label: 'not good' },
  { id: 'done', label: 'good' },
];
const transition = (reason: string) => ({ reason, currentNodeId: 'judge', allowedNext: fromJudge });

const refused: [what: string, tool: string, args: object, code: string, details?: object | undefined][] = [
  [
    'a transition along no edge',
    'fs.edit',
    edited('currentNodeId: judge', 'currentNodeId: nowhere'),
    'E_INVALID_TRANSITION',
    transition('UNKNOWN_NODE'),
  ],
  [
    'an unknown node by frontmatter',
    'fs.apply_patch',
    frontmatter({ currentNodeId: 'judge2' }),
    'E_INVALID_TRANSITION',
    transition('UNKNOWN_NODE'),
  ],
  [
    'an unknown node among the steps',
    'fs.apply_patch',
    frontmatter({ stepsCompleted: ['ask', 'asked'] }),
    'E_INVALID_TRANSITION',
    transition('UNKNOWN_NODE'),
  ],
  [
    'steps that shrink',
    'fs.apply_patch',
    frontmatter({ stepsCompleted: { set: ['judge'] } }),
    'E_INVALID_TRANSITION',
    transition('STEPS_SHRINK'),
  ],
  [
    'steps that are taken away',
    'fs.apply_patch',
    frontmatter({ stepsCompleted: { remove: ['ask'] } }),
    'E_INVALID_TRANSITION',
    transition('STEPS_SHRINK'),
  ],
  [
    'steps that are emptied',
    'fs.apply_patch',
    frontmatter({ stepsCompleted: [] }),
    'E_INVALID_TRANSITION',
    transition('STEPS_SHRINK'),
  ],
  ['no frontmatter', 'fs.write', { content: 'All done!\n' }, 'E_INVALID_FRONTMATTER'],
  ['YAML that is none', 'fs.edit', edited('variables: {}', 'variables: {'), 'E_INVALID_FRONTMATTER'],
  [
    'a key that occurs twice',
    'fs.edit',
    edited('variables: {}', 'variables: {}\nvariables: {}'),
    'E_INVALID_FRONTMATTER',
  ],
  [
    'frontmatter that is not closed',
    'fs.write',
    { content: document.replace('---\n\n', '\n') },
    'E_INVALID_FRONTMATTER',
  ],
  ['a book', 'fs.write', { content: `${document}${'x'.repeat(200_000)}` }, 'E_WRITE_LIMIT'],
  [
    'a transition along no edge, in other letters',
    'fs.write',
    { path: '@state/Workflow.MD', content: document.replace('judge', 'nowhere') },
    'E_INVALID_TRANSITION',
    transition('UNKNOWN_NODE'),
  ],
  [
    'a transition along no edge, by a patch',
    'fs.apply_patch',
    { patch: '@@\n-currentNodeId: judge\n+currentNodeId: nowhere\n' },
    'E_INVALID_TRANSITION',
    transition('UNKNOWN_NODE'),
  ],
  [
    'a whole text that leaves steps out',
    'fs.write',
    { content: document.replace('[ask]', '[]') },
    'E_INVALID_TRANSITION',
    transition('STEPS_SHRINK'),
  ],
  [
    'a stale version of the whole text',
    'fs.write',
    { content: document.replace('judge', 'done'), ifMatchSha256: sha256('another') },
    'E_PRECONDITION_FAILED',
  ],
  [
    'a list for a map',
    'fs.apply_patch',
    frontmatter({ variables: ['a'] }),
    'E_SCHEMA_VALIDATION',
    { problems: ['variables: expected record, received array'] },
  ],
  [
    'no current node',
    'fs.edit',
    edited('currentNodeId: judge\n', ''),
    'E_SCHEMA_VALIDATION',
    { problems: ['currentNodeId: expected string, but it is missing'] },
  ],
  [
    'a time that is none',
    'fs.apply_patch',
    frontmatter({ updatedAt: 'just now' }),
    'E_SCHEMA_VALIDATION',
    { problems: ['updatedAt: expected a date and time'] },
  ],
  [
    'a stale version',
    'fs.apply_patch',
    { ...frontmatter({ currentNodeId: 'done' }), ifMatchSha256: sha256('another') },
    'E_PRECONDITION_FAILED',
  ],
  ['its deletion', 'fs.delete', {}, 'E_SANDBOX_VIOLATION', { reason: 'STATE' }],
  ['its move', 'fs.move', { from: file, to: '@state/old.md' }, 'E_SANDBOX_VIOLATION', { reason: 'STATE' }],
];

const accepted: [what: string, tool: string, args: object, state: object][] = [
  [
    'a step along an edge',
    'fs.apply_patch',
    frontmatter({ currentNodeId: 'done', stepsCompleted: ['ask', 'judge'] }),
    { currentNodeId: 'done', stepsCompleted: ['ask', 'judge'] },
  ],
  ['a way back', 'fs.edit', edited('currentNodeId: judge', 'currentNodeId: ask'), { currentNodeId: 'ask' }],
  [
    'no step at all',
    'fs.apply_patch',
    {
      ...frontmatter({ variables: { mood: 'good' }, decisionLog: [{ node: 'judge', why: 'kind' }] }),
      ifMatchSha256: sha256(document),
    },
    { variables: { mood: 'good' }, decisionLog: [{ node: 'judge', why: 'kind' }] },
  ],
  [
    'the whole document',
    'fs.write',
    { content: document.replace('# Notes', '# Other notes').replace('judge', 'done') },
    { currentNodeId: 'done' },
  ],
];

describe('the state document', () => {
  let outer: string;
  let workspace: TemporaryWorkspace;
  let state: PackageRunStateDocument;
  let talk: Conversation;
  const landed: string[] = [];
  const onDisk = () => readFileSync(path.join(outer, 'state', 'workflow.md'), 'utf8');
  beforeEach(async () => {
    outer = realpathSync(mkdtempSync(path.join(tmpdir(), 'state-')));
    const source = await loadPackage(writePackage(path.join(outer, 'package')));
    const graph = source.workflows[0]!.graph;
    workspace = await temporaryWorkspace();
    await PackageRunStateDocument.open(
      path.join(outer, 'state'),
      graph,
      createPackageRunStateText(undefined, graph.entryNodeId, new Date(0)),
    );
    writeFileSync(path.join(outer, 'state', 'workflow.md'), document);
    state = await PackageRunStateDocument.open(
      path.join(outer, 'state'),
      graph,
      createPackageRunStateText(undefined, graph.entryNodeId, new Date(0)),
    );
    landed.length = 0;
    const mounted = createMountedWorkspace(workspace, source.folder, state, async () => void landed.push(onDisk()));
    talk = conversation(mounted, { answer: 'allow' });
  });
  afterEach(() => {
    workspace.cleanup();
    rmSync(outer, { recursive: true });
  });

  for (const [what, tool, args, code, details] of refused)
    it(`refuses ${what}: ${code}, and stays as it is`, async () => {
      const before = state.state;
      const outcome = await talk.call(tool, tool === 'fs.move' ? args : { path: file, ...args });
      assert.ok(!outcome.ok);
      assert.deepEqual({ code: outcome.error.code, details: outcome.error.details }, { code, details });
      assert.equal(onDisk(), document);
      assert.equal(state.state, before);
      assert.deepEqual(readdirSync(path.join(outer, 'state')), ['workflow.md']);
      assert.deepEqual(landed, []);
    });

  it('says in words what is allowed next', async () => {
    const outcome = await talk.call('fs.apply_patch', { path: file, ...frontmatter({ currentNodeId: 'x' }) });
    assert.ok(!outcome.ok);
    assert.equal(
      outcome.error.message,
      'There is no node "x". The current node is "judge"; allowed next: ask (not good), done (good). Nothing was written.',
    );
  });

  for (const [what, tool, args, expected] of accepted)
    it(`takes ${what} without a question`, async () => {
      const { updatedAt: _, ...before } = state.state;
      const outcome = await talk.call(tool, { path: file, ...args });
      assert.equal(outcome.ok, true, JSON.stringify(outcome));
      const { updatedAt: __, ...after } = state.state;
      assert.deepEqual(after, { ...before, ...expected });
      assert.deepEqual(talk.asked, []);
      assert.deepEqual(landed, [onDisk()]);
      assert.ok(onDisk().includes('tone: warm # stays'));
    });

  it('refuses a document whose aliases unfold without end', async () => {
    const levels = Array.from(
      { length: 9 },
      (_, level) => `a${level + 1}: &a${level + 1} [${`*a${level},`.repeat(9)}]`,
    );
    const bomb = document.replace('tone:', `a0: &a0 x\n${levels.join('\n')}\ntone:`);
    const outcome = await talk.call('fs.write', { path: file, content: bomb });
    assert.equal(!outcome.ok && outcome.error.code, 'E_INVALID_FRONTMATTER');
    assert.equal(onDisk(), document);
  });

  it('takes back an earlier text of the person’s choice, along no edge, but none that is no state', async () => {
    const before = document.replace('judge', 'ask').replace('[ask]', '[]');
    await state.restore(before);
    assert.deepEqual([onDisk(), state.state.currentNodeId, state.state.stepsCompleted], [before, 'ask', []]);
    for (const [text, code] of [
      ['gone', 'E_INVALID_FRONTMATTER'],
      [document.replace('judge', 'nowhere'), 'E_INVALID_TRANSITION'],
      [document.replace('variables: {}', 'variables: 1'), 'E_SCHEMA_VALIDATION'],
    ] as const)
      await assert.rejects(state.restore(text), { code });
    assert.equal(onDisk(), before);
  });

  const ends: [current: string, completed: string[], variables: object, complete: boolean][] = [
    ['done', ['ask', 'judge', 'done'], {}, true],
    ['done', ['ask', 'judge'], {}, false],
    ['judge', ['ask', 'judge', 'done'], {}, false],
    ['ask', [], { workflowStatus: 'complete' }, true],
    ['ask', [], { workflowStatus: 'completed' }, false],
    ['ask', [], { workflowStatus: true }, false],
  ];
  for (const [currentNodeId, stepsCompleted, variables, complete] of ends)
    it(`is ${complete ? '' : 'not '}the end at ${currentNodeId} after ${stepsCompleted} with ${JSON.stringify(variables)}`, async () => {
      const { graph } = (await loadPackage(path.join(outer, 'package'))).workflows[0]!;
      assert.equal(
        isPackageWorkflowComplete(graph, {
          ...state.state,
          currentNodeId,
          stepsCompleted,
          variables: { ...variables },
        }),
        complete,
      );
    });

  it('is missed when it is gone', async () => {
    rmSync(path.join(outer, 'state', 'workflow.md'));
    const { graph } = (await loadPackage(path.join(outer, 'package'))).workflows[0]!;
    await assert.rejects(PackageRunStateDocument.open(path.join(outer, 'state'), graph), { code: 'ENOENT' });
  });

  it('is not used when somebody else has damaged it', async () => {
    writeFileSync(path.join(outer, 'state', 'workflow.md'), document.replace('judge', 'gone'));
    const { graph } = (await loadPackage(path.join(outer, 'package'))).workflows[0]!;
    await assert.rejects(
      PackageRunStateDocument.open(
        path.join(outer, 'state'),
        graph,
        createPackageRunStateText(undefined, graph.entryNodeId, new Date(0)),
      ),
      {
        code: 'E_INVALID_TRANSITION',
      },
    );
  });
});
