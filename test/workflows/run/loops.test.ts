import assert from 'node:assert/strict';
import type { EngineResult } from '../../../src/engine/core/runResult.ts';
import { RunStore } from '../../../src/runs/store.ts';
import { eventually } from '../../support/eventually.ts';
import { reply } from '../../support/provider.ts';
import { unsaid } from '../../support/unsaid.ts';
import { Stage } from '../stage.ts';

describe('a step that wants what is so already', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const write = (more = '') =>
    `nodes:\n  - {name: write, uses: fs.write, with: {path: out/a.md, content: "hello\\n"}, output: written${more}}\n`;
  const written = async () => (await stage.state()).written as Record<string, unknown>;

  it('fs.write has written it, and says whether it changed anything', async () => {
    stage = await Stage.of(write());
    await stage.start();
    const { sha256, ...first } = await written();
    assert.deepEqual(first, { path: 'out/a.md', created: true, added: 1, removed: 0, changed: true });
    await stage.end();

    stage = await Stage.of(write(), [], { files: { 'out/a.md': 'hello\n' } });
    assert.equal((await stage.start()).phase, 'Completed');
    assert.deepEqual(await written(), {
      path: 'out/a.md',
      sha256,
      created: false,
      added: 0,
      removed: 0,
      changed: false,
    });
    assert.deepEqual([stage.questions, stage.workspace.effects], [[], []], 'nobody is asked, and nothing is written');
    assert.equal((await stage.kept()).graph!.artifacts.length, 0);
  });

  it('file.write of the dialect, too', async () => {
    stage = await Stage.of(write().replace('fs.write', 'file.write'), [], { files: { 'out/a.md': 'hello\n' } });
    await stage.start();
    assert.deepEqual(await written(), { path: 'out/a.md', success: true });
  });

  it('fs.write of a text that the editor has put in its form on saving', async () => {
    const unformatted = write().replace('hello', 'hello;  ');
    stage = await Stage.of(unformatted, [], { files: { 'out/a.md': 'hello;\n' } });
    stage.workspace.onSave = (text) => text.replaceAll(/ +$/gm, '');
    assert.equal((await stage.start()).error, undefined);
    const { changed, changedOnSave } = await written();
    assert.deepEqual([changed, typeof changedOnSave], [false, 'string']);
  });

  it('edits, patches and a frontmatter that have been made', async () => {
    stage = await Stage.of(
      `
nodes:
  - name: both
    steps:
      - {uses: fs.edit, with: {path: a.md, edits: [{oldText: "text", newText: "text"}]}, output: same}
      - {uses: fs.edit, with: {path: a.md, edits: [{oldText: "one line", newText: "a line of more than twenty"}]}, output: edited}
      - {uses: fs.apply_patch, with: {patch: "--- a/a.md\\n+++ b/a.md\\n@@ -5 +5 @@\\n-one line\\n+a line of more than twenty\\n"}, output: patched}
      - {uses: fs.apply_patch, with: {path: a.md, frontmatter: {n: 1}}, output: set}
`,
      [],
      { files: { 'a.md': '---\nn: 1\n---\ntext\na line of more than twenty\n' } },
    );
    assert.equal((await stage.start()).error, undefined);
    const { input: _, ...state } = (await stage.kept()).graph!.main.state as Record<string, { changed: boolean }>;
    const changed = Object.entries(state).map(([key, { changed }]) => [key, changed]);
    assert.deepEqual(
      changed,
      ['same', 'edited', 'patched', 'set'].map((key) => [key, false]),
    );
    assert.deepEqual([stage.questions, stage.workspace.effects], [[], []]);
  });

  it('is not so where one of several edits has been made, or where nothing is known of it', async () => {
    const edit = (...edits: [string, string][]) =>
      `nodes: [{name: e, uses: fs.edit, with: {path: a.md, edits: ${JSON.stringify(edits.map(([oldText, newText]) => ({ oldText, newText })))}}}]`;
    const made: [string, string] = ['one line', 'a line of more than twenty'];
    const cases: [string, string][][] = [
      [made, ['other', 'another']],
      [['gone', 'new']],
      [['gone', '']],
      [['gone', 'gone']],
    ];
    for (const edits of cases) {
      stage = await Stage.of(edit(...edits), [], { files: { 'a.md': `${made[1]}\nother new\n` } });
      assert.equal((await stage.start()).error?.code, 'E_PRECONDITION_FAILED', JSON.stringify(edits));
      await stage.end();
    }
    stage = await Stage.of('nodes: [{name: only}]');
  });

  it('of several items at once, in a folder that none of them found', async () => {
    const list = Array.from({ length: 8 }, (_, index) => `${index}`);
    stage = await Stage.of(
      `nodes: [{name: all, foreach: ${JSON.stringify(list)}, uses: fs.write, with: {path: "new/deep/{{ item }}.md", content: x}}]`,
    );
    assert.deepEqual((await stage.start()).error, undefined);
    assert.deepEqual(
      stage.workspace.effects.toSorted(),
      list.map((one) => `write new/deep/${one}.md`),
    );
  });

  it('is refused all the same where it may not write', async () => {
    stage = await Stage.of(write(), [], { files: { 'out/a.md': 'hello\n' } });
    stage.workspace.trusted = false;
    assert.equal((await stage.start()).error?.code, 'TOOL_NOT_AVAILABLE');
  });

  it('fails where what it is to change is not there, with the tool’s own words', async () => {
    stage = await Stage.of('nodes:\n  - {name: gone, uses: fs.delete, with: {path: a.md}}\n');
    assert.equal((await stage.start()).error?.code, 'ENOENT');
  });

  it('a model hears that it is so already', async () => {
    stage = await Stage.of(
      'nodes: [{name: work, agent: {instructions: Work.}, prompt: Work.}]',
      [reply.call('fs_write', { path: 'out/a.md', content: 'hello\n' }), reply.text('I see.')],
      { files: { 'out/a.md': 'hello\n' } },
    );
    await stage.start();
    const { content } = stage.provider.requests.at(-1)!.body.messages.at(-1)!;
    assert.match(content!, /already holds exactly this text/);
  });

  it('the same flow can run twice', async () => {
    const notes = `
nodes:
  - {name: ask, uses: llm.call, with: {messages: [{role: user, content: Notes?}]}, output: notes}
  - {name: save, uses: fs.write, with: {path: notes.md, content: "{{ state.notes.content }}"}}
  - {name: stamp, uses: fs.apply_patch, with: {path: notes.md, frontmatter: {done: true}}}
  - {name: copy, uses: file.write, with: {path: copy.md, content: "{{ state.notes.content }}"}}
`;
    stage = await Stage.of(notes, () => reply.text('# Notes\n'));
    const run = () => stage.engine.start({ runId: RunStore.newId(), workflowId: 'flow', userInput: 'go' });
    for (let time = 0; time < 3; time++) assert.deepEqual((await run()).error, undefined);
    assert.equal(stage.workspace.read('copy.md'), '# Notes\n');
  });
});

