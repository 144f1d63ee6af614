import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { PackageRunStateDocument } from '../../../src/workflows/package/document.ts';
import { loadPackage } from '../../../src/workflows/package/load.ts';
import { createMountedWorkspace } from '../../../src/workflows/package/mounts.ts';
import { describeStateValueLoss, mergePackageRunState } from '../../../src/workflows/package/update.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { type Conversation, conversation } from '../../tools/conversation.ts';
import { writePackage } from './sample.ts';

/** At `judge`, with `ask` done, and something in everything. */
const document = `---
tone: warm # stays
currentNodeId: judge
stepsCompleted: [ask]
variables:
  to: Ada
  limits: { words: 100, pages: 1 }
  drafts: [one, two]
decisionLog:
  - from: ask
    to: judge
artifacts: [a.md]
updatedAt: 2026-01-01T00:00:00Z
---

# Notes
`;
const variables = { to: 'Ada', limits: { words: 100, pages: 1 }, drafts: ['one', 'two'] };
const log = [{ from: 'ask', to: 'judge' }];

/** An update, and what is another afterwards. */
const taken: [what: string, update: object, after: object][] = [
  ['a new variable', { variables: { from: 'Bob' } }, { variables: { ...variables, from: 'Bob' } }],
  ['another value of one', { variables: { to: 'Eve' } }, { variables: { ...variables, to: 'Eve' } }],
  [
    'a part of a map in it',
    { variables: { limits: { words: 50 } } },
    { variables: { ...variables, limits: { words: 50, pages: 1 } } },
  ],
  [
    'a new item of a list in it',
    { variables: { drafts: ['three'] } },
    { variables: { ...variables, drafts: ['one', 'two', 'three'] } },
  ],
  [
    'all of a list in it, and one more',
    { variables: { drafts: ['one', 'two', 'three'] } },
    { variables: { ...variables, drafts: ['one', 'two', 'three'] } },
  ],
  [
    'all as it stands, and one more of everything',
    { variables: { ...variables, x: 1 }, decisionLog: [...log, { note: 'b' }], artifacts: ['a.md', 'b.md'] },
    { variables: { ...variables, x: 1 }, decisionLog: [...log, { note: 'b' }], artifacts: ['a.md', 'b.md'] },
  ],
  ['a new artifact', { artifacts: ['b.md'] }, { artifacts: ['a.md', 'b.md'] }],
  ['one artifact without a list', { artifacts: 'b.md' }, { artifacts: ['a.md', 'b.md'] }],
  ['an artifact that is there, and a new one', { artifacts: ['a.md', 'b.md'] }, { artifacts: ['a.md', 'b.md'] }],
  ['a decision', { decisionLog: [{ note: 'b' }] }, { decisionLog: [...log, { note: 'b' }] }],
  ['the new step alone', { stepsCompleted: ['judge'] }, { stepsCompleted: ['ask', 'judge'] }],
  [
    'what another host’s protocol says',
    {
      stepsCompleted: { append: ['judge'] },
      variables: { set: { from: 'Bob', to: 'Eve' } },
      currentNodeId: { set: 'done' },
      decisionLog: { append: [{ from: 'judge', to: 'done' }] },
      artifacts: { append: ['b.md'] },
      updatedAt: { set: '2026-02-01T00:00:00Z' },
    },
    {
      stepsCompleted: ['ask', 'judge'],
      variables: { ...variables, from: 'Bob', to: 'Eve' },
      currentNodeId: 'done',
      decisionLog: [...log, { from: 'judge', to: 'done' }],
      artifacts: ['a.md', 'b.md'],
      updatedAt: '2026-02-01T00:00:00Z',
    },
  ],
  ['a decision like one before', { decisionLog: { append: log } }, { decisionLog: [...log, ...log] }],
  ['one item to be appended', { decisionLog: { append: { note: 'b' } } }, { decisionLog: [...log, { note: 'b' }] }],
  ['a list that begins', { variables: { seen: { append: ['x'] } } }, { variables: { ...variables, seen: ['x'] } }],
  [
    'another list in its place',
    { variables: { drafts: { set: ['three'] } } },
    { variables: { ...variables, drafts: ['three'] } },
  ],
  [
    'another map in its place',
    { variables: { limits: { set: { lines: 3 } } } },
    { variables: { ...variables, limits: { lines: 3 } } },
  ],
  [
    'whole values, each by its name',
    { variables: { set: { limits: { lines: 3 }, drafts: [] } } },
    { variables: { ...variables, limits: { lines: 3 }, drafts: [] } },
  ],
  [
    'a name that goes',
    { variables: { remove: ['to'] } },
    { variables: { limits: variables.limits, drafts: variables.drafts } },
  ],
  [
    'a name that goes in a map',
    { variables: { limits: { remove: 'pages' } } },
    { variables: { ...variables, limits: { words: 100 } } },
  ],
  [
    'an item that goes and one that comes',
    { artifacts: { remove: ['a.md'], append: ['b.md'] } },
    { artifacts: ['b.md'] },
  ],
  ['all of a list that goes', { artifacts: { set: [] } }, { artifacts: [] }],
  ['a key of its own that goes', { remove: ['tone'] }, { tone: undefined }],
  [
    'keys that are set, which loses nothing of theirs',
    { set: { variables: { x: 1 }, tone: 'cold' } },
    { variables: { ...variables, x: 1 }, tone: 'cold' },
  ],
  [
    'data that looks like an update',
    { variables: { plan: { set: { remove: ['x'] } } } },
    { variables: { ...variables, plan: { remove: ['x'] } } },
  ],
];

