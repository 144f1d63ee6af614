import assert from 'node:assert/strict';
import { type CompactionOptions, compactConversation } from '../../../src/engine/context/compaction.ts';
import { promptMessages } from '../../../src/engine/context/promptMessages.ts';
import { recentTurnsStart } from '../../../src/engine/context/turnBoundaries.ts';
import { promptPrefixTokens, tokensOfMessages } from '../../../src/engine/core/tokenCount.ts';
import { type Message, userMessage } from '../../../src/protocol/content/messages.ts';
import type { RunEvent, RunEventBody } from '../../../src/protocol/run/events.ts';
import { applyEvent } from '../../../src/protocol/run/fold.ts';
import { pendingCalls } from '../../../src/protocol/run/pending.ts';
import { type PlanItem, planToolName } from '../../../src/protocol/run/plan.ts';
import { newRun, type Run } from '../../../src/protocol/run/run.ts';
import { type Random, randomFrom } from '../../support/random.ts';

/** How many are made up; `TOWPATH_HISTORIES=10000` for all of them. Each is made from its number alone. */
const histories = Number(process.env.TOWPATH_HISTORIES ?? 60);
const first = Number(process.env.TOWPATH_HISTORY ?? 0);

/** A conversation that is made up while room is made in it, before every turn, as the loop does it. */
class History {
  readonly events: RunEvent[] = [];
  readonly run: Run = newRun('r');
  readonly room: CompactionOptions;
  readonly counts = { turns: 0, compactions: 0, summaries: 0, overflows: 0, hopeless: 0 };
  readonly window: number;
  private readonly prefix;
  /** The provider's tokens for one of ours; 0: it does not count. */
  private readonly counted: number;
  private before: readonly Message[] = [];
  private calls = 0;

  constructor(private readonly random: Random) {
    this.window = Math.round(2000 * 2 ** (6 * random.next() ** 3));
    this.counted = random.pick([0, 0, 0.9, 1, 1.15, 1.3]);
    this.prefix = { model: 'm', systemPrompt: random.text(random.upTo(this.window * 0.6)), tools: [] };
    this.room = {
      run: this.run,
      prefix: this.prefix,
      emit: (body) => this.emit(body),
      called: { adapter: { complete: async () => this.summary() } },
      signal: new AbortController().signal,
      contextWindow: this.window,
    };
  }

  async live(): Promise<void> {
    const { random } = this;
    for (let turns = 2 + random.upTo(20); turns > 0; turns--) {
      if (this.run.messages.length === 0 || random.chance(0.3)) await this.say();
      await this.makeRoom();
      await this.answer();
    }
    await this.makeRoom();
    const reloaded = newRun('r');
    for (const event of JSON.parse(JSON.stringify(this.events)) as RunEvent[]) applyEvent(reloaded, event);
    assert.deepEqual(promptMessages(reloaded), promptMessages(this.run), 'after a reload the same is sent');
  }

  private async makeRoom(): Promise<void> {
    const { run, window, counts } = this;
    const compactions = run.compactions.length;
    counts.turns++;
    await compactConversation(this.room, 'nearly full');
    const tokens = () =>
      (this.counted || 1) * (promptPrefixTokens(this.prefix) + tokensOfMessages(promptMessages(run)));
    if (tokens() > window) {
      counts.overflows++;
      await compactConversation(this.room, 'overflowed', this.random.chance(0.5) ? window : undefined);
    }

    const sent = promptMessages(run);
    const said = (role: string) => run.messages.filter((message) => message.role === role);
    assert.deepEqual(pendingCalls(sent), [], 'no call is sent without its result');
    assert.deepEqual(resultsBeforeTheirCalls(sent), [], 'no result is sent without its call before it');
    assert.equal(sent[0], said('user')[0], 'the task stays, at the beginning');
    assert.ok(sent.includes(said('user').at(-1)!), 'the newest request stays');
    if (run.compactions.length === compactions)
      assert.deepEqual(sent.slice(0, this.before.length), this.before, 'the beginning changes only when room is made');
    this.before = sent;
    counts.compactions += run.compactions.length > compactions ? 1 : 0;
    counts.summaries += run.compactions.slice(compactions).filter(({ summary }) => summary !== undefined).length;
    const needed = (this.counted || 1) * this.least();
    if (needed > window * 0.8) counts.hopeless++;
    else
      assert.ok(
        tokens() <= window,
        `it fits: ${Math.round(tokens())} of ${window}, where ${Math.round(needed)} are needed`,
      );
    if (needed < window * 0.4) this.checkKept(sent);
  }

  /** What the plan still has open is there word for word, as long as it is short. */
  private checkKept(sent: readonly Message[]): void {
    const open = this.plan.filter(({ status }) => status !== 'done').map(({ text }) => text);
    if (open.join().length * 1.5 > this.window * 0.05 * 3) return;
    const text = JSON.stringify(sent);
    for (const item of open) assert.ok(text.includes(item), `"${item}" of the plan is sent`);
  }

