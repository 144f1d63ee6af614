import assert from 'node:assert/strict';
import type { ChatRequest } from '../../src/llm/core/client.ts';
import type { ToolDefinition } from '../../src/protocol/content/tools.ts';
import { tries } from '../support/tries.ts';
import { type Answered, type Asked, askTowpath, startRawEngine } from './rawEngine.ts';
import { describeTrained } from './trained.ts';

const rounds = tries(1, 3);
/** Tokens that are written. */
const tokens = 129;

/** Tokens for each second of CPU after the first one, by the best round. */
const rateOf = (answers: readonly Omit<Answered, 'gap'>[]) =>
  Math.max(...answers.map(({ written, all, first }) => (written - 1) / (all - first)));

const code = `export interface Boat {
  name: string;
  length: number;
}

export function findBoat(boats: Boat[], name: string): Boat | undefined {
  return boats.find((boat) => boat.name === name);
}

export function longestBoat(boats: Boat[]): Boat | undefined {
  let longest: Boat | undefined;
  for (const boat of boats) {
    if (longest === undefined || boat.length > longest.length) longest = boat;
  }
  return longest;
}
`;
const write: ToolDefinition = {
  name: 'fs.write',
  description: 'Writes a file.',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string' }, content: { type: 'string' } },
    required: ['path', 'content'],
    additionalProperties: false,
  },
};

/** Led by what was said before, as these models follow no instruction to repeat. */
const written = (id: string, path: string): ChatRequest['messages'] => [
  { role: 'user', content: `Write the file to ${path}.` },
  { role: 'assistant', content: '', toolCalls: [{ id, name: 'fs.write', arguments: { path, content: code } }] },
  { role: 'tool', content: '', toolResults: [{ toolCallId: id, content: '{"ok":true}' }] },
];
const again = (file: string) => `The file ${file}:\n\n${code}\n`;
const cases: { what: string; request: Partial<ChatRequest>; repeats: boolean }[] = [
  {
    what: 'a file again, under another name',
    request: {
      messages: [{ role: 'user', content: `${again('a.ts')}${again('b.ts')}${again('c.ts')}The file d.ts:` }],
    },
    repeats: true,
  },
  {
    what: 'arguments of a call by grammar',
    request: {
      messages: [
        ...written('1', 'a.ts'),
        ...written('2', 'b.ts'),
        { role: 'user', content: 'Write the file to c.ts.' },
      ],
      tools: [write],
      toolChoice: 'required',
    },
    repeats: true,
  },
  {
    what: 'text in which nothing repeats',
    request: { messages: [{ role: 'user', content: 'Tell a story.' }], temperature: 1.5, topP: 1 },
    repeats: false,
  },
];

describeTrained(
  'what a trained model writes',
  (model) => {
    it('costs as much as by the engine alone', async function () {
      if (tries(0, 1) === 0 || process.platform !== 'linux') return this.skip(); // a minute
      const asked = (round: number): Asked => ({
        systemPrompt: `You answer at length (${round}).`,
        text: `${'The boat is pulled along the canal. '.repeat(56)}Tell a long story about the boat.`,
        maxTokens: tokens,
      });
      const [raw, client] = [await startRawEngine(model), await model.client()];
      try {
        const answers: { ours: Omit<Answered, 'gap'>; theirs: Answered }[] = [];
        for (let round = 0; round < rounds; round++)
          answers.push({ theirs: await raw.ask(asked(round)), ours: await askTowpath(client, asked(round)) });
        const [ours, theirs] = [rateOf(answers.map((one) => one.ours)), rateOf(answers.map((one) => one.theirs))];
        assert.ok(ours > 0 && theirs > 0);
        model.figure(
          `writing ${answers[0]!.ours.written - 1} tokens after ${answers[0]!.ours.promptTokens}`,
          `${ours.toFixed(0)} tokens for each second of CPU`,
          `${(ours / theirs).toFixed(2)} of the engine alone (${theirs.toFixed(0)})`,
        );
      } finally {
        raw.process.kill();
      }
    });

    it('costs no more with a prompt lookup', async function () {
      if (tries(0, 1) === 0 || process.platform !== 'linux') return this.skip(); // a minute
      const clients = [await model.client(), await model.client({ lookup: false, keep: undefined })];
      const asked: Asked = { systemPrompt: 'You are a coding agent.', text: '', maxTokens: tokens };
      for (const { what, request, repeats } of cases) {
        model.log = [];
        const sides = clients.map((client) => ({ client, answers: [] as Omit<Answered, 'gap'>[] }));
        for (let round = 0; round < rounds; round++)
          for (const { client, answers } of sides) answers.push(await askTowpath(client, asked, request));
        const [own, without] = sides.map(({ answers }) => rateOf(answers));
        const { right, drafts, accepted } = lookups(model.log);
        const total = sides[0]!.answers.reduce((sum, answer) => sum + answer.written, 0);
        model.figure(
          `prompt lookup: ${what}`,
          `${Math.round((100 * right) / total)}% of the tokens stood there before`,
          `${accepted} of ${drafts} drafts accepted`,
          `${(without! / own!).toFixed(2)} × the CPU without`,
        );
        assert.ok(repeats ? right > total / 2 : drafts < total / 20, `${what}: ${right}, ${drafts} of ${total}`);
      }
    });
  },
  'named',
);

/** Sums of what the process has logged of its replies. */
function lookups(log: readonly string[]): { right: number; drafts: number; accepted: number } {
  const sum = { right: 0, drafts: 0, accepted: 0 };
  for (const line of log) {
    const found = /^prompt lookup: (\d+) of \d+ expected tokens were right, (\d+) of (\d+) drafts accepted$/.exec(line);
    if (!found) continue;
    sum.right += Number(found[1]);
    sum.accepted += Number(found[2]);
    sum.drafts += Number(found[3]);
  }
  return sum;
}
