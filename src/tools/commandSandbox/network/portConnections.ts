import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import type { SandboxNetwork } from '../commandSandbox.ts';
import { joinSockets } from './joinSockets.ts';

/*
 * Connections from outside to ports inside a network namespace. A client writes one line, `<address> <port>`; the answer is one line, `ok` or
 * the code of the system, and after `ok` the bytes of the connection.
 */

const maxLine = 64;

/** Serves the connections on a Unix socket, in the namespace. Rejects if it cannot listen. */
export function servePortConnections(socketPath: string): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, async (client) => {
    client.on('error', () => {}); // `close` follows
    const [host, port] = (await readLine(client)).split(' ');
    if (client.destroyed || !host || !Number(port)) return void client.destroy();
    const target = createConnection({ host, port: Number(port), allowHalfOpen: true });
    target.once('error', ({ code = 'EIO' }: NodeJS.ErrnoException) => client.end(`${code}\n`));
    target.once('connect', () => {
      client.write('ok\n');
      joinSockets(client, target);
    });
    client.once('close', () => target.destroySoon());
  });
  return new Promise((resolve, reject) => {
    server.on('error', reject); // later errors concern single connections
    server.listen(socketPath, () => resolve(server));
  });
}

/** Connects to a port in the namespace of a server. Rejects with the code of the system. */
export async function connectToPort(
  socketPath: string,
  { address, port }: Parameters<SandboxNetwork['connect']>[0],
): Promise<Socket> {
  const socket = createConnection({ path: socketPath, allowHalfOpen: true });
  try {
    await once(socket, 'connect');
    socket.write(`${address} ${port}\n`);
    const answer = await readLine(socket);
    if (answer !== 'ok')
      throw Object.assign(new Error(`connect ${answer} ${address}:${port}`), { code: answer || 'EIO' });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Reads bytes up to a line feed and leaves the others. Returns an empty text if the socket closes before, or the line is too long. */
function readLine(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let line = '';
    const finish = (text: string) => {
      socket.off('readable', read).off('close', close);
      resolve(text);
    };
    const close = () => finish('');
    const read = () => {
      for (;;) {
        const byte = socket.read(1) as Buffer | null;
        if (byte === null) return;
        if (byte[0] === 10) return finish(line);
        line += byte.toString('latin1');
        if (line.length > maxLine) return finish('');
      }
    };
    socket.on('readable', read).once('close', close);
  });
}
