import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AdapterResult, createAdapter } from '../../src/llm/adapter/adapter.ts';
import { createIdentity, type Identity } from '../support/identity.ts';
import { manifestSettings } from '../support/manifestSettings.ts';
import { reply } from '../support/reply.ts';
import { clientFor, greeting } from './serve.ts';

const canary = 'sk-CANARYKEY1234567890';
const day = 86_400_000;

// The same file is the client in a process of its own: which authorities are trusted is settled when a process starts.
if (process.argv[2] === 'ask') process.send?.(await ask(process.argv[3]!));
else describe('a provider whose certificate is not accepted', tests);

function ask(url: string): Promise<AdapterResult> {
  const adapter = createAdapter(clientFor(url, { apiKey: canary }), { baseDelayMs: 1 });
  return adapter.complete(greeting, { signal: new AbortController().signal });
}

function tests(): void {
  const authority = createIdentity('Towpath test authority');
  const stranger = createIdentity('localhost');
  const good = createIdentity('localhost', { issuer: authority });
  const late = { from: -2 * day, to: -day };

  const refusals: [says: string, identity: Identity, trusted: Identity | undefined, code: RegExp, words: string][] = [
    ['self-signed', stranger, undefined, /DEPTH_ZERO_SELF_SIGNED_CERT/, 'the issuer of the certificate is unknown'],
    [
      'of an authority nobody knows',
      good,
      undefined,
      /UNABLE_TO_VERIFY_LEAF_SIGNATURE/,
      'the issuer of the certificate is unknown',
    ],
    [
      'self-signed and expired',
      createIdentity('localhost', late),
      undefined,
      /CERT_HAS_EXPIRED/,
      'the certificate has expired',
    ],
    [
      'expired',
      createIdentity('localhost', { ...late, issuer: authority }),
      authority,
      /CERT_HAS_EXPIRED/,
      'the certificate has expired',
    ],
    [
      'not valid yet',
      createIdentity('localhost', { from: day, to: 2 * day, issuer: authority }),
      authority,
      /CERT_NOT_YET_VALID/,
      'the certificate is not valid yet',
    ],
    [
      "another host's",
      createIdentity('models.example', { issuer: authority }),
      authority,
      /ERR_TLS_CERT_ALTNAME_INVALID/,
      'the certificate belongs to another server',
    ],
  ];
  for (const [says, identity, trusted, code, words] of refusals) {
    it(`N03 ${says}: one connection, nothing is sent, and the reason is told`, async () => {
      const { result, connections, requests } = await meet(identity, trusted);
      assert.deepEqual(
        [result.success, result.error?.code, result.attempts, connections, requests],
        [false, 'LLM_HTTP_ERROR', 1, 1, 0],
        JSON.stringify(result),
      );
      const { message = '', details } = result.error ?? {};
      assert.match(message, /^The certificate of .*localhost:\d+.* was not accepted: /);
      assert.ok(message.includes(`: ${words}. `), message);
      assert.doesNotMatch(message, code, 'codes stand in the details');
      assert.match(JSON.stringify(details), code);
      assert.ok(!JSON.stringify(result).includes(canary), 'the key is told to nobody');
    });
  }

  it('N03 the way out that is told works: an authority of the system is trusted', async () => {
    const { result, connections, requests } = await meet(good, authority);
    assert.deepEqual(
      [result.message?.content, result.attempts, connections, requests],
      ['Hello', 1, 1, 1],
      JSON.stringify(result),
    );
  });

  it('N03 nothing turns the check off: no line of the sources, no setting', async () => {
    const switches = /rejectUnauthorized|TLS_REJECT|strictSSL|checkServerIdentity|ignore-certificate/i;
    const root = fileURLToPath(new URL('../../', import.meta.url));
    const sources = (await readdir(join(root, 'src'), { recursive: true })).filter((file) => /\.m?[jt]s$/.test(file));
    assert.ok(sources.length > 50);
    for (const file of sources) {
      const text = await readFile(join(root, 'src', file), 'utf8');
      const isDoctor = /^extension[\\/]doctor[\\/]/.test(file); // warns of the editor's switch
      assert.doesNotMatch(isDoctor ? text.replaceAll('proxyStrictSSL', '') : text, switches, file);
    }
    for (const setting of Object.keys(manifestSettings)) {
      assert.doesNotMatch(setting, /tls|ssl|cert|insecure|verify/i);
    }
  });
}

/** One call, in a new process, to a server that shows this certificate. */
async function meet(identity: Identity, trusted: Identity | undefined) {
  let connections = 0;
  let requests = 0;
  const server = createServer({ key: identity.key, cert: identity.certificate }, (request, response) => {
    requests++;
    request.resume();
    response.writeHead(200, { ...reply.headers, connection: 'close' });
    response.end(reply.text('Hello').bytes());
  });
  server.on('connection', () => connections++);
  const folder = await mkdtemp(join(tmpdir(), 'towpath-tls-'));
  try {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const authorities = join(folder, 'authorities.pem');
    await writeFile(authorities, trusted?.certificate ?? '');
    const child = fork(
      fileURLToPath(import.meta.url),
      ['ask', `https://localhost:${(server.address() as AddressInfo).port}/v1`],
      { execArgv: ['--import', 'tsx'], env: { ...process.env, ...(trusted && { NODE_EXTRA_CA_CERTS: authorities }) } },
    );
    const result = await answerOf(child);
    return { result, connections, requests };
  } finally {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  }
}

function answerOf(child: ChildProcess): Promise<AdapterResult> {
  return new Promise((resolve, reject) => {
    child.once('message', (result) => {
      child.kill();
      resolve(result as AdapterResult);
    });
    child.once('exit', (code) => reject(new Error(`The client ended with ${code} and said nothing.`)));
  });
}