describe('a step that was killed after it had its effect, and before anybody recorded it', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const cases: [
    what: string,
    change: 'writeText' | 'move' | 'delete',
    step: string,
    result: Record<string, unknown>,
    files: Record<string, string>,
  ][] = [
    [
      'fs.write',
      'writeText',
      'uses: fs.write, with: {path: new.md, content: x}',
      { path: 'new.md', created: true, added: 1, removed: 0 },
      { 'new.md': 'x' },
    ],
    [
      'fs.edit that takes a line away',
      'writeText',
      'uses: fs.edit, with: {path: a.md, edits: [{oldText: "two\\n", newText: ""}]}',
      { path: 'a.md', matched: 'exact', added: 0, removed: 1 },
      { 'a.md': 'one\nthree\n' },
    ],
    [
      'fs.apply_patch',
      'writeText',
      'uses: fs.apply_patch, with: {patch: "--- a/a.md\\n+++ b/a.md\\n@@ -1,3 +1,3 @@\\n one\\n-two\\n+2\\n three\\n"}',
      { path: 'a.md', matched: 'exact', created: false, added: 1, removed: 1 },
      { 'a.md': 'one\n2\nthree\n' },
    ],
    [
      'fs.move of a text',
      'move',
      'uses: fs.move, with: {from: a.md, to: b.md}',
      { path: 'b.md', from: 'a.md' },
      { 'b.md': 'one\ntwo\nthree\n' },
    ],
    [
      'fs.move of a folder',
      'move',
      'uses: fs.move, with: {from: folder, to: other}',
      { path: 'other', from: 'folder' },
      { 'other/x': 'x' },
    ],
    ['fs.delete of a file', 'delete', 'uses: fs.delete, with: {path: a.md}', { path: 'a.md', deleted: true }, {}],
    [
      'fs.delete of a folder',
      'delete',
      'uses: fs.delete, with: {path: folder}',
      { path: 'folder', deleted: true, files: 1 },
      {},
    ],
  ];
  const flow = (step: string) => `
nodes:
  - {name: work, ${step}, output: result}
  - {name: after, uses: state.set, with: {path: "{{ state.result.path }}"}}
`;
  const files = { 'a.md': 'one\ntwo\nthree\n', 'folder/x': 'x' };

  for (const [what, change, step, expected, left] of cases)
    it(`goes on with the next Continue: ${what}`, async () => {
      stage = await Stage.of(flow(step), [], { files });
      await stage.crashAfter(change, () => stage.start());
      const effects = stage.workspace.effects.length;
      assert.deepEqual(await stage.continue(), { success: true, phase: 'Completed', assistantText: null });
      const { result, path } = (await stage.state()) as { result: Record<string, unknown>; path: string };
      const { sha256: _, ...given } = result;
      assert.deepEqual([given, path], [{ ...expected, changed: true }, expected.path]);
      assert.deepEqual(
        [stage.workspace.effects.length, stage.questions.length],
        [effects, 1],
        'nothing was done again',
      );
      for (const [file, text] of Object.entries(left)) assert.equal(stage.workspace.read(file), text);
    });

  it('asks where its file is another one by now', async () => {
    stage = await Stage.of(flow('uses: fs.write, with: {path: new.md, content: x}'));
    await stage.crashAfter('writeText', () => stage.start());
    stage.workspace.write('new.md', 'mine');
    assert.equal((await stage.continue()).error?.code, 'TOOL_INTERRUPTED');
    stage.answers = [{ decision: 'deny' }];
    assert.equal((await stage.choose('again')).error?.code, 'TOOL_INTERRUPTED', 'a no leaves it open');
    assert.equal((await stage.choose('after', { path: 'new.md' })).phase, 'Completed');
    assert.equal(stage.workspace.read('new.md'), 'mine');
  });

  it('does what the file says now, where that is something else', async () => {
    stage = await Stage.of(flow('uses: fs.move, with: {from: a.md, to: b.md}'), [], { files });
    await stage.crashAfter('move', () => stage.start());
    stage.rewrite(flow('uses: fs.move, with: {from: b.md, to: c.md}'));
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.deepEqual(stage.workspace.effects, ['move a.md b.md', 'move b.md c.md']);
  });

  it('in the steps of a node and the rounds of a loop: only what is left is done', async () => {
    stage = await Stage.of(`
initial_state: {n: 0}
nodes:
  - name: work
    type: while_loop
    condition: state.n < 3
    max_iterations: 9
    body:
      - {run: {type: expression, value: state.n + 1, output_key: n}}
      - {uses: fs.write, with: {path: "{{ state.n }}.md", content: x}}
`);
    for (let round = 0; round < 3; round++)
      await stage.crashAfter('writeText', () => (round === 0 ? stage.start() : stage.continue()));
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.deepEqual(stage.workspace.effects, ['write 1.md', 'write 2.md', 'write 3.md']);
  });

  it('at another attempt, and of an item of a list', async () => {
    const move =
      'uses: fs.move, with: {from: "{{ item }}.md", to: "{{ item }}/x.md"}, on_error: {retry: 2, wait: 0.01}';
    stage = await Stage.of(`nodes: [{name: work, foreach: [b, a], max_workers: 1, ${move}, output: moved}]`, [], {
      files,
    });
    stage.workspace.write('b.md', 'x');
    await stage.crashAfter('move', async () => {
      const failing = stage.workspace.move;
      let first = true;
      stage.workspace.move = (...args) => {
        if (!first) return failing(...args);
        first = false;
        return Promise.reject(new Error('The disk is busy.'));
      };
      return stage.start();
    });
    assert.deepEqual(stage.workspace.effects, ['move b.md b/x.md']);
    assert.deepEqual((await stage.continue()).error, undefined);
    assert.deepEqual(stage.workspace.effects, ['move b.md b/x.md', 'move a.md a/x.md']);
    const moved = (await stage.state()).moved as { path: string; changed: boolean }[];
    assert.deepEqual(
      moved.map(({ path, changed }) => [path, changed]),
      [
        ['b/x.md', true],
        ['a/x.md', true],
      ],
    );
  });

  it('is judged again when it is killed again', async () => {
    stage = await Stage.of(flow('uses: fs.move, with: {from: a.md, to: b.md}'), [], { files });
    stage.answers = ['wait'];
    const running = stage.start();
    await eventually('it asks', () => stage.events.some((event) => event.type === 'question'));
    await stage.crash(running);
    await stage.crashAfter('move', () => stage.continue());
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.deepEqual(stage.workspace.effects, ['move a.md b.md']);
  });
});

