import assert from 'node:assert/strict';
import type { LLMClient } from '../../src/llm/core/client.ts';
import { createLLMClient } from '../../src/llm/createClient.ts';
import { Conversation } from '../engine/conversation.ts';
import { readPage } from '../support/help/pages.ts';
import { done, piece, startOllama } from '../support/ollama.ts';
import { reply, startProvider } from '../support/provider.ts';
import { temporaryWorkspace } from '../support/workspace.ts';

/** What the pages about servers that a team shares say of what is sent. */
interface Sent {
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: { messages: unknown[]; [field: string]: unknown };
}

interface Shared {
  client(): LLMClient;
  sent(): Sent[];
  close(): Promise<void>;
}

const steps = 3;

/** Reads a file twice, then answers. */
const speaksOpenAI = (provider: 'llama-server' | 'vllm') => async (): Promise<Shared> => {
  const server = await startProvider(({ messages }) => {
    const asked = messages.filter(({ role }) => role === 'assistant').length;
    return asked < steps - 1 ? reply.call('fs_read', { path: `${asked}.txt` }) : reply.text('Both are read.');
  });
  return {
    client: () => createLLMClient({ provider, model: 'scripted', baseUrl: server.url }),
    sent: () => server.requests,
    close: () => server.close(),
  };
};

async function speaksOllama(): Promise<Shared> {
  const server = await startOllama();
  server.models.one = { capabilities: ['completion', 'tools'] };
  const answers = Array.from({ length: 8 * steps }, () => ({ steps: [piece({ content: 'Read.' }), done()] }));
  server.script.push(...answers);
  return {
    client: () =>
      createLLMClient({ provider: 'ollama', model: 'scripted', baseUrl: server.url, ollama: { contextSize: 16_384 } }),
    sent: () => server.chats,
    close: () => server.close(),
  };
}

const servers: [name: 'llama-server' | 'vllm' | 'ollama', start: () => Promise<Shared>][] = [
  ['llama-server', speaksOpenAI('llama-server')],
  ['vllm', speaksOpenAI('vllm')],
  ['ollama', speaksOllama],
];

for (const [name, start] of servers)
  describe(`the page about a shared ${name}`, () => {
    let server: Shared;
    let talks: Conversation[];
    beforeEach(async () => {
      server = await start();
      talks = await Promise.all(
        Array.from({ length: 8 }, async (_, person) => {
          const talk = new Conversation(await temporaryWorkspace({ '0.txt': `zero of ${person}`, '1.txt': 'one' }), []);
          talk.model = server.client();
          return talk;
        }),
      );
    });
    afterEach(async () => {
      for (const talk of talks) await talk.end();
      await server.close();
    });

    it('says truly what eight runs at once send: only ever more, all alike at their beginning, and not who asks', async () => {
      const work = talks.map(async (talk, person) => {
        assert.equal((await talk.start(`I am person ${person}.`)).error, undefined);
        for (let more = 0; more < 2; more++) assert.equal((await talk.continue(`Go on, ${more}.`)).error, undefined);
      });
      await Promise.all(work);
      const sent = server.sent();
      const byPerson = new Map<number, Sent[]>();
      for (const one of sent) {
        const person = Number(/I am person (\d)/.exec(JSON.stringify(one.body.messages))![1]);
        byPerson.set(person, [...(byPerson.get(person) ?? []), one]);
      }
      assert.equal(byPerson.size, 8);
      const [first] = sent;
      for (const requests of byPerson.values()) {
        assert.ok(requests.length >= 3);
        for (const [at, { body }] of requests.entries()) {
          const { messages, ...fields } = body;
          const { messages: others, ...same } = first!.body;
          assert.deepEqual(fields, same, 'tools and all else are alike for everybody');
          assert.deepEqual(messages[0], others[0], 'and so is the system prompt');
          const before = requests[at - 1]?.body.messages ?? [];
          assert.deepEqual(messages.slice(0, before.length), before, 'what was sent stays as it was');
          assert.ok(messages.length > before.length);
        }
      }
      const known = [...readPage(name).matchAll(/^\| `(\w+)` \| (?:always|if set) \|/gm)].map(([, field]) => field);
      for (const { body, headers } of sent) {
        for (const field of Object.keys(body)) assert.ok(known.includes(field), `${field} is not on the page`);
        const text = JSON.stringify([body, headers]);
        for (const talk of talks) assert.ok(!text.includes(talk.runId), 'no run is named');
        assert.equal(headers.authorization, undefined);
      }
    });
  });
