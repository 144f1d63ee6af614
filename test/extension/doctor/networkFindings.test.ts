import assert from 'node:assert/strict';
import { createServer as createProxy } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { doctorNetworkFindings, type NetworkSettings } from '../../../src/extension/doctor/networkFindings.ts';
import { createIdentity, type Identity } from '../../support/identity.ts';
import { startReadingProxy } from '../../support/readingProxy.ts';

const day = 86_400_000;
const authority = createIdentity('Towpath test authority');
const plain: NetworkSettings = { proxy: '', support: 'override', strict: true, environment: {} };

describe('what Doctor says of the network', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });
  const port = async (server: Server | ReturnType<typeof createProxy>) => {
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  };
  /** A server that shows this certificate; `asked`: whether anybody said anything to it. */
  const serve = async ({ key, certificate }: Identity) => {
    const asked: string[] = [];
    const server = createServer({ key, cert: certificate }, (request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.end();
    });
    return { address: `https://localhost:${await port(server)}/v1`, asked };
  };
  const findings = async (network: Partial<NetworkSettings>, signal = new AbortController().signal) =>
    (await doctorNetworkFindings({ ...plain, ...network }, signal)).map(({ level, text }) => `${level}: ${text}`);
  const none = 'fact: The editor names no proxy (http.proxy)';
  const until = (ms: number) => new Date(Date.now() + ms).toISOString().slice(0, 10);

  it('who issued the certificate of the model’s host, though nobody here knows them, and nothing is asked of it', async () => {
    const { address, asked } = await serve(createIdentity('localhost', { issuer: authority }));
    const { host } = new URL(address);
    assert.deepEqual(await findings({ address }), [
      none,
      `fact: The certificate of ${host} was issued by “Towpath test authority” until ${until(day)}. If that is your company, it can read this traffic`,
    ]);
    assert.deepEqual(asked, []);
  });

  it('one that has expired, and one that is not valid yet', async () => {
    const late = await serve(createIdentity('localhost', { from: -2 * day, to: -day }));
    const early = await serve(createIdentity('localhost', { from: day, to: 2 * day }));
    assert.match(
      (await findings(late))[1]!,
      new RegExp(`^problem: .*“localhost” and has expired on ${until(-day)}\\.$`),
    );
    assert.match(
      (await findings(early))[1]!,
      /^problem: .* and is valid from .* on\. Check the clock of this machine\.$/,
    );
  });

  it('no server, one that closes, and a person who stops', async () => {
    const closes = createProxy();
    closes.on('connection', (socket) => socket.end());
    const address = `https://localhost:${await port(closes)}`;
    assert.match(
      (await findings({ address }))[1]!,
      /^warning: localhost:\d+ (did not shake hands|closed the connection)/,
    );
    assert.match(
      (await findings({ address: 'https://localhost:1' }))[1]!,
      /^warning: localhost:1 did not shake hands: the connection was refused\.$/,
    );
    const silent = createProxy();
    silent.on('connection', () => stop.abort());
    const stop = new AbortController();
    const waits = `https://localhost:${await port(silent)}`;
    assert.deepEqual(await findings({ address: waits }, stop.signal), [none, 'fact: Stopped.']);
  });

  it('through a proxy, which sees the host and neither name nor password', async () => {
    const said: string[] = [];
    const behind = createProxy((request, response) => {
      said.push(`${request.method} ${request.url}`);
      response.end();
    });
    const proxy = await startReadingProxy(createIdentity('far.invalid', { issuer: authority }), await port(behind));
    closing.push(() => proxy.close());
    const place = `127.0.0.1:${proxy.port}`;
    const [named, certificate] = await findings({
      proxy: `http://ada:secret@${place}`,
      address: 'https://far.invalid/v1',
    });
    assert.equal(named, `fact: The editor’s proxy is http://${place} (http.proxy)`);
    assert.match(certificate!, /^fact: The certificate of far\.invalid was issued by “Towpath test authority”/);
    assert.deepEqual([proxy.asked, said], [[{ target: 'far.invalid:443' }], []]);
  });

  it('a proxy that refuses, one that is none, and one that cannot be asked', async () => {
    const proxy = createProxy((_, response) => response.end());
    proxy.on('connect', (_, socket) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'));
    const place = `127.0.0.1:${await port(proxy)}`;
    const address = 'https://far.invalid/v1';
    const last = async (network: Partial<NetworkSettings>) => (await findings({ address, ...network })).at(-1);
    assert.equal(
      await last({ environment: { HTTPS_PROXY: `http://${place}` } }),
      `warning: The proxy ${place} rejected the connection to far.invalid:443 (407).`,
    );
    assert.match((await last({ proxy: 'http://127.0.0.1:1' }))!, /^warning: The proxy 127\.0\.0\.1:1 did not answer: /);
    assert.equal(
      await last({ proxy: 'socks5://ada:secret@127.0.0.1:1080' }),
      'fact: The issuer of the certificate of far.invalid was not checked, because the connection uses socks5://127.0.0.1:1080',
    );
  });

  it('what the editor and the environment say of proxies and certificates, and an address that is not encrypted', async () => {
    const environment = { HTTPS_PROXY: 'http://ada:secret@proxy.invalid:3128', NO_PROXY: 'localhost,.corp' };
    assert.deepEqual(
      await findings({ environment, support: 'off', strict: false, address: 'http://models.corp:8080/v1' }),
      [
        none,
        'fact: The environment names a proxy: HTTPS_PROXY is http://proxy.invalid:3128',
        'fact: Without a proxy: localhost,.corp (NO_PROXY)',
        'warning: Extensions do not use the proxy: http.proxySupport is off. Turn it on if there is no other way to the network.',
        'warning: The editor’s own requests accept every certificate (http.proxyStrictSSL is off). Those of Towpath do not.',
        'warning: The connection to models.corp:8080 is not encrypted: its address starts with http:',
      ],
    );
    assert.deepEqual(await findings({ address: 'http://127.0.0.1:11434' }), [
      none,
      'fact: 127.0.0.1:11434 is on this machine',
    ]);
    assert.deepEqual(await findings({}), [none]);
  });
});
