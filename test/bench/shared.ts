import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLLMClient } from '../../src/llm/createClient.ts';
import { userMessageMarker } from '../../src/llm/local/demo/automaton.ts';
import { writeScriptedModel } from '../../src/llm/local/demo/scriptedModel.ts';
import type { TokenUsage } from '../../src/protocol/content/messages.ts';
import { Conversation } from '../engine/conversation.ts';
import { temporaryWorkspace } from '../support/workspace.ts';
import { line } from './measure.ts';

// Eight runs at once on one llama-server: what of each prompt it reads, and what it has still from the turn before.
// LLAMA_SERVER names the program; with the engine's libraries it can be built from the sources that node-llama-cpp brings.

const program = process.env.LLAMA_SERVER;
const [people, turns] = [8, 4];
/** Tokens around what a turn adds: its message, the reply before it, and what the template writes around them. */
const maxNew = 160;
const port = 18_000 + (process.pid % 1000);

if (program) await measure(program);
else console.log('not measured: LLAMA_SERVER names no llama-server');

async function measure(program: string): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-shared-'));
  const model = path.join(folder, 'scripted.gguf');
  writeScriptedModel(
    { name: 'Shared', scenarios: [{ on: userMessageMarker, steps: [{ text: 'It is heard.' }] }] },
    model,
  );
  const size = ['-c', String(people * 6144), '-np', String(people), '-t', '1'];
  const args = ['-m', model, ...size, '--jinja', '--host', '127.0.0.1', '--port', String(port)];
  const server = spawn(program, args, { stdio: 'ignore' });
  try {
    while (!(await isReady())) await sleep(100);
    await talk();
  } finally {
    server.kill();
    rmSync(folder, { recursive: true });
  }
}

function isReady(): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/health`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function talk(): Promise<void> {
  const talks = await Promise.all(
    Array.from({ length: people }, async () => {
      const talk = new Conversation(await temporaryWorkspace({}), []);
      talk.model = createLLMClient({
        provider: 'llama-server',
        model: 'scripted',
        baseUrl: `http://127.0.0.1:${port}/v1`,
      });
      return talk;
    }),
  );
  try {
    await Promise.all(
      talks.map(async (talk, person) => {
        for (let turn = 0; turn < turns; turn++) {
          const text = `Person ${person} says this in turn ${turn}. ${'The tide turns. '.repeat(5)}`;
          await (turn === 0 ? talk.start(text) : talk.continue(text));
        }
      }),
    );
    for (const [person, { events }] of talks.entries()) {
      const usages = events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []));
      const read = usages.map(({ promptTokens, cachedTokens = 0 }: TokenUsage) => promptTokens - cachedTokens);
      const told = usages.map(({ promptTokens }, turn) => `${read[turn]}/${promptTokens}`).join(' ');
      line(`run ${person + 1}: read of each prompt`, { tokens: told }, Math.max(...read.slice(1)), maxNew);
      if (usages.length !== turns) throw new Error(`Run ${person + 1} has ${usages.length} answers of ${turns}.`);
    }
  } finally {
    for (const talk of talks) await talk.end();
  }
}
