// biome-ignore-all lint/suspicious/noTemplateCurlyInString: VS Code's own variables

import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeAll, talk } from '../talk.ts';

const canary = 'sk-CANARYKEY1234567890';
const open: Server[] = [];

async function serve(listener: RequestListener): Promise<{ url: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    listener(request, response);
  });
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, requests };
}

afterEach(async () => {
  await closeAll();
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const far = (url: string) => ({
  inputs: [{ type: 'promptString', id: 'token', password: true, default: canary }],
  servers: { far: { url, headers: { Authorization: 'Bearer ${input:token}' } } },
});

/** A server that answers `initialize` and an empty list, then calls as it likes. */
const speaking =
  (call: (id: number, response: Parameters<RequestListener>[1]) => void): RequestListener =>
  async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    let text = '';
    for await (const piece of request.setEncoding('utf8')) text += piece;
    const { id, method, params } = JSON.parse(text);
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'tools/call') return call(id, response);
    const tool = { name: 'work', inputSchema: { type: 'object' } };
    const serverInfo = { name: 'far', version: '1' };
    const introduction = { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo };
    const result = method === 'initialize' ? introduction : { tools: [tool] };
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  };

describe('MCP over HTTP: what is not done', () => {
  const refusals: [what: string, listener: RequestListener, problem: string][] = [
    ['401', (_, r) => r.writeHead(401).end(), 'answered 401: its headers do not give access'],
    ['403', (_, r) => r.writeHead(403).end(), 'answered 403: its headers do not give access'],
    ['a redirect elsewhere', (_, r) => r.writeHead(307, { location: 'http://127.0.0.1:9/steal?x=1' }).end(), 'redirects to http://127.0.0.1:9/steal, which is not followed; configure that address'],
    ['a redirect within the server', (_, r) => r.writeHead(308, { location: '/other' }).end(), 'redirects to ORIGIN/other, which is not followed; configure that address'],
    ['500', (_, r) => r.writeHead(500).end('oops'), 'answered 500'],
    ['404 on both ways', (_, r) => r.writeHead(404).end(), 'answered 404'],
    ['something else entirely', (_, r) => r.setHeader('content-type', 'text/html').end('<html>'), 'could not be connected to: Unexpected content type: text/html'],
  ]; // biome-ignore format: a table
  for (const [what, listener, problem] of refusals)
    it(what, async () => {
      const { url, requests } = await serve(listener);
      const t = await talk(far(url));
      await t.prepare();
      const words = problem.replace('ORIGIN', new URL(url).origin);
      assert.deepEqual(t.server('far').state, { phase: 'failed', problem: `The MCP server "far" ${words}.` });
      assert.equal(requests[0]!.headers.authorization, `Bearer ${canary}`);
      assert.ok(!requests.some((request) => request.url === '/other'));
      assert.ok(!JSON.stringify([t.logged, t.said, t.kept.value]).includes(canary));
    });

  it('nobody there', async () => {
    const { url } = await serve(() => {});
    await new Promise((resolve) => open.pop()!.close(resolve));
    const t = await talk(far(url));
    await t.prepare();
    assert.deepEqual(t.server('far').state, {
      phase: 'failed',
      problem: 'The MCP server "far" cannot be reached: the connection was refused.',
    });
  });

  it('headers over plain http to another machine', async () => {
    const t = await talk(far('http://example.com/mcp'));
    await t.prepare();
    const problem =
      'The MCP server "far" has headers, which would be sent unencrypted to another machine; use https://.';
    assert.deepEqual(t.server('far').state, { phase: 'failed', problem });
  });

  it('a server that never answers', async () => {
    const { url } = await serve(() => {});
    const t = await talk(far(url));
    t.limits.startMs = 500;
    await t.prepare();
    assert.deepEqual(t.server('far').state, {
      phase: 'failed',
      problem: 'The MCP server "far" did not start within 0.5 s.',
    });
  });

  const answers: [what: string, type: string, body: () => string[]][] = [
    ['an answer of 20 MiB', 'application/json', () => Array(20).fill('x'.repeat(2 ** 20))],
    ['an event of 20 MiB', 'text/event-stream', () => ['data: ', ...Array(20).fill('x'.repeat(2 ** 20)), '\n\n']],
    ['no JSON', 'application/json', () => ['{']],
    ['an event that is no JSON', 'text/event-stream', () => ['data: {\n\n']],
    ['no JSON-RPC', 'application/json', () => ['{"hello":"world"}']],
    ['an answer to somebody else', 'application/json', () => ['{"jsonrpc":"2.0","id":999,"result":{}}']],
  ];
  for (const [what, type, body] of answers)
    it(`${what}: the call fails, the server is marked failed`, async () => {
      const { url } = await serve(
        speaking((_, response) => {
          response.setHeader('content-type', type);
          for (const piece of body()) response.write(piece);
          response.end();
        }),
      );
      const t = await talk(far(url));
      await t.prepare();
      t.limits.callMs = 60_000; // a busy machine takes seconds for 20 MiB
      const outcome = await t.call('mcp.far.work', {});
      assert.equal(!outcome.ok && outcome.error.code, 'TOOL_EXEC_FAILED', JSON.stringify(outcome));
      assert.equal(t.server('far').state.phase, 'failed');
    });

  it('a server that gives a header back does not show it', async () => {
    const { url } = await serve(
      speaking((id, response) => {
        const content = [{ type: 'text', text: `You sent Bearer ${canary}` }];
        response
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify({ jsonrpc: '2.0', id, result: { content, structuredContent: { [canary]: canary } } }));
      }),
    );
    const t = await talk(far(url));
    await t.prepare();
    assert.deepEqual(await t.call('mcp.far.work', {}), {
      ok: true,
      data: { text: 'You sent •••', structured: { '•••': '•••' } },
    });
  });

  it('a server that was there and went away is started again with the next run', async () => {
    let isUp = false;
    const { url } = await serve(
      speaking((id, response) => {
        if (!isUp) return void response.destroy();
        response
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } }));
      }),
    );
    const t = await talk(far(url));
    await t.prepare();
    assert.ok(!(await t.call('mcp.far.work', {})).ok);
    assert.equal(t.server('far').state.phase, 'failed');
    isUp = true;
    await t.prepare();
    assert.deepEqual(await t.call('mcp.far.work', {}), { ok: true, data: { text: '' } });
  });
});
