// An MCP server over stdio that speaks only revision 2026-07-28, as its first argument says: `exits` ends at `initialize`, `late` answers
// `server/discover` after that many milliseconds.
import { createInterface } from 'node:readline';

const [kind = '', time = '0'] = process.argv.slice(2);
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const schema = { type: 'object', properties: {} };
const names = ['echo', 'untyped', 'odd', 'ask', 'open', 'secret', 'sample', 'change'];
let tools = [...names.map((name) => ({ name, inputSchema: schema })), { name: 7 }];
let listening;

const question = (properties) => ({
  method: 'elicitation/create',
  params: { message: 'Which?', requestedSchema: { type: 'object', properties, required: ['color'] } },
});
const questions = {
  ask: question({ color: { type: 'string', enum: ['red', 'blue'] }, count: { type: 'integer', default: 3 } }),
  secret: question({ color: { type: 'string' }, apiKey: { type: 'string' } }),
  open: { method: 'elicitation/create', params: { mode: 'url', message: 'Pay', url: 'https://pay.example/1' } },
  sample: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const complete = (result) =>
    write({ id, result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result } });
  if (method === 'server/discover')
    setTimeout(
      () =>
        complete({
          supportedVersions: ['2026-07-28'],
          capabilities: { tools: { listChanged: true }, resources: null },
        }),
      Number(time),
    );
  else if (method === 'tools/list') complete({ tools, nextCursor: null });
  else if (method === 'subscriptions/listen') {
    listening = id;
    write({
      method: 'notifications/subscriptions/acknowledged',
      params: { _meta: { 'io.modelcontextprotocol/subscriptionId': id }, notifications: params.notifications },
    });
  } else if (method === 'tools/call') call(id, params, complete);
  else if (method === 'initialize' && kind === 'exits') process.exit(5);
  else if (id !== undefined) write({ id, error: { code: -32601, message: `There is no ${method}.` } });
});

function call(id, { name, inputResponses, requestState, _meta }, complete) {
  const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
  if (name === 'untyped') return write({ id, result: text('untyped') });
  if (name === 'odd')
    return complete({
      content: [
        { type: 'text', text: null },
        { type: 'text', text: 'fine' },
      ],
      isError: null,
    });
  if (name === 'change') {
    tools = [{ name: 'new', inputSchema: schema }];
    write({
      method: 'notifications/tools/list_changed',
      params: { _meta: { 'io.modelcontextprotocol/subscriptionId': listening } },
    });
    return complete(text('changed'));
  }
  if (!questions[name]) return complete(text(_meta));
  if (inputResponses) return complete(text({ inputResponses, requestState }));
  write({
    id,
    result: { resultType: 'input_required', inputRequests: { one: questions[name] }, requestState: 'as it is' },
  });
}
