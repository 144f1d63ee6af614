import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { forwardPort } from '../../../../src/tools/commandSandbox/network/forwardedPort.ts';
import {
  connectToPort,
  serveNamespaceRequests,
} from '../../../../src/tools/commandSandbox/network/namespaceRequests.ts';
import type { LoopbackAddress } from '../../../../src/tools/network/listeningSockets.ts';
import { type Listening, listen } from '../../../support/listening.ts';

describe('ports of a sandboxed command', () => {
  let folder: string;
  let ports: Server;
  let server: Listening;
  const connect = (target: { address: LoopbackAddress; port: number }) =>
    connectToPort(path.join(folder, 'ports.sock'), target);

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'towpath-ports-'));
    ports = await serveNamespaceRequests(path.join(folder, 'ports.sock'), async () => {});
    server = await listen(async (request, response) => void response.end(`hello ${request.url}`));
  });
  after(async () => {
    ports.close();
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const freePort = async () => {
    const { port, close } = await listen(async () => {});
    await close();
    return port;
  };

  it('answer on a connection', async () => {
    const socket = await connect({ address: '127.0.0.1', port: server.port });
    socket.end('GET /a HTTP/1.0\r\n\r\n');
    assert.match(await text(socket), /hello \/a$/);
  });

  it('that nobody uses refuse it with the code of the system', async () => {
    await assert.rejects(connect({ address: '127.0.0.1', port: await freePort() }), { code: 'ECONNREFUSED' });
  });

  it('of anything but a port lead nowhere', async () => {
    for (const line of ['connect 127.0.0.1\n', 'connect 127.0.0.1 x\n', '127.0.0.1 80\n', '\n']) {
      const socket = createConnection(path.join(folder, 'ports.sock'));
      socket.end(line);
      assert.equal(await text(socket), '');
    }
  });

  it('are opened at the same number, at another one if it is in use, and closed with all connections', async () => {
    const inside = await freePort();
    const network: Parameters<typeof forwardPort>[0] = {
      connect: ({ address }) => connect({ address, port: server.port }),
    };
    const first = await forwardPort(network, inside);
    const second = await forwardPort(network, inside);
    try {
      assert.equal(first.port, inside);
      assert.notEqual(second.port, inside);
      for (const { port } of [first, second])
        assert.equal(await (await fetch(`http://127.0.0.1:${port}/b`)).text(), 'hello /b');
      const kept = createConnection(first.port, '127.0.0.1');
      await new Promise((resolve) => kept.once('connect', resolve));
      first.close();
      assert.equal(await text(kept), '');
      await assert.rejects(fetch(`http://127.0.0.1:${inside}/`));
    } finally {
      first.close();
      second.close();
    }
  });

  it('lead nowhere when the sandbox has ended', async () => {
    const opened = await forwardPort({ connect: () => Promise.reject(new Error('gone')) }, 0);
    try {
      await assert.rejects(fetch(`http://127.0.0.1:${opened.port}/`));
    } finally {
      opened.close();
    }
  });
});