const edited = (oldText: string, newText: string) => ({ edits: [{ oldText, newText }] });
const update = (frontmatter: object) => ({ frontmatter });
const write = (from: string, to: string) => ({ content: document.replace(from, to) });
const lost: [what: string, tool: string, args: object, lost: string[]][] = [
  [
    'no variables',
    'fs.apply_patch',
    update({ variables: {} }),
    ['variables.to', 'variables.limits', 'variables.drafts'],
  ],
  ['a word for a list', 'fs.apply_patch', update({ variables: { drafts: 'none' } }), ['variables.drafts']],
  ['nothing for a map', 'fs.apply_patch', update({ variables: { limits: null } }), ['variables.limits']],
  ['no artifacts', 'fs.apply_patch', update({ artifacts: [] }), ['"a.md" of artifacts']],
  ['a whole text without a variable', 'fs.write', write('  to: Ada\n', ''), ['variables.to']],
  ['a whole text without a name in a map', 'fs.write', write(', pages: 1', ''), ['variables.limits.pages']],
  ['a whole text with a shorter list', 'fs.write', write('[one, two]', '[two, three]'), ['"one" of variables.drafts']],
  [
    'an edit without a decision',
    'fs.edit',
    edited('decisionLog:\n  - from: ask\n    to: judge', 'decisionLog: []'),
    ['{"from":"ask","to":"judge"} of decisionLog'],
  ],
  ['an edit without a key of its own', 'fs.edit', edited('tone: warm # stays\n', ''), ['tone']],
  [
    'a patch without an artifact',
    'fs.apply_patch',
    { patch: '@@\n-artifacts: [a.md]\n+artifacts: [b.md]\n' },
    ['"a.md" of artifacts'],
  ],
];

const unclear: [what: string, update: object, message: RegExp][] = [
  [
    'a name that is not there',
    { variables: { remove: ['too'] } },
    /^frontmatter\.variables\.remove: there is no "too" in it\. Did you mean "to"\. Nothing/,
  ],
  ['an item that is not there', { artifacts: { remove: ['b.md'] } }, /there is no "b\.md" in it/],
  [
    'a removal from a word',
    { variables: { to: { remove: ['A'] } } },
    /variables\.to\.remove: it is no list and no map/,
  ],
  ['a removal of nothing', { variables: { remove: [] } }, /remove: give a list of names/],
  ['an item for a word', { variables: { to: { append: ['x'] } } }, /variables\.to\.append: it is no list/],
  ['an item for a map', { variables: { append: ['x'] } }, /variables\.append: it is no list/],
  [
    'all of a map set to nothing',
    { variables: { set: {} } },
    /variables\.set: it names nothing; \{"remove": \[…\]\} names what goes/,
  ],
  ['no key at all', {}, /give at least one key/],
];

