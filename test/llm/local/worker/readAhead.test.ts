import assert from 'node:assert/strict';
import { createLocalModelClient, type LocalModelClient } from '../../../../src/llm/local/host/client.ts';
import { eventually } from '../../../support/eventually.ts';
import { longText } from '../../../support/longText.ts';
import { said, testScript } from '../../../support/scripted.ts';
import { scriptedClient } from '../../../support/scriptedClient.ts';
import { localModel, tools } from '../setup.ts';
import { Whole } from '../whole.ts';

const contextSize = 8192;
const essay = (name: string) => ({ text: `${name}: ${longText('some words of it ', 380)}`, usage: null });

describe('a summary by a local model while its run rests', () => {
  let client: LocalModelClient;
  let close: () => Promise<void>;
  let whole: Whole;
  /** Answers that it has given to their end. */
  let given = 0;
  before(async () => {
    const model = await localModel(testScript(tools));
    const local = createLocalModelClient({ ...model.options, contextSize });
    client = {
      ...local,
      async *chatStream(request, signal) {
        try {
          yield* local.chatStream(request, signal);
        } finally {
          given++;
        }
      },
    };
    close = async () => {
      await client.dispose();
      await model.close();
    };
  });
  after(() => close());
  afterEach(() => whole.end());

  /** A conversation that nearly fills the window, of which the local model has had the last turn. */
  const filled = async () => {
    whole = await Whole.begin(scriptedClient(['one', 'two', 'three'].map(essay)), { a: 'A' });
    whole.contextWindow = contextSize;
    await whole.start('Write one.');
    for (const text of ['Write two.', 'Write three.']) await whole.continue(text);
    whole.client = client;
    await whole.continue('hi');
  };
  const asked = () => whole.events.filter((event) => event.type === 'request' && event.beside).length;

  it('is there for the next words, and nothing was dropped for it', async () => {
    const before = given;
    await filled();
    await eventually('it is written', () => asked() === 1 && given === before + 2);
    assert.deepEqual((await whole.kept()).compactions, []);
    await whole.continue('hi');
    const { compactions, messages } = await whole.kept();
    assert.deepEqual([asked(), compactions.map(({ summary }) => summary)], [1, [said.hello]]);
    assert.deepEqual(messages.at(-1), { role: 'assistant', content: said.hello });
  });

  it('is given up when the person writes: what the model had read of the run is still there', async () => {
    await filled();
    await eventually('it is asked for', () => asked() === 1);
    await whole.continue('hi');
    const { compactions, messages } = await whole.kept();
    assert.deepEqual([compactions, messages.length], [[], 10]);
    const [before, after] = whole.evaluated.slice(-2);
    assert.ok(after!.evaluated < 100 && before!.evaluated > 5000, JSON.stringify(whole.evaluated));
  });
});