  /** Tokens of the prefix, the task, the newest request and the last turn with its long texts shortened. */
  private least(): number {
    const { messages } = this.run;
    const last = messages.slice(recentTurnsStart(messages, 0));
    const users = messages.filter(({ role }) => role === 'user');
    const must = new Set([users[0]!, users.at(-1)!, ...last]);
    return promptPrefixTokens(this.prefix) + tokensOfMessages([...must].map(inShort));
  }

  private plan: PlanItem[] = [];

  private say(): Promise<void> {
    const length = this.random.long(this.window * 0.2);
    return this.add(userMessage(`${this.random.text(length)} (${this.run.messages.length})`));
  }

  private async answer(): Promise<void> {
    const { random } = this;
    const count = random.chance(0.25) ? 0 : random.chance(0.05) ? 1 + random.upTo(40) : 1 + random.upTo(3);
    const toolCalls = Array.from({ length: count }, () => this.call());
    const content = random.text(random.long(4000)) || 'So.';
    if (this.counted) {
      const promptTokens = Math.round(
        this.counted * (promptPrefixTokens(this.prefix) + tokensOfMessages(promptMessages(this.run))),
      );
      const usage = { promptTokens, completionTokens: 0, totalTokens: promptTokens };
      await this.emit({ type: 'usage', usage, attempts: 1, model: 'm', ms: 1 });
    }
    await this.add({ role: 'assistant', content, ...(count > 0 && { toolCalls }) });
    for (const { id: toolCallId } of toolCalls) {
      const data = { text: random.text(random.long(this.window * 1.5)) };
      const content = JSON.stringify(
        random.chance(0.1) ? { ok: true, data: data.text.split(' ') } : { ok: true, data },
      );
      await this.add({ role: 'tool', content: '', toolResults: [{ toolCallId, content }] });
    }
  }

  private call() {
    const { random } = this;
    const id = `c${++this.calls}`;
    if (random.chance(0.15)) {
      const items = Array.from({ length: 1 + random.upTo(4) }, (_, at): PlanItem => {
        return { text: `step ${id}.${at} of the plan`, status: random.pick(['pending', 'active', 'done']) };
      });
      this.plan = items;
      return { id, name: planToolName, arguments: { items } };
    }
    const path = `src/${id}.ts`;
    if (random.chance(0.5)) return { id, name: 'fs.read', arguments: { path } };
    const content = random.text(random.long(this.window));
    const lines = random.chance(0.2) ? content.split(' ') : undefined;
    return { id, name: 'fs.write', arguments: { path, ...(lines ? { lines } : { content }) } };
  }

  private add(message: Message): Promise<void> {
    return this.emit({ type: 'message', message: frozen(message) });
  }

  private async emit(body: RunEventBody): Promise<void> {
    const event = { runId: 'r', seq: this.run.seq + 1, at: 1, ...body } as RunEvent;
    this.events.push(event);
    applyEvent(this.run, event);
  }

  private async summary() {
    const { random } = this;
    const counts = { attempts: 1, delayMs: 0 };
    if (random.chance(0.2)) return { success: false, error: { code: 'X', message: 'No.' }, ...counts };
    const content = random.text(random.chance(0.3) ? 12_000 : random.upTo(2000));
    return { success: true, message: { role: 'assistant' as const, content }, ...counts };
  }
}

function resultsBeforeTheirCalls(messages: readonly Message[]): string[] {
  const asked = new Set<string>();
  return messages.flatMap((message) => {
    if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) asked.add(id);
    return message.role === 'tool'
      ? message.toolResults.map((one) => one.toolCallId).filter((id) => !asked.has(id))
      : [];
  });
}

/** Not how it is done, but how little it could be: each long text at 600 characters. */
function inShort(message: Message): Message {
  const cut = (_: string, value: unknown) => (typeof value === 'string' ? value.slice(0, 600) : value);
  if (message.role === 'tool')
    return {
      ...message,
      toolResults: message.toolResults.map((one) => ({ ...one, content: one.content.slice(0, 600) })),
    };
  if (message.role !== 'assistant' || !message.toolCalls) return message;
  const toolCalls = message.toolCalls.map((call) => {
    const args = JSON.stringify(call.arguments, cut);
    return { ...call, arguments: args.length > 1200 ? { text: args.slice(0, 600) } : JSON.parse(args) };
  });
  return { ...message, toolCalls };
}

function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(Object.freeze(value))) frozen(inner);
  return value;
}

describe('made-up histories, before every turn of which room is made', () => {
  const sums: Record<string, number> = {};
  const each = 20;
  for (let begin = first; begin < first + histories; begin += each)
    it(`never lose the task, split no pair, and fit where they can (${begin} to ${begin + each - 1})`, async () => {
      for (let number = begin; number < begin + each; number++) {
        const history = new History(randomFrom(number));
        await history.live().catch((error: Error) => {
          error.message = `history ${number}, window ${history.window}: ${error.message}`;
          throw error;
        });
        for (const [name, count] of Object.entries(history.counts)) sums[name] = (sums[name] ?? 0) + count;
      }
    });

  it('were of all kinds', () => {
    for (const [name, count] of Object.entries(sums)) assert.ok(count > histories / 20, `${name}: ${count}`);
    if (process.env.TOWPATH_HISTORIES) console.log(JSON.stringify(sums));
  });
});
