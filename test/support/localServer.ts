import { type ChildProcess, fork } from 'node:child_process';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { ChatModelFunctions, GbnfJsonSchema, LlamaChat, LlamaModel } from 'node-llama-cpp';

// A second opinion about a model file: the same engine behind OpenAI's chat completions, in a process of its own, with
// none of Towpath's code. `fork`ed with the file's path, it tells its port and serves until it is ended.

export interface LocalServer {
  url: string;
  close(): void;
}

export async function startLocalServer(modelPath: string): Promise<LocalServer> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), [modelPath], { execArgv: ['--import', 'tsx'] });
  const port = await new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', () => reject(new Error('The server did not start.')));
  });
  return { url: `http://127.0.0.1:${port}/v1`, close: () => void child.kill('SIGKILL') };
}

interface WireMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

interface Asked {
  messages: WireMessage[];
  tools?: { function: { name: string; description: string; parameters: { properties?: Record<string, object> } } }[];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await serve(process.argv[2]!);

async function serve(modelPath: string): Promise<void> {
  const library = await import('node-llama-cpp');
  const llama = await library.getLlama({ gpu: false, build: 'never', skipDownload: true });
  const model = await llama.loadModel({ modelPath });
  const context = await model.createContext({ contextSize: 8192, threads: 1 });
  const chat = new library.LlamaChat({ contextSequence: context.getSequence() });
  const written = new Map<string, unknown>();
  const server = createServer(async (request, response) => {
    const asked = JSON.parse(await text(request)) as Asked;
    const { response: said, functionCalls } = await answer(chat, model, asked, written);
    const calls = functionCalls?.map(({ functionName: name, params }) => {
      const id = `call_${written.size}`;
      written.set(id, params);
      return { id, type: 'function', function: { name, arguments: JSON.stringify(params, withoutNulls) } };
    });
    const message = {
      role: 'assistant',
      content: said || null,
      ...(calls && { tool_calls: calls.map((call, index) => ({ index, ...call })) }),
    };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = (choice: object) =>
      response.write(`data: ${JSON.stringify({ id: '1', model: 'file', choices: [{ index: 0, ...choice }] })}\n\n`);
    event({ delta: message });
    event({ delta: {}, finish_reason: calls ? 'tool_calls' : 'stop' });
    response.end('data: [DONE]\n\n');
  });
  process.on('disconnect', () => process.exit());
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

/** Every property is written, in the order of the schema, or null: what the script in the file was written for. */
async function answer(chat: LlamaChat, model: LlamaModel, { messages, tools }: Asked, written: Map<string, unknown>) {
  const anything: GbnfJsonSchema = {
    oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'null' }, { type: 'array' }],
  };
  const functions: Record<string, ChatModelFunctions[string]> = Object.fromEntries(
    (tools ?? []).map(({ function: { name, description, parameters } }) => [
      name,
      {
        description,
        params: {
          type: 'object' as const,
          properties: Object.fromEntries(Object.keys(parameters.properties ?? {}).map((key) => [key, anything])),
        },
      },
    ]),
  );
  const { response, functionCalls } = await chat.generateResponse(toHistory(messages, written) as never, {
    functions,
    maxTokens: Math.min(400, model.trainContextSize),
    temperature: 0,
  });
  return { response, functionCalls };
}

function toHistory(messages: readonly WireMessage[], written: Map<string, unknown>): object[] {
  const results = new Map(messages.map((message) => [message.tool_call_id, message.content]));
  const history: { type: string; text?: string; response?: unknown[] }[] = [];
  for (const { role, content, tool_calls: calls } of messages) {
    if (role === 'tool') continue;
    if (role !== 'assistant') history.push({ type: role, text: content ?? '' });
    else {
      if (history.at(-1)?.type !== 'model') history.push({ type: 'model', response: [] });
      history.at(-1)!.response!.push(
        ...(content ? [content] : []),
        ...(calls ?? []).map((call, index) => ({
          type: 'functionCall',
          name: call.function.name,
          params: written.get(call.id), // as the model wrote it, nulls and all
          result: JSON.parse(results.get(call.id) ?? 'null'),
          ...(index === 0 && { startsNewChunk: true }),
        })),
      );
    }
  }
  if (history.at(-1)?.type !== 'model') history.push({ type: 'model', response: [] });
  return history;
}

function withoutNulls(_: string, value: unknown): unknown {
  return value === null ? undefined : value;
}

async function text(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
