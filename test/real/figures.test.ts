import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { estimateTokenCount } from 'tokenx';
import { projectRoot } from '../support/editor/project.ts';
import { tries } from '../support/tries.ts';
import { type Asked, askTowpath, startRawEngine } from './rawEngine.ts';
import { describeTrained } from './trained.ts';

/** A second is a hundred ticks of the clock, so each is repeated. */
const rounds = tries(1, 3);
/** Between the logits of two words of which another batch writes the other one. */
const maxGap = 0.25;

/** Seconds of Towpath, and of the engine alone. */
type Pair = [ours: number, theirs: number];

/** By the best of each: others at work on the machine take time, and never give any. */
function beside(pairs: readonly Pair[]): string {
  const [ours, theirs] = [Math.min(...pairs.map(([one]) => one)), Math.min(...pairs.map(([, one]) => one))];
  return `${ours.toFixed(2)} s, the engine alone ${theirs.toFixed(2)} s (${(ours / theirs).toFixed(2)} ×)`;
}

const about = (what: string): Asked => ({
  systemPrompt: `You answer questions about ${what}.`,
  text: `${'The boat is pulled along the canal. '.repeat(30)}What is ${what}?`,
  maxTokens: 24,
});
const textsByKind = {
  TypeScript: readFileSync(path.join(projectRoot, 'src/llm/core/client.ts'), 'utf8'),
  English: readFileSync(path.join(projectRoot, 'README.md'), 'utf8'),
  JSON: readFileSync(path.join(projectRoot, 'package-lock.json'), 'utf8').slice(0, 4000),
  German: readFileSync(path.join(projectRoot, 'src/l10n/bundle.l10n.de.json'), 'utf8'),
};

describeTrained(
  'figures of a trained model',
  (model) => {
    let child: ChildProcess | undefined;
    afterEach(() => child?.kill());

    it('counts tokens as the engine does, answers the same, and costs little more', async () => {
      const [starts, firsts, alls]: [Pair[], Pair[], Pair[]] = [[], [], []];
      await askTowpath(await model.client(), about('reading')); // the format of the template is remembered
      for (let round = 0; round < rounds; round++) {
        await model.forgetStates();
        const [raw, client] = [await startRawEngine(model), await model.client()];
        child = raw.process;
        for (const asked of [about(`round ${round}`), about(`the sea ${round}`)]) {
          const [theirs, ours] = [await raw.ask(asked), await askTowpath(client, asked)];
          if (ours.text !== theirs.text) {
            const { gap } = await raw.ask({ ...asked, after: sameStart(ours.text, theirs.text) });
            model.figure('another batch, another word', `its logits differ by ${gap.toFixed(4)}`);
            assert.ok(gap < maxGap, `“${ours.text}” and “${theirs.text}”: ${gap}`);
          }
          assert.equal(ours.promptTokens, theirs.promptTokens);
          if (starts.length === round) starts.push([ours.total, theirs.total]);
          firsts.push([ours.first, theirs.first]);
          alls.push([ours.all, theirs.all]);
        }
        child.kill();
      }
      if (process.platform !== 'linux') return;
      model.figure('CPU of a start to its first token', beside(starts));
      model.figure('CPU to the first token', beside(firsts));
      model.figure('CPU of a reply of 24 tokens', beside(alls));
    });

    it('estimates tokens', async () => {
      const client = await model.client();
      for (const [kind, text] of Object.entries(textsByKind)) {
        const ask = async (content: string) => {
          const { usage } = await client.chat({ model: 'test', messages: [{ role: 'user', content }], maxTokens: 1 });
          return usage!.promptTokens;
        };
        const part = text.slice(0, 800);
        const counted = (await ask(part)) - (await ask('a')) + 1;
        model.figure(
          `estimate of tokens: ${kind}`,
          `${(estimateTokenCount(part) / counted).toFixed(2)} × the engine's`,
        );
        assert.ok(counted > 100);
      }
    });
  },
  'named',
);

function sameStart(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return one.slice(0, length);
}
