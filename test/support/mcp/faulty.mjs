// An MCP server over stdio that misbehaves as its first argument says; without one it is well-behaved. Small and by hand,
// because the SDK's own server does not misbehave.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [fault = 'none', file = ''] = process.argv.slice(2);
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const answer = (id, result) => write({ id, result });
const schema = { type: 'object', properties: { text: { type: 'string' } } };
const tool = (name, more = {}) => ({ name, description: `Does ${name}.`, inputSchema: schema, ...more });

/** Tools can be changed from outside: the file holds the whole list. */
const tools = () => {
  if (fault === 'listed') return JSON.parse(readFileSync(file, 'utf8'));
  if (fault === 'changes' && existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  if (fault === 'many')
    return Array.from({ length: 25 }, (_, index) =>
      tool(`tool_${index}`, index === 7 ? { description: 'Waters the garden.' } : {}),
    );
  return [
    tool('work'),
    ...(fault === 'changes' ? [tool('change', { title: 'Change the list' })] : []),
    tool('look', { annotations: { readOnlyHint: true } }),
  ];
};

let lists = 0;
let isFrozen = false;
if (fault === 'exits-at-once') process.exit(3);
if (fault === 'dies') process.stderr.write(readFileSync(file), () => process.exit(1));
if (fault === 'complains') process.stderr.write(readFileSync(file));
if (fault === 'greets') process.stdout.write('Welcome to the server!\n');
if (fault === 'with-child') {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  writeFileSync(file, String(child.pid));
}
if (fault === 'stays') process.stdin.on('end', () => setInterval(() => {}, 1000));
process.on('SIGTERM', () => {
  if (fault !== 'stays') process.exit(0);
});

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (isFrozen) return;
  if (method === 'server/discover' && fault === 'strict') process.exit(9);
  if (method === 'initialize') {
    if (fault === 'hangs-at-initialize' || fault === 'complains' || fault === 'dies') return;
    const capabilities = { tools: { listChanged: true }, logging: {} };
    answer(id, { protocolVersion: params.protocolVersion, capabilities, serverInfo: { name: 'faulty', version: '1' } });
  }
  if (method === 'notifications/cancelled' && file) writeFileSync(file, 'cancelled');
  if (method === 'tools/list') {
    lists += 1;
    answer(id, { tools: fault === 'never-rests' ? [tool('work'), tool(`tool_${lists}`)] : tools() });
    if (fault === 'never-rests' && lists > 1) write({ method: 'notifications/tools/list_changed' });
  }
  if (method === 'tools/call') call(id, params);
  if (id !== undefined && method && !['initialize', 'tools/list', 'tools/call'].includes(method) && fault !== 'silent')
    write({ id, error: { code: -32601, message: 'Method not found' } });
});

function call(id, { name, arguments: given, _meta }) {
  const text = (words) => ({ content: [{ type: 'text', text: words }] });
  if (name === 'change') {
    writeFileSync(file, given.text);
    answer(id, text('changed'));
    return write({ method: 'notifications/tools/list_changed' });
  }
  const faults = {
    exits: () => process.exit(7),
    hangs: () => {},
    freezes: () => {
      isFrozen = true;
    },
    'sends-100-mb': () => {
      const megabyte = 'x'.repeat(1024 * 1024);
      process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`);
      const more = (left) => left > 0 && process.stdout.write(megabyte, () => more(left - 1));
      more(100);
    },
    'sends-no-json': () => process.stdout.write('{"jsonrpc": "2.0", oh no\n'),
    'sends-no-rpc': () => process.stdout.write('{"hello":"world"}\n'),
    'answers-twice': () => {
      answer(id, text('first'));
      answer(id, text('second'));
    },
    'answers-wrong-id': () => answer(id + 1000, text('for somebody else')),
    floods: () => {
      const flood = () => {
        for (let count = 0; count < 1000; count++)
          write({ method: 'notifications/message', params: { level: 'info', data: 'drip' } });
        setImmediate(flood);
      };
      flood();
    },
    'never-rests': () => {
      answer(id, text('from now on'));
      write({ method: 'notifications/tools/list_changed' });
    },
    chatters: () => process.stdout.write('oh, a call\n'.repeat(200)),
    'no-result': () => answer(id, { content: 'not a list' }),
    'wants-page': () =>
      write({
        id,
        error: {
          code: -32042,
          message: 'A page first.',
          data: { elicitations: [{ mode: 'url', elicitationId: '1', message: 'Pay', url: 'https://pay.example/' }] },
        },
      }),
    'says-no': () => write({ id, error: { code: -32000, message: 'I would rather not.' } }),
    'is-error': () => answer(id, { ...text('It went wrong.'), isError: true }),
    environment: () => answer(id, text(JSON.stringify({ env: process.env, cwd: process.cwd() }))),
    'asks-back': () => {
      write({ id: 'q', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } });
      createInterface({ input: process.stdin }).once('line', (line) => answer(id, text(line)));
    },
    progress: () => {
      write({
        method: 'notifications/progress',
        params: { progressToken: _meta.progressToken, progress: 1, total: 2 },
      });
      answer(id, text('done'));
    },
    writes: () => {
      writeFileSync(file, given.text);
      answer(id, text('written'));
    },
    long: () => answer(id, text('word '.repeat(40_000))),
  };
  const behave = faults[fault] ?? (() => answer(id, text(`${name}: ${JSON.stringify(given)}`)));
  behave();
}
