import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { ExecutionEngine } from '../../../src/engine/run/engine.ts';
import { type Clock, PanelEventQueue } from '../../../src/extension/view/delivery.ts';
import { createAdapter } from '../../../src/llm/adapter/adapter.ts';
import type { RunEvent } from '../../../src/protocol/run/events.ts';
import { applyEvent } from '../../../src/protocol/run/fold.ts';
import { newRun } from '../../../src/protocol/run/run.ts';
import { RunStore } from '../../../src/runs/store.ts';
import { defaultChatWorkflow } from '../../../src/workflows/run/chatWorkflow.ts';
import { clientFor, cutAt, toStream } from '../../llm/serve.ts';
import { longText } from '../../support/longText.ts';
import { noTools } from '../../support/noTools.ts';
import { reply } from '../../support/reply.ts';
import { tries } from '../../support/tries.ts';

/** Time that passes when the test says so; what is due then happens. */
class TestClock implements Clock {
  private time = 0;
  private timers = new Map<object, { at: number; run: () => void }>();

  now = () => this.time;

  after(ms: number, run: () => void): () => void {
    const key = {};
    this.timers.set(key, { at: this.time + ms, run });
    return () => this.timers.delete(key);
  }

  pass(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      const next = [...this.timers].filter(([, timer]) => timer.at <= end).sort(([, a], [, b]) => a.at - b.at)[0];
      if (!next) break;
      this.timers.delete(next[0]);
      this.time = Math.max(this.time, next[1].at);
      next[1].run();
    }
    this.time = end;
  }
}

interface Sent {
  at: number;
  events: RunEvent[];
}

function delivery(clock = new TestClock()) {
  const sent: Sent[] = [];
  return { clock, sent, view: new PanelEventQueue((events) => sent.push({ at: clock.now(), events }), clock) };
}

/** The most messages that any second saw, wherever it begins. */
function busiestSecond(sent: Sent[]): number {
  let most = 0;
  for (let first = 0, last = 0; last < sent.length; last++) {
    while (sent[last]!.at - sent[first]!.at >= 1000) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

type Body = Omit<Extract<RunEvent, { type: 'chunk' }>, 'runId' | 'seq' | 'at' | 'type'>;
const piece = (seq: number, body: Body): RunEvent => ({ runId: 'r', seq, at: 0, type: 'chunk', ...body });

/** The run as whoever heard these events has it. */
function folded(events: RunEvent[]) {
  const run = newRun('r');
  for (const event of events) applyEvent(run, structuredClone(event));
  return run;
}

describe('events on their way to the panel', () => {
  const count = tries(200_000, 1_000_000);
  it(`S07 ${count} chunks, client to panel: at most 60 messages a second, and every word`, async () => {
    const seconds = 5;
    const { clock, sent, view } = delivery();
    const folder = mkdtempSync(path.join(tmpdir(), 'towpath-flood-'));
    const fetchBefore = globalThis.fetch;
    globalThis.fetch = async () => new Response(toStream(flood(count)), { headers: reply.headers });
    try {
      const client = clientFor('https://models.example/v1', { fetchLimits: { answerBytes: 128 * 1024 * 1024 } });
      let chunks = 0;
      const engine = new ExecutionEngine({
        store: new RunStore(folder),
        host: noTools,
        workflow: async () => defaultChatWorkflow,
        model: async () => ({ id: 'test/flood', model: 'flood', adapter: createAdapter(client) }),
        workspace: async () => ({ names: [] }),
        maxTurns: () => 1,
        onEvent: (event) => {
          if (event.type === 'chunk') {
            chunks++;
            clock.pass((seconds * 1000) / count);
          }
          view.add(event);
        },
      });
      const result = await engine.start({ runId: RunStore.newId(), userInput: 'hi' });
      clock.pass(1000);
      assert.equal(result.assistantText?.length, count);
      assert.equal(chunks, count);
      assert.ok(busiestSecond(sent) <= 60, `${busiestSecond(sent)} messages in a second`);
      assert.ok(sent.length > 50 * seconds, `${sent.length} messages: it is still shown as it comes`);
      const told = sent.flatMap(({ events }) => events);
      assert.ok(told.length < sent.length + 20, `${told.length} events: pieces of one moment are one`);
      const text = told.map((event) => (event.type === 'chunk' ? (event.content ?? '') : '')).join('');
      assert.equal(text.length, count);
    } finally {
      globalThis.fetch = fetchBefore;
      rmSync(folder, { recursive: true });
    }
  });

  it('property: whatever comes whenever, the panel folds it to the same run', () => {
    const bodies = fc.oneof(
      fc.record({ content: fc.string() }),
      fc.record({ thinking: fc.string() }),
      fc.record({ toolCall: fc.record({ index: fc.nat(2), argumentsText: fc.string() }) }),
      fc.record({ toolCall: fc.record({ index: fc.nat(2), name: fc.constantFrom('fs.read', 'fs.write') }) }),
    );
    const happenings = fc.array(fc.tuple(bodies, fc.double({ min: 0, max: 20, noNaN: true })), { maxLength: 300 });
    const property = fc.property(happenings, (list) => {
      const { clock, sent, view } = delivery();
      const events = list.map(([body], at) => piece(at + 1, body));
      for (const [at, event] of events.entries()) {
        clock.pass(list[at]![1]);
        view.add(event);
      }
      clock.pass(1000);
      assert.deepEqual(folded(sent.flatMap((one) => one.events)), folded(events));
    });
    fc.assert(property, { numRuns: tries(60, 300) });
  });

  it('the first one after a rest goes at once, the next wait for their turn', () => {
    const { clock, sent, view } = delivery();
    view.add(piece(1, { content: 'a' }));
    clock.pass(0);
    view.add(piece(2, { content: 'b' }));
    view.add(piece(3, { content: 'c' }));
    clock.pass(1000);
    assert.deepEqual(
      sent.map(({ at, events }) => [at, events.map((event) => event.type === 'chunk' && event.content)]),
      [
        [0, ['a']],
        [17, ['bc']],
      ],
    );
  });

  it('what has to be told after them sends them first, once', () => {
    const { clock, sent, view } = delivery();
    view.add(piece(1, { content: 'a' }));
    view.flush();
    view.flush();
    clock.pass(1000);
    assert.equal(sent.length, 1);
  });
});

/** Pieces as large as a socket's. */
function flood(count: number): Uint8Array[] {
  const letters = [...longText('and on ', Math.ceil(count / 7)).slice(0, count)];
  const body = Buffer.from(
    letters.map((content) => `data: {"choices":[{"delta":{"content":"${content}"}}]}\n\n`).join(''),
  );
  const places = Array.from({ length: Math.floor(body.length / 16_384) }, (_, at) => (at + 1) * 16_384);
  return [...cutAt(body, places), reply.text('').bytes()];
}
