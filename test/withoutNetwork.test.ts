import assert from 'node:assert/strict';
import dns from 'node:dns';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { fetchCertificateIssuer } from '../src/extension/doctor/issuer.ts';
import { createAdapter } from '../src/llm/adapter/adapter.ts';
import { createLLMClient } from '../src/llm/createClient.ts';
import { findDownloadableModel } from '../src/llm/local/download/modelHub.ts';
import { addGpuEngine, gpuEnginesFor } from '../src/llm/local/engineInstall/gpuEngine.ts';
import type { ProviderId } from '../src/llm/models/providers.ts';
import { networkReason, setNetworkProbe } from '../src/protocol/text/networkReason.ts';
import { acquireRunLock } from '../src/runs/lock.ts';
import { loadMcpSdk } from '../src/tools/mcp/loadSdk.ts';
import { discoverSignIn } from '../src/tools/mcp/oauth/discoverSignIn.ts';
import { createSignInFetch } from '../src/tools/mcp/oauth/signInFetch.ts';
import { hasExternalInterface } from '../src/tools/network/networkInterfaces.ts';
import { anySiteFetchPolicy, fetchWebPage } from '../src/tools/web/fetch.ts';
import { eventually } from './support/eventually.ts';
import { closeAll, talk } from './tools/mcp/talk.ts';

const host = 'far.example';
const address = `https://${host}/v1`;
const never = new AbortController().signal;

interface Failure {
  code: string;
  syscall?: string;
  address?: string;
}

