// An MCP server over stdio that answers each method with what a file (JSON) has for it: `{ "tools/list": { "result": … } }`, or other
// members of the message, and messages that it sends `before`. For what the file leaves out it is well-behaved.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const answers = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const tool = { name: 'work', inputSchema: { type: 'object' } };
const usual = {
  initialize: (params) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {}, resources: {}, prompts: {} },
    serverInfo: { name: 'answers', version: '1' },
  }),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'done' }] }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const { before = [], ...answer } = answers[method] ?? {};
  for (const message of before) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const whole = Object.keys(answer).length > 0 ? answer : { result: usual[method]?.(params) ?? {} };
  if (method === 'initialize' && answer.result) answer.result = { ...usual.initialize(params), ...answer.result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...whole })}\n`);
});
