import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { estimateTokenCount } from 'tokenx';
import type { LocalModelClient } from '../../src/llm/local/host/client.ts';
import { buildWorker } from '../llm/local/setup.ts';
import { cpuSeconds } from '../support/cpuSeconds.ts';
import { projectRoot } from '../support/editor/project.ts';
import { tries } from '../support/tries.ts';
import { describeTrained } from './trained.ts';

/** A second is a hundred ticks of the clock, so each is repeated. */
const rounds = tries(1, 5);
/** Between the logits of two words of which another batch writes the other one. */
const maxGap = 0.25;

interface Asked {
  systemPrompt: string;
  text: string;
  maxTokens: number;
  after?: string;
}

/**
 * Seconds of CPU until the first token and until the end of the reply; `total`: since the start of the process. `gap`: difference between the
 * two best logits after a beginning of the reply.
 */
interface Answered {
  text: string;
  promptTokens: number;
  first: number;
  all: number;
  total: number;
  gap: number;
}

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
    const wrapper = model.name.startsWith('gemma') ? 'gemma' : model.name.startsWith('SmolLM2') ? 'chatML' : 'auto';
    let child: ChildProcess | undefined;
    afterEach(() => child?.kill());

    /** The engine alone. */
    async function engine(): Promise<(asked: Asked) => Promise<Answered>> {
      await buildWorker();
      const [program, bundle] = ['test/real/rawChat.mjs', 'test/out/local-engine.mjs'].map((one) =>
        path.join(projectRoot, one),
      );
      const own = spawn(process.execPath, [program!, bundle!, model.file, wrapper], {
        stdio: ['pipe', 'pipe', 'inherit'],
        env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
      });
      child = own;
      const lines = createInterface({ input: own.stdout })[Symbol.asyncIterator]();
      return async (asked) => {
        own.stdin.write(`${JSON.stringify(asked)}\n`);
        return JSON.parse((await lines.next()).value);
      };
    }

    async function towpath(
      client: LocalModelClient,
      { systemPrompt, text, maxTokens }: Asked,
    ): Promise<Omit<Answered, 'gap'>> {
      const messages = [{ role: 'user' as const, content: text }];
      const startedAt = cpuSeconds(client.pid());
      let first: number | undefined;
      const answer = { text: '', promptTokens: 0 };
      const request = { model: 'test', systemPrompt, messages, maxTokens, temperature: 0, cacheKey: systemPrompt };
      for await (const chunk of client.chatStream(request)) {
        if (chunk.content) first ??= cpuSeconds(client.pid());
        answer.text += chunk.content ?? '';
        answer.promptTokens = chunk.usage?.promptTokens ?? answer.promptTokens;
      }
      return { ...answer, first: first! - startedAt, all: cpuSeconds(client.pid()) - startedAt, total: first! };
    }

    it('counts tokens as the engine does, answers the same, and costs little more', async () => {
      const [starts, firsts, alls]: [Pair[], Pair[], Pair[]] = [[], [], []];
      await towpath(await model.client(), about('reading')); // the format of the template is remembered
      for (let round = 0; round < rounds; round++) {
        await model.forgetStates();
        const [raw, client] = [await engine(), await model.client()];
        for (const asked of [about(`round ${round}`), about(`the sea ${round}`)]) {
          const [theirs, ours] = [await raw(asked), await towpath(client, asked)];
          if (ours.text !== theirs.text) {
            const { gap } = await raw({ ...asked, after: sameStart(ours.text, theirs.text) });
            model.figure('another batch, another word', `its logits differ by ${gap.toFixed(4)}`);
            assert.ok(gap < maxGap, `“${ours.text}” and “${theirs.text}”: ${gap}`);
          }
          assert.equal(ours.promptTokens, theirs.promptTokens);
          if (starts.length === round) starts.push([ours.total, theirs.total]);
          firsts.push([ours.first, theirs.first]);
          alls.push([ours.all, theirs.all]);
        }
        child?.kill();
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
