import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLocalModelClient } from '../../../../src/llm/local/host/client.ts';
import { samplingOf } from '../../../../src/llm/local/worker/sampling.ts';
import { writeRandomModel } from '../../../support/randomModel.ts';
import { buildWorker } from '../setup.ts';

const usual = { temperature: 0.6, topP: 0.95 };
const file = { sampling: { temp: 1, top_p: 0.9, top_k: 64, min_p: 0.05 } };

const rows: [what: string, requested: Parameters<typeof samplingOf>[0], metadata: unknown, sampling: object][] = [
  ['nothing said', {}, {}, usual],
  ['no metadata', {}, undefined, usual],
  ['a recommendation', {}, file, { temperature: 1, topP: 0.9, topK: 64, minP: 0.05 }],
  ['a part of one', {}, { sampling: { top_k: 20 } }, { ...usual, topK: 20 }],
  ['a request before it', { temperature: 0, topP: 1 }, file, { temperature: 0, topP: 1, topK: 64, minP: 0.05 }],
  ['penalties', {}, { sampling: { penalty_repeat: 1.5, penalty_last_n: 64, mirostat: 2 } }, usual],
  ['no numbers', {}, { sampling: { temp: 'hot', top_p: null, top_k: 1.5, min_p: Number.NaN } }, usual],
  ['values beyond use', {}, { sampling: { temp: 80, top_p: -1, top_k: -40, min_p: 2 } }, usual],
  ['another kind of value', {}, { sampling: 'greedy' }, usual],
];

describe('the sampling of a local model', () => {
  for (const [what, requested, metadata, sampling] of rows)
    it(`is right for ${what}`, () => assert.deepEqual(samplingOf(requested, metadata), sampling));

  it('is what its file recommends, where nothing else is requested', async function () {
    this.timeout(300_000);
    const folder = mkdtempSync(path.join(tmpdir(), 'sampling-'));
    try {
      const [recommended, requested] = await Promise.all(
        [{ recommends: 0 }, { requests: 0 }].map(async ({ recommends, requests }, at) => {
          const modelPath = path.join(folder, `${at}.gguf`);
          writeRandomModel(modelPath, {
            words: ['along', ' the', ' canal'],
            ...(recommends !== undefined && { temperature: recommends }),
          });
          const options = { workerPath: await buildWorker(), modelPath, threads: 1, gpu: false } as const;
          const client = createLocalModelClient(options);
          const reply = await client.chat({
            model: 'test',
            messages: [{ role: 'user', content: 'Along the canal' }],
            maxTokens: 24,
            ...(requests !== undefined && { temperature: requests }),
          });
          await client.dispose();
          return reply.content;
        }),
      );
      assert.ok(recommended);
      assert.equal(recommended, requested);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
