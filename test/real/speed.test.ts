import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { llamaBench } from '../bench/llamaBench.ts';
import { readingSpeeds } from '../bench/localSpeed.ts';
import { buildWorker, Talk } from '../llm/local/setup.ts';
import { tries } from '../support/tries.ts';
import { describeTrained } from './trained.ts';

/** Letters of a token in the prompts of the benchmark: three tokens are sixteen letters. */
const letters = 16 / 3;

describeTrained(
  'what a trained model costs',
  (model) => {
    it('is a speed of reading, beside the benchmark of llama.cpp', async function () {
      if (tries(0, 1) === 0) return this.skip(); // several minutes
      const peer = await llamaBench();
      if (typeof peer === 'string') return this.skip();
      const options = { workerPath: await buildWorker(), modelPath: model.file, gpu: false } as const;
      const lengths: [tokens: number, rounds: number][] = [
        [1024, 3],
        [4096, 1],
      ];
      if (model.name.startsWith('gemma')) lengths.push([16_384, 1]);
      for (const { what, ours, theirs } of await readingSpeeds(options, peer, lengths, letters)) {
        assert.ok(ours > 0 && theirs > 0);
        model.figure(
          what,
          `${ours.toFixed(0)} tokens for each second of CPU`,
          `${(ours / theirs).toFixed(2)} of llama-bench (${theirs.toFixed(0)})`,
        );
      }
    });

    it('is memory', async function () {
      if (process.platform !== 'linux') return this.skip();
      const talk = new Talk(await model.client(), { tools: [], maxTokens: 1, systemPrompt: 'You answer.' });
      await talk.ask('Hello.');
      const before = residentMegabytes(talk.client.pid()!);
      await talk.ask('The boat is pulled along the canal. '.repeat(60));
      const after = residentMegabytes(talk.client.pid()!);
      assert.ok(before > 0 && after > 0);
      model.figure(
        'memory of its process',
        `${before} MB`,
        `${after} MB after ${talk.last.usage!.promptTokens} tokens`,
      );
    });
  },
  'named',
);

function residentMegabytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))!;
  return Math.round(Number(kilobytes) / 1024);
}