describe('an update of the state document', () => {
  let outer: string;
  let workspace: TemporaryWorkspace;
  let state: PackageRunStateDocument;
  let talk: Conversation;
  const onDisk = () => readFileSync(path.join(outer, 'state', 'workflow.md'), 'utf8');
  beforeEach(async () => {
    outer = realpathSync(mkdtempSync(path.join(tmpdir(), 'update-')));
    const source = await loadPackage(writePackage(path.join(outer, 'package')));
    const { graph } = source.workflows[0]!;
    workspace = await temporaryWorkspace({ 'notes.md': '---\ntags: [a, b]\nabout: { x: 1 }\n---\nText\n' });
    await PackageRunStateDocument.open(path.join(outer, 'state'), graph, document);
    state = await PackageRunStateDocument.open(path.join(outer, 'state'), graph);
    talk = conversation(
      createMountedWorkspace(workspace, source.folder, state, async () => {}),
      { answer: 'allow' },
    );
  });
  afterEach(() => {
    workspace.cleanup();
    rmSync(outer, { recursive: true });
  });
  const apply = (tool: string, args: object) => talk.call(tool, { path: '@state/workflow.md', ...args });

  for (const [what, given, after] of taken)
    it(`takes ${what}, and keeps what it does not name`, async () => {
      const before = state.state;
      const outcome = await apply('fs.apply_patch', update(given));
      assert.equal(outcome.ok, true, JSON.stringify(outcome));
      const expected: Record<string, unknown> = { ...before, ...after };
      for (const [key, value] of Object.entries(after)) if (value === undefined) delete expected[key];
      assert.deepEqual(state.state, expected);
      const { state: again } = await PackageRunStateDocument.open(path.join(outer, 'state'), state.graph);
      assert.deepEqual(again, expected, 'as it is on disk');
    });

  for (const [what, tool, args, names] of lost)
    it(`refuses ${what}: it would lose ${names.join(', ')}`, async () => {
      const outcome = await apply(tool, args);
      assert.ok(!outcome.ok);
      const { code, details, message } = outcome.error;
      assert.deepEqual([code, details], ['E_INVALID_TRANSITION', { reason: 'STATE_SHRINKS', lost: names }]);
      assert.match(message, /give only what is new; \{"set": …\}.*\{"remove": \[…\]\}.*Nothing was written\.$/);
      assert.equal(onDisk(), document);
    });

  for (const [what, given, message] of unclear)
    it(`refuses ${what}, in words`, async () => {
      const outcome = await apply('fs.apply_patch', update(given));
      assert.ok(!outcome.ok);
      assert.equal(outcome.error.code, 'TOOL_ARGS_INVALID');
      assert.match(outcome.error.message, message);
      assert.equal(onDisk(), document);
    });

  it('that says what stands there already changes nothing', async () => {
    const outcome = await apply('fs.apply_patch', update({ artifacts: ['a.md'], variables: { to: 'Ada' } }));
    assert.equal(!outcome.ok && outcome.error.code, 'E_PRECONDITION_FAILED');
    assert.equal(onDisk(), document);
  });

  it('keeps the words beside what it does not name', async () => {
    await apply('fs.apply_patch', update({ variables: { from: 'Bob' }, artifacts: ['b.md'] }));
    assert.ok(
      onDisk().startsWith('---\ntone: warm # stays\ncurrentNodeId: judge\nstepsCompleted: [ask]\nvariables:\n'),
    );
    assert.ok(onDisk().endsWith('\n---\n\n# Notes\n'));
  });

  it('is not what frontmatter of any other file gets: there a key is set', async () => {
    await talk.call('fs.apply_patch', { path: 'notes.md', frontmatter: { tags: ['c'], about: { y: 2 } } });
    assert.equal(workspace.read('notes.md'), '---\ntags:\n  - c\nabout:\n  y: 2\n---\nText\n');
    await talk.call('fs.write', { path: '@state/other.md', content: '---\ntags: [a]\n---\n' });
    await talk.call('fs.apply_patch', { path: '@state/other.md', frontmatter: { tags: ['c'] } });
    assert.equal(readFileSync(path.join(outer, 'state', 'other.md'), 'utf8'), '---\ntags:\n  - c\n---\n');
  });

  it('by the person takes back what the model has added', async () => {
    await apply('fs.apply_patch', update({ variables: { from: 'Bob' } }));
    await state.restore(document);
    assert.equal(onDisk(), document);
    writeFileSync(path.join(outer, 'state', 'workflow.md'), document.replace('  to: Ada\n', ''));
    const outcome = await apply('fs.apply_patch', update({ variables: { from: 'Bob' } }));
    assert.equal(outcome.ok, true, 'what the person has taken out of the file is not missed');
    assert.deepEqual(Object.keys(state.state.variables), ['limits', 'drafts', 'from']);
  });

  const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean());
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.array(leaf, { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c', 'set', 'remove', '__proto__'), tie('value'), { maxKeys: 3 }),
    ),
  }));
  const values = fc.dictionary(fc.constantFrom('variables', 'artifacts', 'own', 'more'), value);

  it('loses nothing that it does not say, whatever stands there and whatever it says', () => {
    fc.assert(
      fc.property(values, values, (before, given) => {
        let made: ReturnType<typeof mergePackageRunState>;
        try {
          made = mergePackageRunState(before, given);
        } catch (error) {
          return (error as Error).name === 'ToolError';
        }
        const after: Record<string, unknown> = { ...before, ...made.values };
        const unnamed = Object.keys(before).filter(
          (key) => !(key in given) && !('set' in given) && !('remove' in given),
        );
        for (const key of unnamed) assert.deepEqual(after[key], before[key]);
        const isSaid = (place: string) => made.drops.some((drop) => place === drop || place.startsWith(`${drop}.`));
        // What is lost without a word is found out, and refused, when it is written.
        const found = describeStateValueLoss(before, after, made.drops).length > 0;
        for (const place of namesOf(before))
          if (!isSaid(place.join('.')) && !isThere(after, place)) assert.ok(found, place.join('.'));
        return true;
      }),
      { numRuns: 500 },
    );
  });
});

/** The names in a map and in the maps in it, each with the way to it. */
const namesOf = (value: unknown, path: string[] = []): string[][] =>
  typeof value !== 'object' || value === null || Array.isArray(value)
    ? []
    : Object.entries(value).flatMap(([key, one]) => [[...path, key], ...namesOf(one, [...path, key])]);

function isThere(value: unknown, [name, ...rest]: string[]): boolean {
  if (name === undefined) return true;
  return Object.hasOwn(Object(value), name) && isThere((value as Record<string, unknown>)[name], rest);
}
