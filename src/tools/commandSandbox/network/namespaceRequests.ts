import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import type { SandboxNetwork } from '../commandSandbox.ts';
import { joinSockets } from './joinSockets.ts';
import { readLine } from './readLine.ts';

/*
 * Requests from outside to a network namespace, one for each connection. A client writes one line; the answer is one line, `ok` or the code of
 * the system.
 *
 * - `connect <address> <port>`: after `ok`, the bytes of a connection to a port inside.
 * - `services <port>,…`: the ports at which services of the machine listen.
 */

/**
 * Serves the requests on a Unix socket, in the namespace. Rejects if it cannot listen.
 * @param setServices called with the ports of services
 */
export function serveNamespaceRequests(
  socketPath: string,
  setServices: (ports: number[]) => Promise<void>,
): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, async (client) => {
    client.on('error', () => {}); // `close` follows
    const [request, host, port] = (await readLine(client)).split(' ');
    if (request === 'services') {
      await setServices((host ?? '').split(',').map(Number).filter(Boolean));
      return void client.end('ok\n');
    }
    if (client.destroyed || request !== 'connect' || !host || !Number(port)) return void client.destroy();
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
export const connectToPort = (
  socketPath: string,
  { address, port }: Parameters<SandboxNetwork['connect']>[0],
): Promise<Socket> => request(socketPath, `connect ${address} ${port}`);

/** Tells a namespace at which ports services of the machine listen. */
export const sendServicePorts = async (socketPath: string, ports: readonly number[]): Promise<void> =>
  void (await request(socketPath, `services ${ports.join()}`)).destroy();

async function request(socketPath: string, line: string): Promise<Socket> {
  const socket = createConnection({ path: socketPath, allowHalfOpen: true });
  try {
    await once(socket, 'connect');
    socket.write(`${line}\n`);
    const answer = await readLine(socket);
    if (answer === 'ok') return socket;
    throw Object.assign(new Error(`${line}: ${answer}`), { code: answer || 'EIO' });
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
