// A server without a library that writes files and connects, for tests of the sandbox.
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { createInterface } from 'node:readline';

const tools = {
  write: ({ path }) => {
    writeFileSync(path, 'written');
    return 'written';
  },
  read: ({ path }) => readFileSync(path, 'utf8'),
  // Through the proxy of the environment, as programs in the sandbox connect.
  get: ({ url }) =>
    new Promise((resolve, reject) => {
      const proxy = new URL(process.env.http_proxy);
      const headers = proxy.username
        ? { 'Proxy-Authorization': `Basic ${Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64')}` }
        : {};
      http
        .get({ host: proxy.hostname, port: proxy.port, path: url, headers }, (answer) => {
          answer.resume();
          resolve(`status ${answer.statusCode}`);
        })
        .on('error', reject);
    }),
};

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize')
    send({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'confined', version: '1' },
      },
    });
  else if (method === 'tools/list')
    send({
      id,
      result: { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) },
    });
  else if (method === 'tools/call') {
    const { name, arguments: args } = params;
    const text = await Promise.resolve()
      .then(() => tools[name](args))
      .catch((error) => `failed: ${error.code ?? error.message}`);
    send({ id, result: { content: [{ type: 'text', text }] } });
  } else send({ id, error: { code: -32601, message: 'Method not found' } });
});
