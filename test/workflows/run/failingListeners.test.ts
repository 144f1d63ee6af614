import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { EngineResult } from '../../../src/engine/core/runResult.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLives, comparable, type FailingListener, type Life } from '../../support/failingListener.ts';
import { reply } from '../../support/provider.ts';
import { tries } from '../../support/tries.ts';
import { Stage } from '../stage.ts';

const yaml = `
initial_state: {n: 0, made: null, spoken: null}
nodes:
  - {name: fork}
  - {name: left, uses: fs.write, with: {path: left, content: one}, output: made}
  - {name: right, foreach: [x, y], uses: fs.write, with: {path: "right-{{ item }}", content: two}}
  - {name: coder, agent: coder, prompt: Write c., output: spoken}
  - {name: fails, uses: fs.read, with: {path: nowhere}, on_error: {continue: true}}
  - {name: join, uses: state.set, with: {n: "{{ parallel_results | length }}"}}
  - name: tools
    uses: llm.tools
    with: {messages: [{role: user, content: Write d.}], tools: [fs.write]}
  - {name: wait, uses: shell.run, with: {command: 'while [ ! -e go ]; do sleep 0.05; done'}}
edges:
  - {from: fork, to: left, parallel: true, fan_in: join}
  - {from: fork, to: right, parallel: true, fan_in: join}
  - {from: fork, to: coder, parallel: true, fan_in: join}
  - {from: fork, to: fails, parallel: true, fan_in: join}
  - {from: join, to: tools}
  - {from: tools, to: wait}
`;

/** A workflow with parallel branches, an agent, a list and a model with tools, which is stopped, continued, and undone. */
async function live(listener: FailingListener): Promise<Life> {
  const stage = await Stage.of(yaml, ({ messages }) => {
    const last = messages.at(-1)!;
    if (last.role === 'tool') return reply.text('Done.');
    const name = /Write (\w)\./.exec(JSON.stringify(last))?.[1] ?? 'e';
    return reply.call('fs_write', { path: name, content: name });
  });
  stage.agent('coder', 'instructions: You code.\ntools: [fs.write]\n');
  stage.build();
  stage.told = listener.tell;
  const { engine, store, runId, workspace } = stage;
  const results: unknown[] = [];
  const add = ({ success, phase, error }: EngineResult) => results.push([success, phase, error?.code]);
  try {
    const work = stage.start();
    await eventually('the command is at work', () => stage.events.some(({ type }) => type === 'command-start'));
    await engine.stop(runId);
    add(await work);
    workspace.write('go', '');
    add(await stage.continue());
    const made = Object.entries((await stage.kept()).calls).flatMap(([id, { changes }]) =>
      changes?.length ? [id] : [],
    );
    results.push(made.length);
    const undone = await engine.undo(runId, { toolCallIds: made }, workspace, async () => 'all');
    results.push('undone' in undone ? undone.undone.toSorted() : undone);
    const undo = (await stage.kept()).undos!.at(-1)!;
    const redone = await engine.undo(runId, { undo: undo.seq }, workspace, async () => 'all');
    results.push('undone' in redone ? redone.undone.toSorted() : redone);
    results.push([engine.liveIds, engine.live(runId)]);
    await (await store.open(runId)).close();
    assert.ok(!existsSync(path.join(stage.folder, 'runs', runId, 'lock')));
    const { events } = await store.events(runId);
    const names = ['left', 'right-x', 'right-y', 'c', 'd'];
    const files = names.map((name) => [name, workspace.exists(name) && workspace.read(name)]);
    return { results, told: [...stage.events], kept: comparable(events), files };
  } finally {
    await stage.end();
  }
}

// Holds listeners-are-isolated.
describe('a workflow with a listener that fails somewhere', () => {
  it('goes on in all of its branches, is stopped, continued, undone and redone as without it', async function () {
    this.timeout(1_200_000); // every event, on a busy machine
    const { types } = await checkLives(live, tries(80, 1, 23), false);
    for (const type of ['node', 'node-message', 'tool-end', 'undo', 'redo'] as const)
      assert.ok(types.includes(type), `${type} is among ${types.join(', ')}`);
  });
});