describe('a step that was stopped while it had its effect', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  for (const [what, node] of [
    ['the only one of its node', 'uses: fs.move, with: {from: a.md, to: b.md}'],
    ['one of several', 'steps: [{uses: fs.move, with: {from: a.md, to: b.md}}, {uses: state.set, with: {done: true}}]'],
  ] as const)
    it(`is done, and is not done again: ${what}`, async () => {
      stage = await Stage.of(`nodes: [{name: work, ${node}}, {name: last, uses: state.set, with: {ok: true}}]`, [], {
        files: { 'a.md': 'x' },
      });
      const { move } = stage.workspace;
      stage.workspace.move = async (...args) => {
        void stage.engine.stop(stage.runId);
        await move(...args);
      };
      assert.equal((await stage.start()).error?.code, 'ENGINE_ABORTED');
      await stage.engine.stop(stage.runId);
      assert.equal((await stage.continue()).error, undefined);
      assert.equal((await stage.state()).ok, true);
      assert.deepEqual(stage.workspace.effects, ['move a.md b.md']);
    });
});

describe('branches that were interrupted side by side', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const wait = (file: string) =>
    `uses: shell.run, with: {command: 'node -e "setTimeout(Object, 60000)" ${file}', timeoutSeconds: 100}`;

  it('rest one by one, while others go on', async () => {
    stage = await Stage.of(`
nodes:
  - {name: begin}
  - {name: a, ${wait('a')}, output: r}
  - {name: after_a, uses: state.set, with: {said: "{{ state.r.version }}"}}
  - {name: b, ${wait('b')}, output: r}
  - {name: c, uses: state.set, with: {c: 1}}
  - {name: join, uses: state.set, with: {all: "{{ parallel_results }}"}}
edges:
  - {from: begin, to: a, parallel: true, fan_in: join}
  - {from: a, to: after_a}
  - {from: after_a, to: join}
  - {from: begin, to: b, parallel: true, fan_in: join}
  - {from: begin, to: c, parallel: true, fan_in: join}
`);
    const running = stage.start();
    const begun = () => stage.events.filter(({ type }) => type === 'tool-start').length;
    await eventually('both run', () => begun() === 2 && stage.steps.includes('end c'));
    await stage.crash(running);
    const rests = async (next: Promise<EngineResult>, node: string) => {
      const { phase, error } = await next;
      const message = `“${node}” was interrupted. It may have run.`;
      assert.deepEqual([phase, unsaid(error)], ['WaitingUser', { code: 'TOOL_INTERRUPTED', message }]);
    };
    await rests(stage.continue(), 'a');
    await rests(stage.continue(), 'a');
    await rests(stage.continue('It is done, go on.'), 'a');
    await rests(stage.choose('after', { version: '1.2' }), 'b');
    assert.ok(stage.steps.includes('end after_a'), 'the branch that was decided about goes on');
    stage.presets.set(stage.runId, 'autopilot');
    await rests(stage.continue(), 'b');
    assert.equal((await stage.choose('after')).phase, 'Completed');
    const { all } = (await stage.state()) as { all: Record<string, unknown>[] };
    assert.deepEqual(
      all.map(({ r, said, c }) => [r, said, c]),
      [
        [{ version: '1.2' }, '1.2', undefined],
        [null, undefined, undefined],
        [undefined, undefined, 1],
      ],
    );
    assert.equal(stage.questions.length, 2, 'nothing ran again');
  });

  it('say once what is the same for all', async () => {
    stage = await Stage.of(`
nodes:
  - {name: begin}
  - {name: a, ${wait('a')}}
  - {name: b, ${wait('b')}}
  - {name: join}
edges:
  - {from: begin, to: a, parallel: true, fan_in: join}
  - {from: begin, to: b, parallel: true, fan_in: join}
`);
    const running = stage.start();
    await eventually('both run', () => stage.events.filter(({ type }) => type === 'tool-start').length === 2);
    await stage.engine.stop(stage.runId);
    assert.deepEqual(unsaid((await running).error), { code: 'ENGINE_ABORTED', message: 'Stopped.' });
  });
});

describe('a workflow that was killed right after its last node', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  it('tells its result when it goes on, asks no model about it, and can be talked to then', async () => {
    stage = await Stage.of('nodes: [{name: ask, uses: llm.call, with: {messages: [{role: user, content: hi}]}}]', [
      reply.text('Hello.'),
      reply.text('You are welcome.'),
    ]);
    await stage.crashAt(({ type, ...event }) => type === 'node' && 'status' in event && event.status === 'end');
    assert.deepEqual(await stage.continue(), { success: true, phase: 'Completed', assistantText: 'Hello.' });
    assert.deepEqual(await stage.continue(), { success: true, phase: 'Completed', assistantText: 'Hello.' });
    assert.equal(stage.provider.requests.length, 1);
    assert.equal((await stage.continue('Thanks.')).assistantText, 'You are welcome.');
  });
});
