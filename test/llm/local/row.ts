import { copyFileSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import type { ChatStreamChunk } from '../../../src/llm/core/client.ts';
import {
  type DemoAutomatonScript,
  type DemoScriptStep,
  userMessageMarker,
} from '../../../src/llm/local/demo/automaton.ts';
import { createLocalModelClient, type LocalModelClient } from '../../../src/llm/local/host/client.ts';
import { withTextToolCallParsing } from '../../../src/llm/textCalls/textCalls.ts';
import type { Deed, Part } from '../../support/providers.ts';
import { withNulls } from '../../support/scripted.ts';
import { type Own, type Row, tools } from '../behaviours.ts';
import { localModel } from './setup.ts';

const noQuota: Own = { absent: 'nobody rations a file' };
const noRetry: Own = { absent: 'a file does not mend while one waits' };

/** A real model file in a real process of its own. What a server would do, its file or its process does. */
export const localRow: Row = {
  name: 'local',
  limits: { connectMs: 0, firstTokenMs: 0, idleMs: 1500 },
  own: {
    text: { as: 'with its own count of tokens', gives: { content: 'Hello 🙂', finish: 'stop' } },
    thinking: {
      as: 'in the line breaks of its template',
      gives: { thinking: /^\s*Let me see\.\s*$/, content: 'Hello', finish: 'stop' },
    },
    unknownTool: { absent: 'its grammar writes only names that were offered' },
    malformed: {
      as: 'what its grammar lets through and the schema does not',
      deeds: [{ parts: [{ call: 'fs_write', args: '{"path": "a", "line": 1e999}' }] }],
      gives: { calls: ['fs.write !{"path": "a", "line": 1e999}'], finish: 'tool_calls' },
    },
    unauthorized: {
      as: 'a file that cannot be read',
      gives: { code: 'UNKNOWN', message: /cannot be read \(EISDIR\)/ },
    },
    forbidden: { as: 'no file', gives: { code: 'UNKNOWN', message: /There is no model file at/ } },
    limitedOnce: noQuota,
    limited: noQuota,
    limitedLong: noQuota,
    failingOnce: noRetry,
    failing: { as: 'a file that cannot be loaded', gives: { code: 'UNKNOWN', message: /could not be loaded/ } },
    rejected: { as: 'a file that is no model', gives: { code: 'UNKNOWN', message: /is not a GGUF model file/ } },
    overflow: { as: 'more than its window holds' },
    cut: {
      as: 'its process is killed',
      gives: { content: /^Half of/, code: 'LLM_INCOMPLETE', message: /signal SIGKILL/, incomplete: true },
    },
    hang: {
      as: 'its process stands still',
      gives: { content: /^Half of/, code: 'LLM_TIMEOUT', incomplete: true },
    },
    silence: {
      as: 'its process ends before a word, and is started again by the next message',
      deeds: [{ parts: [], end: 'cut' }],
      gives: { code: 'LLM_INCOMPLETE', message: /Send a message to start it again/ },
    },
    stopInWait: { absent: 'none of its failures is waited for' },
  },
  async start(deeds) {
    const deed = deeds[0]!;
    const { options, close } = await localModel(toScript(deed), 'qwen');
    if (typeof deed !== 'string' && 'status' in deed) damage(options.modelPath, deed);
    let requests = 0;
    let open = 0;
    return {
      client({ note }) {
        const window = typeof deed === 'object' && 'status' in deed && /too long/.test(deed.message) ? 256 : 8192;
        const own = createLocalModelClient({ ...options, contextSize: window, onLog: note });
        closing.push(() => own.dispose());
        return withTextToolCallParsing<LocalModelClient>({
          ...own,
          async *chatStream(request, signal) {
            requests++;
            open++;
            try {
              for await (const chunk of own.chatStream(request, signal)) {
                act(deed, chunk, own.pid());
                yield chunk;
              }
            } finally {
              open--;
            }
          },
        });
      },
      requests: () => requests,
      open: () => open,
      async close() {
        for (const one of closing.splice(0)) await one();
        await close();
      },
    };
  },
};

const closing: (() => Promise<void>)[] = [];

/** What ends a deed happens to the process as soon as the last part of it has been heard. */
function act(deed: Deed, chunk: ChatStreamChunk, pid: number | undefined): void {
  if (pid === undefined || (typeof deed !== 'string' && (!('parts' in deed) || deed.end === undefined))) return;
  const last = deed === 'no answer' ? undefined : (deed as { parts: Part[] }).parts.at(-1);
  const heard = last === undefined ? chunk.progress : 'call' in last ? chunk.toolCall : chunk.content;
  if (heard) process.kill(pid, typeof deed === 'object' && 'end' in deed && deed.end === 'cut' ? 'SIGKILL' : 'SIGSTOP');
}

function damage(file: string, { status, message }: { status: number; message: string }): void {
  if (/too long/.test(message)) return;
  const whole = `${file}.whole`;
  copyFileSync(file, whole);
  rmSync(file);
  if (status === 401) mkdirSync(file);
  else if (status === 400) writeFileSync(file, 'Once upon a time');
  else if (status >= 500) {
    copyFileSync(whole, file);
    truncateSync(file, 400_000);
  }
}

/** A reply that breaks goes on for a while after its last part: it is broken from outside, in the middle. */
function toScript(deed: Deed): DemoAutomatonScript {
  const { parts, end } =
    typeof deed === 'object' && 'parts' in deed ? deed : { parts: [{ text: 'Hello' }], end: undefined };
  const step: { -readonly [Key in keyof DemoScriptStep]: DemoScriptStep[Key] } = {};
  const calls: NonNullable<DemoScriptStep['calls']>[number][] = [];
  for (const part of parts) {
    if ('thinking' in part) step.think = part.thinking;
    else if ('text' in part) step.text = part.text;
    else calls.push({ name: part.call, args: complete(part) });
  }
  if (end && calls.length > 0) {
    for (let more = 0; more < 60; more++) {
      calls.push({ name: 'fs_read', args: complete({ call: 'fs_read', args: { path: `${more}` } }) });
    }
  } else if (end) step.loop = [' and', ' on', ' so'];
  if (calls.length > 0) step.calls = calls;
  return { name: 'Table', scenarios: [{ on: userMessageMarker, steps: [step] }] };
}

function complete({ call, args }: Extract<Part, { call: string }>): Record<string, unknown> | string {
  if (typeof args === 'string') return args;
  const schema = tools?.find(({ name }) => name.replace('.', '_') === call)?.parameters ?? {};
  return withNulls(args, schema) as Record<string, unknown>;
}
