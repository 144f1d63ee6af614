// An editor with a local model, in a process of its own: node memoryHost.mjs <what to do as JSON>. It asks turn after turn and says on its
// standard output, a line of JSON each, what happens.
import type { ChatRequest } from '../../src/llm/core/client.ts';
import { LLMError } from '../../src/llm/core/errors.ts';
import { createLocalModelClient, type LocalModelClientOptions } from '../../src/llm/local/host/client.ts';
import type { SequenceStateCacheOptions } from '../../src/llm/local/ipc/stateCacheOptions.ts';

export interface Doing {
  options: LocalModelClientOptions;
  /** Nothing is kept on disk when not given. */
  keep?: SequenceStateCacheOptions;
  turns: readonly ChatRequest[];
}

export type Said = { progress: string; pid: number | undefined } | { reply: string };

const say = (what: Said) => process.stdout.write(`${JSON.stringify(what)}\n`);

const { options, keep, turns } = JSON.parse(process.argv[2]!) as Doing;
const client = createLocalModelClient({ ...options, keep: () => keep });
for (const turn of turns) say({ reply: await ask(turn) });
await client.dispose();

/** As a person would: who is told that the model's process ended says it again. */
async function ask(turn: ChatRequest): Promise<string> {
  for (;;) {
    try {
      let content = '';
      for await (const chunk of client.chatStream(turn)) {
        if (chunk.progress) say({ progress: chunk.progress.text, pid: client.pid() });
        content += chunk.content ?? '';
      }
      return content;
    } catch (error) {
      if (!(error instanceof LLMError) || error.reason !== 'local-ended') throw error;
    }
  }
}
