import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import {
  unsupportedProxyVariables,
  upstreamProxy,
} from '../../../../src/tools/commandSandbox/network/upstreamProxy.ts';
import { listen } from '../../../support/listening.ts';
import { readUntil, statusAndBody, withProxy } from './proxyClient.ts';

describe('the proxy of the user', () => {
  const both = { HTTP_PROXY: 'http://plain:1', HTTPS_PROXY: 'http://tunnel:2' };
  const cases: [env: Record<string, string>, target: string, isTunnel: boolean, expected: string | undefined][] = [
    [{}, 'shop.example:443', true, undefined],
    [both, 'shop.example:443', true, 'http://tunnel:2/'],
    [both, 'shop.example:80', false, 'http://plain:1/'],
    [{ HTTP_PROXY: 'http://plain:1' }, 'shop.example:443', true, undefined],
    [{ ALL_PROXY: 'all:3' }, 'shop.example:443', true, 'http://all:3/'],
    [{ https_proxy: 'https://low:4', HTTPS_PROXY: 'http://up:5' }, 'shop.example:443', true, 'https://low:4/'],
    [{ HTTPS_PROXY: '' }, 'shop.example:443', true, undefined],
    [{ ALL_PROXY: 'socks5://all:3' }, 'shop.example:443', true, undefined],
    [{ HTTPS_PROXY: 'http://[' }, 'shop.example:443', true, undefined],
    [both, 'localhost:443', true, undefined],
    [both, '127.0.0.1:443', true, undefined],
    [both, '::1:443', true, undefined],
  ];
  for (const [env, written, isTunnel, expected] of cases)
    it(`${JSON.stringify(env)}: ${written} by ${expected ?? 'none'}`, () =>
      assert.equal(upstreamProxy(env, target(written), isTunnel)?.href, expected));

  const exclusions: [list: string, target: string, isExcluded: boolean][] = [
    ['*', 'shop.example:443', true],
    ['shop.example', 'shop.example:443', true],
    ['SHOP.example', 'shop.example:443', true],
    ['example', 'shop.example:443', true],
    ['.example', 'shop.example:443', true],
    ['*.example', 'shop.example:443', true],
    ['op.example', 'shop.example:443', false],
    ['a.test, shop.example:443', 'shop.example:443', true],
    ['shop.example:80', 'shop.example:443', false],
    ['10.0.0.1', '10.0.0.1:443', true],
    ['0.0.1', '10.0.0.1:443', false],
    ['10.0.0.0/8', '10.1.2.3:443', true],
    ['10.0.0.0/8', '11.1.2.3:443', false],
    ['fd00::/8', 'fd12::1:443', true],
    ['fd00::/8', '10.1.2.3:443', false],
    ['fd12::1', 'fd12::1:443', true],
    ['[fd12::1]:80', 'fd12::1:443', false],
    ['10.0.0.0/99 a/b', 'a:443', false],
    [' ,, ', 'shop.example:443', false],
  ];
  for (const [list, written, isExcluded] of exclusions)
    it(`NO_PROXY=${list}: ${written} is ${isExcluded ? 'direct' : 'not direct'}`, () =>
      assert.equal(upstreamProxy({ ...both, no_proxy: list }, target(written), true) === undefined, isExcluded));

  it('names the variables with a proxy that is not supported', () =>
    assert.deepEqual(unsupportedProxyVariables({ ...both, all_proxy: 'socks5h://name:secret@all:3' }), ['ALL_PROXY']));
});

describe('the proxy of a sandbox behind the proxy of the user', () => {
  /** A proxy of a company. It leads everywhere to this port, for clients with the password. */
  async function withUpstream(port: number, test: (upstream: URL, asked: string[]) => Promise<void>): Promise<void> {
    const asked: string[] = [];
    const isKnown = (header?: string) => header === `Basic ${Buffer.from('name:pass:word').toString('base64')}`;
    const proxy = createServer((request, response) => {
      const { host, 'proxy-authorization': credentials } = request.headers;
      asked.push(`${request.method} ${request.url} ${host}`);
      response.writeHead(isKnown(credentials) ? 200 : 407).end('from above');
    });
    proxy.on('connect', (request, client) => {
      asked.push(`CONNECT ${request.url}`);
      if (!isKnown(request.headers['proxy-authorization'])) return client.end('HTTP/1.1 407 No\r\n\r\n');
      client.write('HTTP/1.1 200 Yes\r\n\r\n');
      const server = connect(port, '127.0.0.1').on('error', () => {});
      return client
        .on('error', () => {})
        .pipe(server)
        .pipe(client);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    try {
      await test(new URL(`http://name:pass%3Aword@127.0.0.1:${(proxy.address() as AddressInfo).port}`), asked);
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  }

  it('leads allowed connections through it, by name and with its credentials', async () => {
    const server = await listen(async (_, response) => void response.end('hello'));
    try {
      await withUpstream(server.port, async (upstream, asked) => {
        const lookup = () => assert.fail('The other proxy resolves names.');
        const access = async ({ host }: { host: string }) => (host === 'shop.example' ? 'allow' : 'deny');
        await withProxy({ upstream: () => upstream, lookup, access: access as never }, async ({ open, exchange }) => {
          const client = open();
          client.write('CONNECT shop.example:443 HTTP/1.1\r\nHost: x\r\n\r\n');
          assert.match(await readUntil(client, '\r\n\r\n'), /^HTTP\/1\.1 200/);
          client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
          assert.match(await readUntil(client, 'hello'), /^HTTP\/1\.1 200/);
          const plain = 'GET http://shop.example/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
          assert.deepEqual(statusAndBody(await exchange(plain))[0], 200);
          const denied = await exchange('CONNECT other.example:443 HTTP/1.1\r\nHost: x\r\n\r\n');
          assert.equal(statusAndBody(denied)[0], 403);
          assert.deepEqual(asked, ['CONNECT shop.example:443', 'GET http://shop.example/a shop.example']);
        });
      });
    } finally {
      await server.close();
    }
  });

  it('says that it refused, without its answer', () =>
    withUpstream(9, async (upstream) => {
      const other = new URL(upstream);
      other.password = 'wrong';
      await withProxy({ upstream: () => other }, async ({ exchange }) => {
        assert.deepEqual(statusAndBody(await exchange('CONNECT shop.example:443 HTTP/1.1\r\nHost: x\r\n\r\n')), [
          502,
          'The proxy of the network answered 407 for shop.example\n',
        ]);
        const plain = await exchange('GET http://shop.example/ HTTP/1.1\r\nHost: x\r\n\r\n');
        assert.equal(statusAndBody(plain)[0], 502);
      });
    }));
});

function target(written: string): { host: string; port: number } {
  const colon = written.lastIndexOf(':');
  return { host: written.slice(0, colon), port: Number(written.slice(colon + 1)) };
}
