import assert from 'node:assert/strict';
import type { LLMClient } from '../../../src/llm/core/client.ts';
import { createLLMClient } from '../../../src/llm/createClient.ts';
import { type LocalServer, startLocalServer } from '../../support/localServer.ts';
import { testScript } from '../../support/scripted.ts';
import { transcript } from '../../support/transcript.ts';
import { localModel, tools } from './setup.ts';
import { type Answer, Whole } from './whole.ts';

describe('the same model file, in our process and behind a server of its own', () => {
  let model: Awaited<ReturnType<typeof localModel>>;
  let server: LocalServer;
  before(async () => {
    model = await localModel(testScript(tools));
    server = await startLocalServer(model.options.modelPath);
  });
  after(async () => {
    server?.close();
    await model?.close();
  });

  /** All that was said and done, and what became of the folder. */
  async function story(client: LLMClient, texts: string[], answers: Answer[]) {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the sample file
    const greet = 'export function greet(name) {\n  return `Hello, ${name}!`;\n}\n';
    const whole = await Whole.begin(
      client,
      { 'README.md': '# Sample\n', 'src/greet.js': greet, '.env': 'COLOR=blue\n' },
      [...answers],
    );
    try {
      for (const [index, text] of texts.entries()) await (index === 0 ? whole.start(text) : whole.continue(text));
      return {
        said: transcript(await whole.kept()),
        questions: whole.questions,
        effects: [...whole.workspace.effects],
      };
    } finally {
      await whole.end();
    }
  }

  const stories: [string[], Answer[]][] = [
    [['hi', '[[edit]]'], ['allow']],
    [['[[edit]]'], ['deny']],
    [['[[write]]'], ['deny']],
    [['[[parallel]]', 'hi'], ['allow']],
    [['[[order]]'], ['allow']],
    [['[[twice]]'], ['allow', 'deny']],
  ];
  for (const [texts, answers] of stories)
    it(`${texts.join(', then ')}: ${answers.join(', ')}`, async () => {
      const remote = createLLMClient({ provider: 'openai-compatible', baseUrl: server.url, model: 'test' });
      const [ours, theirs] = [await story(model.client, texts, answers), await story(remote, texts, answers)];
      assert.deepEqual(ours, theirs);
      assert.ok(ours.said.includes('→'));
    });
});
