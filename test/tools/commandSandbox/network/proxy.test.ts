import assert from 'node:assert/strict';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { createConnection } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { startSandboxProxy } from '../../../../src/tools/commandSandbox/network/proxy.ts';
import { eventually } from '../../../support/eventually.ts';
import { bodyOf, type Listening, listen } from '../../../support/listening.ts';
import { listenTcp, readUntil, statusAndBody, withProxy } from './proxyClient.ts';

const get = (url: string, headers = 'Connection: close') => `GET ${url} HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`;
const connect = (target: string) => `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`;
const blocked = (host: string) => [403, `Blocked by the sandbox: network access to ${host}\n`];
const toLoopback = { lookup: async () => ['127.0.0.1'], isAllowedAddress: () => true };

describe('the proxy of a sandbox', () => {
  let server: Listening;
  let port: number;
  let requests: string[];

  before(async () => {
    server = await listen(async (request, response) => {
      const body = await bodyOf(request);
      requests.push(`${request.method} ${request.headers.host}${request.url} ${body}`.trim());
      if (request.url === '/redirect') response.writeHead(302, { location: 'http://denied.example/' }).end();
      else if (request.url === '/headers') response.end(JSON.stringify(request.rawHeaders));
      else response.setHeader('set-cookie', ['a=1', 'b=2']).end('hello');
    });
    port = server.port;
  });
  beforeEach(() => {
    requests = [];
  });
  after(() => server.close());

  it('forwards a plain request that is allowed', () =>
    withProxy(toLoopback, async ({ exchange, asked }) => {
      const answer = await exchange(get(`http://Shop.Example.:${port}/a?b`));
      assert.equal(statusAndBody(answer)[0], 200);
      assert.match(answer, /set-cookie: a=1\r\nset-cookie: b=2\r\n/);
      assert.deepEqual(asked, [`shop.example:${port}`]);
      assert.deepEqual(requests, [`GET shop.example:${port}/a?b`]);
    }));

  it('listens on a port for clients with its password, which the server does not see', async () => {
    const proxy = await startSandboxProxy({ credentials: 'a:b', access: async () => 'allow', ...toLoopback });
    const exchange = async (text: string) => {
      const client = createConnection(proxy.port, '127.0.0.1');
      client.write(text);
      return statusAndBody(await textOf(client));
    };
    const password = (text: string) =>
      `Proxy-Authorization: Basic ${Buffer.from(text).toString('base64')}\r\nConnection: close`;
    try {
      for (const headers of ['Connection: close', password('a:c'), password('')])
        assert.equal((await exchange(get(`http://shop.example:${port}/`, headers)))[0], 407);
      assert.equal((await exchange(connect(`shop.example:${port}`)))[0], 407);
      assert.deepEqual(requests, []);
      const [status, body] = await exchange(get(`http://shop.example:${port}/headers`, password('a:b')));
      assert.equal(status, 200);
      assert.doesNotMatch(String(body), /authorization/i);
    } finally {
      await proxy.close();
    }
    await assert.rejects(startSandboxProxy({ access: async () => 'allow' }), /needs credentials/);
  });

  it('opens a tunnel that is allowed', () =>
    withProxy(toLoopback, async ({ open, asked }) => {
      const client = open();
      client.write(connect(`shop.example:${port}`));
      assert.match(await readUntil(client, '\r\n\r\n'), /^HTTP\/1\.1 200 /);
      client.write(get('/inside'));
      assert.match(await readUntil(client, 'hello'), /^HTTP\/1\.1 200 OK/);
      assert.deepEqual(asked, [`shop.example:${port}`]);
    }));

  it('keeps the other direction of a tunnel open when one has ended, and what was sent early', async () => {
    const counter = await listenTcp((socket) => {
      let bytes = 0;
      socket.on('data', (chunk) => (bytes += chunk.length)).on('end', () => socket.end(`${bytes} bytes`));
    });
    try {
      await withProxy({}, async ({ open }) => {
        const client = open();
        client.write(`${connect(`127.0.0.1:${counter.port}`)}early`);
        await readUntil(client, '\r\n\r\n');
        client.end(Buffer.alloc(3_000_000));
        assert.equal(await readUntil(client, 'bytes'), '3000005 bytes');
      });
    } finally {
      counter.close();
    }
  });

  it('refuses what is denied, before any connection', () =>
    withProxy({ access: async () => 'deny', ...toLoopback }, async ({ exchange }) => {
      assert.deepEqual(statusAndBody(await exchange(get(`http://shop.example:${port}/`))), blocked('shop.example'));
      const answer = await exchange(connect(`shop.example:${port}`));
      assert.deepEqual(statusAndBody(answer), blocked('shop.example'));
      assert.match(answer, /^HTTP\/1\.1 403 Blocked by the sandbox: network access to shop\.example\r\n/);
      assert.deepEqual(requests, []);
    }));

  it('refuses a denied port of an allowed host', () =>
    withProxy({ access: async (target) => (target.port === 22 ? 'deny' : 'allow') }, async ({ exchange }) => {
      assert.deepEqual(statusAndBody(await exchange(connect('127.0.0.1:22'))), blocked('127.0.0.1'));
      assert.equal(statusAndBody(await exchange(get(`http://127.0.0.1:${port}/`)))[0], 200);
    }));

  it('denies when the decision fails', () =>
    withProxy({ access: () => Promise.reject(new Error('secret')) }, async ({ exchange, logged }) => {
      assert.deepEqual(statusAndBody(await exchange(connect(`127.0.0.1:${port}`))), blocked('127.0.0.1'));
      assert.deepEqual(logged, [`The decision on network access to 127.0.0.1:${port} failed.`]);
    }));

  it('denies when the decision throws at once, or is neither of the two', async () => {
    const decisions = [
      () => {
        throw new Error();
      },
      async () => undefined as never,
    ];
    for (const access of decisions)
      await withProxy({ access }, async ({ exchange }) =>
        assert.deepEqual(statusAndBody(await exchange(get(`http://127.0.0.1:${port}/`))), blocked('127.0.0.1')),
      );
  });

  for (const [what, request] of [
    ['a request', (to: string) => get(`http://${to}/`)],
    ['a tunnel', (to: string) => connect(to)],
  ] as const) {
    it(`holds ${what} until the decision`, async () => {
      let decide = (_: 'allow' | 'deny') => {};
      const access = () => new Promise<'allow' | 'deny'>((resolve) => (decide = resolve));
      await withProxy({ access }, async ({ open, asked }) => {
        const client = open();
        client.write(request(`127.0.0.1:${port}`));
        await eventually('asked', () => asked.length === 1);
        assert.equal(client.bytesRead, 0);
        decide('allow');
        assert.match(await readUntil(client, '\r\n\r\n'), /^HTTP\/1\.1 200 /);
      });
    });

    it(`ends the question about ${what} when the client leaves, and does not connect`, async () => {
      let signal: AbortSignal | undefined;
      let decide = (_: 'allow' | 'deny') => {};
      const access = (_: unknown, given: AbortSignal) => {
        signal = given;
        return new Promise<'allow' | 'deny'>((resolve) => (decide = resolve));
      };
      let isConnected = false;
      const lookup = async () => {
        isConnected = true;
        return ['127.0.0.1'];
      };
      await withProxy({ access, lookup }, async ({ open, exchange }) => {
        const client = open();
        client.write(request(`shop.example:${port}`));
        await eventually('asked', () => signal !== undefined);
        client.destroy();
        await eventually('aborted', () => signal!.aborted);
        decide('allow');
        await exchange('junk\r\n\r\n');
        assert.equal(isConnected, false);
      });
    });
  }

  it('ends everything when it is closed: held, tunnelled and idle connections', () =>
    withProxy(
      { access: async ({ host }) => (host === 'held.example' ? new Promise(() => {}) : 'allow') },
      async ({ open, asked, close }) => {
        const tunnel = open();
        tunnel.write(connect(`127.0.0.1:${port}`));
        await readUntil(tunnel, '\r\n\r\n');
        const held = open();
        held.write(connect('held.example:443'));
        const heldRequest = open();
        heldRequest.write(get('http://held.example/'));
        const idle = open();
        await once(idle, 'connect');
        await eventually('asked', () => asked.length === 3);
        const closed = [tunnel, held, heldRequest, idle].map((socket) => once(socket.resume(), 'close'));
        await close();
        await Promise.all(closed);
        await eventually('disconnected', () => server.openSockets === 0);
      },
    ));

  describe('addresses', () => {
    const rebinding: [what: string, addresses: string[]][] = [
      ['to this machine', ['127.0.0.1']],
      ['to this machine by IPv6', ['::1']],
      ['to a private network beside a public address', ['93.184.215.14', '10.0.0.1']],
      ['to the metadata of a cloud', ['169.254.169.254']],
      ['to the metadata of a cloud by IPv6', ['fd00:ec2::254']],
      ['to this machine by a mapped address', ['::ffff:127.0.0.1']],
      ['to a carrier', ['100.64.0.1']],
      ['to what is no address', ['localhost']],
    ];
    for (const [what, addresses] of rebinding)
      it(`refuses an allowed name that leads ${what}`, () =>
        withProxy({ lookup: async () => addresses }, async ({ exchange }) => {
          const expected = [403, 'Blocked by the sandbox: shop.example has a private address\n'];
          assert.deepEqual(statusAndBody(await exchange(get(`http://shop.example:${port}/`))), expected);
          assert.deepEqual(statusAndBody(await exchange(connect(`shop.example:${port}`))), expected);
          assert.deepEqual(requests, []);
        }));

    it('looks a name up once', async () => {
      const answers = [['127.0.0.1'], ['127.0.0.2']];
      const checked: string[] = [];
      const rules = {
        lookup: async () => answers.shift()!,
        isAllowedAddress: (address: string) => checked.push(address) > 0,
      };
      await withProxy(rules, async ({ exchange }) => {
        assert.equal(statusAndBody(await exchange(get(`http://shop.example:${port}/`)))[0], 200);
        assert.deepEqual([checked, answers], [['127.0.0.1'], [['127.0.0.2']]]);
      });
    });

    it('tries another checked address when one does not answer', () =>
      withProxy({ lookup: async () => ['::1', '127.0.0.1'], isAllowedAddress: () => true }, async ({ exchange }) =>
        assert.equal(statusAndBody(await exchange(get(`http://shop.example:${port}/`)))[0], 200),
      ));

    it('says that a name does not exist', () =>
      withProxy(
        { lookup: () => Promise.reject(Object.assign(new Error('secret'), { code: 'ENOTFOUND' })) },
        async ({ exchange }) =>
          assert.deepEqual(statusAndBody(await exchange(connect('shop.example:443'))), [
            502,
            'Could not resolve shop.example (ENOTFOUND)\n',
          ]),
      ));

    it('says that there is no network', () =>
      withProxy(
        { lookup: () => Promise.reject(Object.assign(new Error('secret'), { code: 'EAI_AGAIN' })) },
        async ({ exchange }) =>
          assert.deepEqual(statusAndBody(await exchange(connect('shop.example:443'))), [
            502,
            'shop.example needs a network connection\n',
          ]),
      ));

    const spellings: [written: string, host: string][] = [
      ['2130706433', '127.0.0.1'],
      ['0177.0.0.1', '127.0.0.1'],
      ['0x7f.1', '127.0.0.1'],
      ['127.0.0.1.', '127.0.0.1'],
      ['[::FFFF:127.0.0.1]', '127.0.0.1'],
      ['[0:0::1]', '::1'],
      ['LOCALHOST.', 'localhost'],
      ['bücher.example', ''],
      ['xn--bcher-kva.EXAMPLE', 'xn--bcher-kva.example'],
    ];
    for (const [written, host] of spellings)
      it(`asks about ${written} as ${host || 'nothing: it is not valid'}`, () =>
        withProxy({ access: async () => 'deny' }, async ({ exchange, asked }) => {
          const answers = [await exchange(connect(`${written}:80`)), await exchange(get(`http://${written}/`))];
          assert.deepEqual(
            answers.map((answer) => statusAndBody(answer)[0]),
            host ? [403, 403] : [400, 400],
          );
          assert.deepEqual(asked, host ? [`${host}:80`, `${host}:80`] : []);
        }));
  });

  describe('requests', () => {
    it('asks for each request of a connection, so that an allowed host leads to no other', () =>
      withProxy(
        { ...toLoopback, access: async ({ host }) => (host === 'shop.example' ? 'allow' : 'deny') },
        async ({ open, asked }) => {
          const client = open();
          client.write(get(`http://shop.example:${port}/one`, ''));
          await readUntil(client, 'hello');
          client.write(get(`http://other.example:${port}/two`, `X: shop.example`));
          assert.match(await readUntil(client, 'other.example'), /^HTTP\/1\.1 403/);
          assert.deepEqual(asked, [`shop.example:${port}`, `other.example:${port}`]);
          assert.deepEqual(requests, [`GET shop.example:${port}/one`]);
        },
      ));

    it('does not follow a redirect', () =>
      withProxy(toLoopback, async ({ exchange, asked }) => {
        assert.match(await exchange(get(`http://shop.example:${port}/redirect`)), /^HTTP\/1\.1 302/);
        assert.deepEqual(asked, [`shop.example:${port}`]);
      }));

    it('removes the headers of one hop, and sets the host', () =>
      withProxy({}, async ({ exchange }) => {
        const headers = [
          'Host: other.example',
          'Connection: close, X-Hop',
          'X-Hop: 1',
          'Proxy-Authorization: Basic c2VjcmV0',
          'Proxy-Connection: close',
          'Keep-Alive: 1',
          'Upgrade: h2c',
          '__proto__: 2',
          'X-More: 1',
          'X-More: 2',
        ].join('\r\n');
        const answer = await exchange(`GET http://127.0.0.1:${port}/headers HTTP/1.1\r\n${headers}\r\n\r\n`);
        assert.deepEqual(JSON.parse(/\[.*\]/.exec(answer)![0]), [
          ...['__proto__', '2', 'x-more', '1', 'x-more', '2'],
          ...['host', `127.0.0.1:${port}`, 'connection', 'close'],
        ]);
      }));

    const bodies: [what: string, headers: string, body: string, received: string][] = [
      ['of a known length', 'Content-Length: 5', 'abcde', 'abcde'],
      ['in chunks', 'Transfer-Encoding: chunked', '3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n', 'abcde'],
      ['that waits for the decision', 'Expect: 100-continue\r\nContent-Length: 2', 'ab', 'ab'],
      ['of no length', 'X: 1', '', ''],
    ];
    for (const [what, headers, body, received] of bodies)
      it(`forwards a body ${what}`, () =>
        withProxy({}, async ({ exchange }) => {
          const to = `127.0.0.1:${port}`;
          const request = `POST http://${to}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n\r\n${body}`;
          assert.match(await exchange(request), /HTTP\/1\.1 200 OK/);
          assert.deepEqual(requests, [`POST ${to}/ ${received}`.trim()]);
        }));

    it('asks for the body only after the decision', () =>
      withProxy({ access: async () => 'deny' }, async ({ exchange }) =>
        assert.match(
          await exchange(
            'PUT http://shop.example/ HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n',
          ),
          /^HTTP\/1\.1 403/,
        ),
      ));

    it('ends an answer that breaks off as one that breaks off', async () => {
      const broken = await listenTcp((socket) => {
        socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'));
      });
      try {
        await withProxy({}, async ({ exchange }) => {
          const [status, body] = statusAndBody(await exchange(get(`http://127.0.0.1:${broken.port}/`, '')));
          assert.deepEqual([status, body], [200, 'abc']);
        });
      } finally {
        broken.close();
      }
    });

    for (const [when, answer] of [
      ['before the answer', ''],
      ['during the answer', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'],
    ] as const)
      it(`closes the connection to the server when the client leaves ${when}`, async () => {
        let received = 0;
        let closed = 0;
        const waiting = await listenTcp((socket) => {
          socket.on('end', () => closed++).on('data', () => received++);
          socket.write(answer);
        });
        try {
          await withProxy({}, async ({ open, exchange }) => {
            const client = open();
            client.write(get(`http://127.0.0.1:${waiting.port}/`));
            if (answer) await readUntil(client, 'abc');
            await eventually('received', () => received > 0);
            client.destroy();
            await eventually('closed', () => closed === 1);
            assert.equal(statusAndBody(await exchange(get(`http://127.0.0.1:${port}/`)))[0], 200);
          });
        } finally {
          waiting.close();
        }
      });

    it('answers for a server that closes the connection or does not listen', async () => {
      const closing = await listenTcp((socket) => socket.destroy());
      try {
        await withProxy({}, async ({ exchange }) => {
          const url = `http://127.0.0.1:${closing.port}/`;
          assert.deepEqual(statusAndBody(await exchange(get(url))), [502, 'The server closed the connection\n']);
        });
      } finally {
        closing.close();
      }
      await withProxy({}, async ({ exchange }) =>
        assert.deepEqual(statusAndBody(await exchange(connect(`127.0.0.1:${closing.port}`))), [
          502,
          `Could not connect to 127.0.0.1:${closing.port} (ECONNREFUSED)\n`,
        ]),
      );
    });

    const refused: [what: string, request: string, status: number][] = [
      ['a path without a host', get('/'), 400],
      ['https without a tunnel', get('https://shop.example/'), 400],
      ['credentials in the address', get('http://name@shop.example/'), 400],
      ['CONNECT without a port', connect('shop.example'), 400],
      ['CONNECT to port 0', connect('shop.example:0'), 400],
      ['CONNECT to port 65536', connect('shop.example:65536'), 400],
      ['CONNECT to a path', connect('shop.example/a:443'), 400],
      ['CONNECT to a name with an escape', connect('shop%2eexample:443'), 400],
      ['CONNECT to an address with a zone', connect('[fe80::1%25lo]:443'), 400],
      ['CONNECT to junk', connect('::::'), 400],
      ['a protocol that is not HTTP', '\x16\x03\x01\x02\x00\r\n\r\n', 400],
      ['huge headers', get('http://shop.example/', `X: ${'a'.repeat(20_000)}`), 431],
      ['another protocol', get('http://shop.example/', 'Connection: Upgrade\r\nUpgrade: websocket'), 501],
      ['another coding', get('http://shop.example/', 'Transfer-Encoding: gzip, chunked'), 501],
      ['two lengths', get('http://shop.example/', 'Content-Length: 1\r\nTransfer-Encoding: chunked'), 400],
      ['two different lengths', get('http://shop.example/', 'Content-Length: 1\r\nContent-Length: 2'), 400],
    ];
    for (const [what, request, status] of refused)
      it(`refuses ${what}`, () =>
        withProxy({}, async ({ exchange, asked }) => {
          assert.equal(statusAndBody(await exchange(request))[0], status);
          assert.deepEqual(asked, []);
        }));

    it('ends a connection on which a tunnel follows an unanswered request', () =>
      withProxy({ access: () => new Promise(() => {}) }, async ({ exchange }) =>
        assert.equal(await exchange(get('http://shop.example/', '') + connect('shop.example:443')), ''),
      ));

    it('answers only once the requests before it are answered', () =>
      withProxy({}, async ({ exchange }) => {
        const url = `http://127.0.0.1:${port}`;
        const answer = await exchange(get(`${url}/headers`, '') + get(`${url}/last`));
        assert.deepEqual(requests.length, 2);
        assert.match(answer, /\["host".*hello$/s);
      }));

    it('ends a client that sends too much before its tunnel is open', () =>
      withProxy({ access: () => new Promise(() => {}) }, async ({ exchange }) =>
        assert.equal(await exchange(connect('shop.example:443') + 'a'.repeat(100_000)), ''),
      ));
  });

  it('listens on a socket that only its user can open, and says when the path is too long', async () => {
    await withProxy({}, async ({ socketPath }) => assert.equal(statSync(socketPath).mode & 0o777, 0o600));
    await assert.rejects(
      withProxy({ socketPath: `/tmp/${'a'.repeat(110)}` }, async () => {}),
      /too long/,
    );
  });
});
