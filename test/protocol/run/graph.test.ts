import assert from 'node:assert/strict';
import type { RunEvent, RunEventBody } from '../../../src/protocol/run/events.ts';
import { applyEvent } from '../../../src/protocol/run/fold.ts';
import { newRun } from '../../../src/protocol/run/run.ts';

const fold = (...bodies: RunEventBody[]) => {
  const run = newRun('r');
  for (const [index, body] of bodies.entries())
    applyEvent(run, { ...body, runId: 'r', seq: index + 1, at: index + 1 } as RunEvent);
  return run;
};
const node = (name: string, status: 'start' | 'step' | 'end' | 'failed' | 'undone', more: object = {}): RunEventBody =>
  ({ type: 'node', node: name, status, ...more }) as RunEventBody;

describe('where a run stands in its workflow', () => {
  it('a node that broke off keeps what was shown of it, until it is begun again', () => {
    const broken = [
      node('a', 'start'),
      node('a', 'failed', { error: { code: 'LLM_INCOMPLETE', message: 'It broke off.' }, output: 'fort' }),
    ];
    const kept = fold(...broken).graph!.nodes.a!;
    assert.deepEqual([kept.status, kept.output], ['failed', 'fort']);
    assert.equal(fold(...broken, node('a', 'start')).graph!.nodes.a!.output, undefined);
  });

  it('of what a node says the newest is kept, and what is left out is marked', () => {
    const chunk = (content: string): RunEventBody => ({ type: 'chunk', node: 'a', content });
    const { live } = fold(node('a', 'start'), chunk('x'.repeat(150_000)), chunk('y'.repeat(150_000)), chunk('end'))
      .graph!.nodes.a!;
    assert.deepEqual([live!.length, live!.slice(0, 2), live!.slice(-4)], [200_001, '…x', 'yend']);
  });

  it('is the node that has not ended, with the values so far', () => {
    const { graph } = fold(
      node('a', 'start', { state: { x: 1 } }),
      node('a', 'end', { state: { y: 2 }, next: ['b'], artifacts: ['n.md', 'n.md'] }),
      node('b', 'start'),
      node('b', 'step', { state: { z: 3 } }),
    );
    assert.deepEqual(JSON.parse(JSON.stringify(graph)), {
      nodes: {
        a: {
          status: 'completed',
          visits: 1,
          startedAt: 1,
          endedAt: 2,
          next: ['b'],
        },
        b: { status: 'running', visits: 1, startedAt: 3 },
      },
      main: { at: ['b'], steps: 1, state: { x: 1, y: 2, z: 3 }, visit: 1 },
      branches: {},
      artifacts: ['n.md'],
    });
  });

  it('is in every branch of a parallel part, each with its own values', () => {
    const { graph } = fold(
      node('a', 'start', { state: { x: 1 } }),
      node('a', 'end', { next: ['b', 'c'], fanIn: 'd' }),
      node('b', 'start', { branch: 'b' }),
      node('c', 'start', { branch: 'c' }),
      node('b', 'end', { branch: 'b', state: { x: 2 }, next: ['d'] }),
    );
    assert.deepEqual(graph?.main, { at: ['b', 'c'], steps: 0, state: { x: 1 }, fanIn: 'd' });
    assert.deepEqual(
      { ...graph?.branches },
      {
        b: { at: [], steps: 0, state: { x: 2 } },
        c: { at: ['c'], steps: 0, state: { x: 1 }, visit: 1 },
      },
    );
  });

  it('is in the branches of branches, each of which begins with the values of the one around it', () => {
    const run = fold(
      node('a', 'start'),
      node('a', 'end', { next: ['b'], fanIn: 'z' }),
      node('b', 'start', { branch: 'b' }),
      node('b', 'end', { branch: 'b', state: { x: 1 }, next: ['c', 'd'], fanIn: 'e' }),
      node('c', 'start', { branch: 'b/c' }),
      { type: 'message', message: { role: 'user', content: 'Look.' }, branch: 'b/c' },
      node('d', 'start', { branch: 'b/d' }),
      node('d', 'end', { branch: 'b/d', state: { y: 2 }, next: ['e'] }),
    );
    const { branches = {} } = run.graph ?? {};
    assert.deepEqual(
      Object.entries(branches).map(([name, { at, fanIn, state }]) => [name, at, fanIn, state]),
      [
        ['b', ['c', 'd'], 'e', { x: 1 }],
        ['b/c', ['c'], undefined, { x: 1 }],
        ['b/d', [], undefined, { x: 1, y: 2 }],
      ],
    );
    assert.deepEqual([branches['b/c']?.messages, run.messages], [[{ role: 'user', content: 'Look.' }], []]);
    applyEvent(run, { runId: 'r', seq: 99, at: 99, ...node('e', 'start', { branch: 'b' }) } as RunEvent);
    assert.deepEqual(Object.keys(branches), ['b'], 'the branches inside have come together');
  });

  it('stays at a node that failed, with its steps', () => {
    const error = { code: 'X', message: 'No.' };
    const { graph } = fold(node('a', 'start'), node('a', 'step'), node('a', 'failed', { error }), node('a', 'start'));
    assert.deepEqual(
      [graph?.main.at, graph?.main.steps, graph?.nodes.a],
      [['a'], 1, { status: 'running', visits: 2, startedAt: 4 }],
    );
  });

  it('is where it was before a node was begun when that is taken back', () => {
    const { graph } = fold(
      node('a', 'start'),
      node('a', 'end', { next: ['b'] }),
      node('b', 'start'),
      node('b', 'end', { next: ['a'] }),
      node('a', 'start'),
      node('a', 'undone'),
      node('b', 'undone'),
    );
    assert.deepEqual({ ...graph?.nodes }, { a: { status: 'completed', visits: 1, startedAt: 5, endedAt: 5 } });
  });

  it('forgets values and files that are not among all there are', () => {
    const { graph } = fold(
      node('a', 'start', { state: { x: 1, y: 1 }, artifacts: ['a.md', 'b.md'] }),
      node('a', 'step', { state: { x: 2 }, artifacts: ['b.md'], whole: true }),
    );
    assert.deepEqual([graph?.main.state, graph?.artifacts], [{ x: 2 }, ['b.md']]);
  });

  it('shows what a node’s model says at the node, not in the conversation', () => {
    const run = fold(
      node('a', 'start'),
      { type: 'chunk', content: 'Hel', node: 'a' },
      { type: 'chunk', content: 'lo', node: 'a' },
    );
    assert.deepEqual([run.live, run.graph?.nodes.a?.live], [undefined, 'Hello']);
  });
});