describe('without a network', () => {
  const before = { fetch: globalThis.fetch, lookup: dns.lookup, find: dns.promises.lookup };
  const folder = mkdtempSync(path.join(tmpdir(), 'offline-'));
  let tries = 0;
  let failure: Failure;
  const failing = () => {
    tries++;
    return Object.assign(new Error(`${failure.syscall ?? 'connect'} ${failure.code} ${host}`), failure);
  };
  beforeEach(() => {
    tries = 0;
    failure = { code: 'EAI_AGAIN', syscall: 'getaddrinfo' };
    globalThis.fetch = async () => {
      throw new TypeError('fetch failed', { cause: failing() });
    };
    dns.promises.lookup = (async () => {
      throw failing();
    }) as never;
    dns.lookup = ((_name: string, _options: unknown, then: (error: Error) => void) => then(failing())) as never;
  });
  afterEach(async () => {
    globalThis.fetch = before.fetch;
    dns.lookup = before.lookup;
    dns.promises.lookup = before.find;
    setNetworkProbe(() => true);
    await closeAll();
  });
  after(() => rmSync(folder, { recursive: true }));

  const complete = (provider: ProviderId) => {
    const own = { provider, baseUrl: address, apiKey: 'key', azure: { deployment: 'x', apiVersion: '1' } };
    const client = createLLMClient({ ...own, model: 'some-model' });
    const request = { model: 'some-model', messages: [{ role: 'user', content: 'hi' } as const], tools: [] };
    const limits = { baseDelayMs: 1, maxDelayMs: 1 };
    return { client, answer: () => createAdapter(client, limits).complete(request, { signal: never }) };
  };
  const messageOf = async (failed: Promise<unknown>): Promise<string> => {
    const error = await failed.then(
      () => assert.fail('It should have failed.'),
      (reason: Error) => reason,
    );
    return error.message;
  };

  const surfaces: [what: string, ask: () => Promise<string>, says: RegExp][] = [
    ...(['openai', 'openai-responses', 'azure', 'anthropic', 'google', 'ollama'] as const).flatMap(
      (id): [string, () => Promise<string>, RegExp][] => {
        const says = /^.+ \(far\.example\) needs a network connection\.$/;
        return [
          [`an answer of ${id}`, async () => (await complete(id).answer()).error?.message ?? '', says],
          [`the models of ${id}`, () => messageOf(complete(id).client.listModels!(never)), says],
        ];
      },
    ),
    [
      'a model to download',
      () => {
        const repository = { kind: 'hub', repository: 'someone/some-model', revision: 'main' } as const;
        return messageOf(findDownloadableModel(repository, 'some-model', { hub: `https://${host}` }));
      },
      /^far\.example needs a network connection\. Without network: pick a \.gguf file/,
    ],
    [
      'a GPU engine to download',
      () => {
        const [engine] = gpuEnginesFor('linux', 'x64');
        const modules = path.join(folder, 'node_modules');
        const library = path.join(modules, 'node-llama-cpp');
        mkdirSync(library, { recursive: true });
        writeFileSync(path.join(library, 'package.json'), JSON.stringify({ version: engine!.version }));
        const options = { modules, storage: folder, registry: `https://${host}`, lock: acquireRunLock };
        return messageOf(addGpuEngine(engine!, options));
      },
      /^far\.example needs a network connection\. Without network: fetch https/,
    ],
    [
      'a web page',
      () => messageOf(fetchWebPage(new URL(address), { reach: anySiteFetchPolicy(false), signal: never })),
      /^Web pages need a network connection\.$/,
    ],
    [
      'an MCP server',
      async () => {
        const t = await talk({ servers: { far: { url: address } } });
        await t.prepare();
        const { state } = t.server('far');
        return state.phase === 'failed' ? state.problem : state.phase;
      },
      /^The MCP server "far" needs a network connection\.$/,
    ],
    [
      'a sign-in to an MCP server',
      async () => messageOf(discoverSignIn(address, undefined, createSignInFetch(address), await loadMcpSdk())),
      /^the sign-in needs a network connection$/,
    ],
    [
      'a certificate',
      () => messageOf(fetchCertificateIssuer(`https://${host}`, { signal: never })),
      /^far\.example needs a network connection\.$/,
    ],
  ];
  for (const [what, ask, says] of surfaces)
    it(`${what}: tries once, and says that it needs one`, async () => {
      assert.match(await ask(), says);
      assert.equal(tries, 1);
    });

  it('an MCP server whose stream is lost with the network: connects once more, and says that it needs one', async () => {
    const streams: ServerResponse[] = [];
    const server = createServer(async (request, response) => {
      if (request.method === 'GET') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('retry: 1\nevent: endpoint\ndata: /messages\n\n');
        return void streams.push(response);
      }
      const { id, method, params } = (await json(request)) as { id?: number; method: string; params: object };
      response.writeHead(202).end();
      if (id === undefined) return;
      const introduction = { ...params, capabilities: { tools: {} }, serverInfo: { name: 'far', version: '1' } };
      const result = method === 'initialize' ? introduction : { tools: [] };
      streams.at(-1)!.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
    });
    dns.lookup = before.lookup; // it is asked about 127.0.0.1 too
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const offline = globalThis.fetch;
      let isOffline = false;
      globalThis.fetch = (...request) => (isOffline ? offline : before.fetch)(...request);
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`;
      const t = await talk({ servers: { far: { url, type: 'sse' } } });
      await t.prepare();
      const far = t.server('far');
      assert.equal(far.state.phase, 'running', JSON.stringify(far.state));
      isOffline = true;
      streams[0]!.destroy();
      await eventually('it is failed', () => far.state.phase === 'failed');
      assert.match(JSON.stringify(far.state), /The MCP server \\"far\\" needs a network connection\./);
      isOffline = false;
      await t.servers.restart(far);
      await eventually('it runs again', () => far.state.phase === 'running');
      assert.deepEqual([tries, streams.length], [1, 2]); // a client that went on would have come back within a millisecond
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  const failures: [Failure, withInterface: boolean, isOffline: boolean][] = [
    [{ code: 'EAI_AGAIN', syscall: 'getaddrinfo' }, true, true],
    [{ code: 'ENETUNREACH' }, true, true],
    [{ code: 'ENETDOWN' }, true, true],
    [{ code: 'ECONNREFUSED', syscall: 'queryA' }, true, true],
    [{ code: 'ENOTFOUND', syscall: 'getaddrinfo' }, false, true],
    [{ code: 'EHOSTUNREACH' }, false, true],
    [{ code: 'EADDRNOTAVAIL' }, false, true],
    [{ code: 'ENOTFOUND', syscall: 'getaddrinfo' }, true, false],
    [{ code: 'EHOSTUNREACH' }, true, false],
    [{ code: 'ECONNREFUSED', syscall: 'connect' }, true, false],
    [{ code: 'ECONNREFUSED', syscall: 'connect' }, false, false],
    [{ code: 'EADDRNOTAVAIL', address: '::1' }, false, false],
    [{ code: 'ECONNRESET' }, false, false],
  ];
  for (const [how, withInterface, isOffline] of failures)
    it(`${how.code} of ${how.syscall ?? 'a connection'}, ${withInterface ? 'on' : 'off'} a network: ${isOffline ? 'no network' : 'no such server'}`, async () => {
      failure = how;
      setNetworkProbe(() => withInterface);
      const { error } = await complete('openai').answer();
      assert.equal(/ needs a network connection\.$/.test(error!.message), isOffline, error!.message);
      assert.equal(tries, isOffline ? 1 : 4);
    });

  it('a machine with an address besides its own has a network', () => {
    const addresses = Object.values(networkInterfaces()).flat();
    assert.equal(
      hasExternalInterface(),
      addresses.some((one) => one !== undefined && !one.internal),
    );
  });

  it('a failure that is no error has a reason, too', () => {
    assert.deepEqual(networkReason(undefined), { code: '', text: 'undefined' });
    assert.deepEqual(networkReason(null), { code: '', text: 'null' });
  });
});
