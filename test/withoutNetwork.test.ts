import assert from 'node:assert/strict';
import dns from 'node:dns';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import path from 'node:path';
import { fetchCertificateIssuer } from '../src/extension/doctor/issuer.ts';
import { createAdapter } from '../src/llm/adapter/adapter.ts';
import { createLLMClient } from '../src/llm/createClient.ts';
import { findDownloadableModel } from '../src/llm/local/download/modelHub.ts';
import { addGpuEngine, gpuEnginesFor } from '../src/llm/local/engineInstall/gpuEngine.ts';
import type { ProviderId } from '../src/llm/models/providers.ts';
import { setNetworkProbe } from '../src/protocol/text/networkReason.ts';
import { acquireRunLock } from '../src/runs/lock.ts';
import { loadMcpSdk } from '../src/tools/mcp/loadSdk.ts';
import { discoverSignIn } from '../src/tools/mcp/oauth/discoverSignIn.ts';
import { createSignInFetch } from '../src/tools/mcp/oauth/signInFetch.ts';
import { hasExternalInterface } from '../src/tools/network/networkInterfaces.ts';
import { anySiteFetchPolicy, fetchWebPage } from '../src/tools/web/fetch.ts';
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
});
