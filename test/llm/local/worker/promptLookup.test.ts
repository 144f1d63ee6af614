import assert from 'node:assert/strict';
import { createLocalModelClient } from '../../../../src/llm/local/host/client.ts';
import { PromptLookupTokenPredictor } from '../../../../src/llm/local/worker/promptLookup.ts';
import { generator } from '../../../support/random.ts';
import { localModel } from '../setup.ts';

/** What the engine takes to work out so many tokens at once, in parts of what it takes for one. */
type Cost = (tokens: number) => number;
const engines = {
  'that waits for its memory': (tokens) => 1 + (tokens - 1) / 50,
  'that is busy with each token': (tokens) => tokens,
} satisfies Record<string, Cost>;

/** Says `answer` after `prompt` as the library does, and gives what it took and how often something was tried. */
function says(prompt: number[], answer: number[], cost: Cost, before = (_left: number) => {}) {
  let took = 0;
  let tried = 0;
  const lookup = new PromptLookupTokenPredictor<number>(() => took);
  lookup.reset({ stateTokens: prompt });
  for (let at = 0; at < answer.length; ) {
    before(answer.length - at);
    const expected = lookup.predictTokens();
    tried += expected.length;
    took += cost(1 + expected.length);
    let right = 0;
    while (right < expected.length && expected[right] === answer[at + right]) right++;
    for (const token of answer.slice(at, at + right + 1)) lookup.pushTokens([token]);
    at += right + 1;
  }
  return { took, tried };
}

const random = generator(3);
const words = (count: number) => Array.from({ length: count }, () => Math.floor(random() * 30_000));
const prompt = words(3000);
/** Some of the prompt again, with another word here and there. */
const edited = prompt.slice(1000, 1800).map((token, at) => (at % 90 === 89 ? token + 1 : token));

describe('what stood there before is expected again', () => {
  it('by an engine that waits for its memory, an answer that repeats takes little more than half of the time', () => {
    const { took } = says(prompt, edited, engines['that waits for its memory']);
    assert.ok(took <= 0.55 * edited.length, `${took} for ${edited.length}`);
  });

  it('by an engine that is busy with each token, hardly anything is tried', () => {
    const { took, tried } = says(prompt, edited, engines['that is busy with each token']);
    assert.ok(took <= 1.01 * edited.length && tried < 10, `${took} for ${edited.length}, ${tried} tried`);
  });

  it('it finds out when that has changed', () => {
    let isBusy = true;
    const { took } = says(
      prompt,
      [...edited, ...edited, ...edited],
      (tokens) => (isBusy ? tokens : 1),
      (left) => {
        isBusy = left > edited.length * 1.5;
      },
    );
    assert.ok(took < 2.75 * edited.length, `${took} for ${3 * edited.length}`);
  });

  for (const [engine, cost] of Object.entries(engines))
    it(`by an engine ${engine}, nothing is tried where nothing repeats`, () => {
      assert.equal(says(prompt, words(500), cost).tried, 0);
    });

  for (const [engine, cost] of Object.entries(engines))
    it(`by an engine ${engine}, nothing is tried where words repeat and what follows them does not`, () => {
      const bait = words(3);
      const answer = Array.from({ length: 400 }, () => [...bait, ...words(1)]).flat();
      const { tried } = says([...bait, ...words(200)], answer, cost);
      assert.ok(tried < answer.length / 100, `${tried} were tried`);
    });

  it('in what is said itself, too', () => {
    const said = words(60);
    const { took } = says(words(10), [...said, ...said, ...said], engines['that waits for its memory']);
    assert.ok(took < 130, `${took}`);
  });

  it('by the place where most stood the same before, not by the newest', () => {
    const [one, other, end] = [words(20), words(20), words(3)];
    const lookup = new PromptLookupTokenPredictor<number>(() => 0);
    lookup.reset({
      stateTokens: [...one, ...end, 111, 112, 113, ...other, ...end, 221, 222, 223, ...one.slice(0, -1)],
    });
    for (const token of [one.at(-1)!, ...end]) {
      lookup.predictTokens();
      lookup.pushTokens([token]);
    }
    lookup.predictTokens(); // it knows by now what a token takes
    lookup.pushTokens([111]);
    assert.deepEqual(lookup.predictTokens(), [112]);
  });

  it('in the newest tokens alone', () => {
    const old = words(50);
    const { tried } = says([...old, ...words(9000)], old, engines['that waits for its memory']);
    assert.equal(tried, 0);
  });

  it('it counts what it expected, and what came of it', () => {
    const lookup = new PromptLookupTokenPredictor<number>(() => 0);
    const text = words(40);
    lookup.reset({ stateTokens: text });
    for (const token of [...text, 1]) {
      lookup.predictTokens();
      lookup.pushTokens([token]);
    }
    lookup.predictTokens();
    const { expected, right, drafts, accepted } = lookup.takeCounts();
    assert.equal(right, expected - 1, 'the last token is another one');
    assert.ok(expected > 30 && drafts > 0 && accepted === drafts - 1, `${expected} expected, ${accepted} of ${drafts}`);
    assert.deepEqual(lookup.takeCounts(), { expected: 0, right: 0, drafts: 0, accepted: 0 });
  });

  it('of fewer tokens than it takes to know what follows, nothing', () => {
    const lookup = new PromptLookupTokenPredictor<number>(() => 0);
    lookup.reset({ stateTokens: [] });
    for (let at = 0; at < 10; at++) {
      assert.deepEqual(lookup.predictTokens(), []);
      lookup.pushTokens(words(1));
    }
  });
});

describe('an answer of which much was expected', () => {
  const said = Array.from({ length: 60 }, (_, at) => `number ${at} of all_${at}`);
  const text = said.join(' ');
  const changed = text.replace('number 20', 'figure 20').replace('number 40', 'figure 40');
  const script = { name: 'Again', scenarios: [{ on: '[[again]]', steps: [{ text: changed }] }] };
  const ask = (maxTokens: number) => ({
    model: 'local',
    messages: [{ role: 'user' as const, content: `${text}\n[[again]]` }],
    maxTokens,
    cacheKey: 'again',
  });

  it('is the same as without, of as many tokens, also where it is cut off; the next turn reads no more', async () => {
    const answers: unknown[] = [];
    for (const lookup of [undefined, false] as const) {
      const { options, close } = await localModel(script);
      const client = createLocalModelClient({ ...options, ...(lookup === false && { lookup }) });
      try {
        for (const limit of [400, 40, 41]) {
          const { content, usage, finishReason } = await client.chat(ask(limit));
          const { promptTokens, completionTokens, cachedTokens = 0 } = usage!;
          answers.push([content, finishReason, completionTokens, promptTokens - cachedTokens]);
        }
      } finally {
        await client.dispose();
        await close();
      }
    }
    assert.deepEqual(answers.slice(0, 3), answers.slice(3));
    assert.equal((answers[0] as string[])[0], changed);
    assert.deepEqual(
      answers.slice(1, 3).map((one) => (one as unknown[])[2]),
      [40, 41],
    );
  });
});
