import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ChatRequest, LLMClient } from '../../src/llm/core/client.ts';
import { type Heard, hear, type Served, type Slicing, served, slicings } from './serve.ts';

/** Replies of real providers lie beside the project, where they are; the project's own cases cover every quirk too. */
const folder = fileURLToPath(new URL('../../../shared/fixtures/wire/', import.meta.url));

export interface RecordedCase<Expected extends { error?: unknown }> {
  protocol: string;
  mode: 'stream' | 'json' | 'error' | 'stream-json-array';
  file: string;
  /** The request that was answered so. */
  requestFile?: string;
  status: number;
  headers: Record<string, string>;
  policy?: string[];
  exercises: string[];
  expected: Expected;
  expectedError?: RecordedError;
}

export interface RecordedError {
  code: string;
  status: number;
  message: string;
  retryable: boolean;
  retryAfterMs?: number;
  reason?: string;
}

/** The tests for the cases of one protocol, where there are any. */
export function describeRecorded<Expected extends { error?: unknown }>(
  title: string,
  protocol: string,
  tests: (cases: RecordedCase<Expected>[]) => void,
): void {
  describe(title, () => {
    if (!existsSync(`${folder}index.json`)) {
      it('are absent here; the hand-made cases stand alone', () => assert.ok(!existsSync(`${folder}index.json`)));
      return;
    }
    const index = JSON.parse(textOf('index.json')) as RecordedCase<Expected>[];
    const cases = index.filter((one) => one.protocol === protocol);
    it('are here', () => assert.ok(cases.length >= 20));
    tests(cases);
  });
}

export const isStream = ({ mode, expected }: RecordedCase<{ error?: unknown }>) => mode === 'stream' && !expected.error;

/** With plain line ends. */
export const textOf = (file: string): string => readFileSync(folder + file, 'utf8').replaceAll('\r\n', '\n');

/** Undefined where the request was not recorded. */
export function requestOf(requestFile: string | undefined): unknown {
  return requestFile && existsSync(folder + requestFile) ? JSON.parse(textOf(requestFile)) : undefined;
}

export function replyOf(recorded: RecordedCase<object>, streamType = 'text/event-stream'): Served {
  const type = recorded.mode === 'stream' ? streamType : 'application/json';
  return { status: recorded.status, headers: { 'content-type': type, ...recorded.headers }, body: bodyOf(recorded) };
}

/** Some are from a recorder that puts what came over the wire into `bodySegments`. */
function bodyOf({ file }: RecordedCase<object>): Uint8Array {
  const bytes = new Uint8Array(readFileSync(folder + file));
  const text = new TextDecoder().decode(bytes);
  if (!text.startsWith('{"bodySegments"')) return bytes;
  return new TextEncoder().encode(JSON.stringify(JSON.parse(text).bodySegments[0]));
}

/** What is heard of a reply, cut in every way; the long ones in two. */
export async function hearAll(reply: Served, client: LLMClient, request: ChatRequest): Promise<Heard[]> {
  const all: Heard[] = [];
  const ways: readonly Slicing[] = reply.body.length < 300_000 ? slicings : ['whole', 'random'];
  for (const slicing of ways) all.push(await served(reply, slicing, () => hear(client.chatStream(request))));
  return all;
}

/** The same server-sent events, written in the other ways the standard allows. */
export function framingsOf(unix: string): Record<string, string> {
  return {
    'CR LF': unix.replaceAll('\n', '\r\n'),
    CR: unix.replaceAll('\n', '\r'),
    comments: unix.replaceAll('\n\n', '\n\n: keepalive\n\n'),
    BOM: `\uFEFF${unix}`,
    'no space': unix.replaceAll(/^data: /gm, 'data:'),
    'no event names': unix.replaceAll(/^event: .*\n/gm, ''),
    'two lines': unix.replaceAll(/^data: \{(?=.)/gm, 'data: {\ndata: '),
    'no end': unix.trimEnd(),
  };
}

/** `code` where ours is finer than the one recorded. */
export function expectError({ error }: Heard, expected: RecordedError, code = expected.code): void {
  const { status, retryable, message, retryAfterMs } = expected;
  assert.deepEqual([error?.code, error?.status, error?.retryable], [code, status, retryable]);
  assert.ok(error?.message.includes(message.slice(0, 400)), error?.message);
  if (retryAfterMs !== undefined) assert.equal(error?.retryAfterMs, retryAfterMs);
}

/** An error, and nothing of it is run. */
export function expectNoAnswer({ error, calls }: Pick<Heard, 'error' | 'calls'>, what?: string): void {
  assert.ok(error && ['LLM_INCOMPLETE', 'LLM_BAD_RESPONSE', 'LLM_HTTP_ERROR'].includes(error.code), what);
  assert.deepEqual(calls, []);
}

export const withoutOwnIds = ({ calls, ...heard }: Heard) => ({
  ...heard,
  calls: calls.map((call) => ({ ...call, id: /^call_[0-9a-f]{20}$/.test(call.id) ? 'ours' : call.id })),
});
