import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { loopbackAddresses } from '../../network/listeningSockets.ts';
import { joinSockets } from './joinSockets.ts';
import { readLine } from './readLine.ts';

/**
 * Stands in, inside a network namespace, for services of the machine outside: a connection to the port of one goes through the proxy, which
 * asks about it as about a host.
 */
export function createMachineServices(proxySocket: string) {
  let current = new Map<number, Server[]>();
  return {
    /** Listens on these ports and on no others. A port that a command uses stays with the command. */
    async replace(ports: readonly number[]): Promise<void> {
      const wanted = new Map(ports.map((port) => [port, current.get(port)]));
      for (const [port, servers] of current) if (!wanted.has(port)) for (const server of servers) server.close();
      const next = await Promise.all(
        [...wanted].map(async ([port, servers]) => [port, servers ?? (await listenAt(port))] as const),
      );
      current = new Map(next.filter(([, servers]) => servers.length > 0));
    },
  };

  async function listenAt(port: number): Promise<Server[]> {
    const servers = loopbackAddresses.map((host) => {
      const server = createServer({ allowHalfOpen: true }, (client) => void connect(client, port));
      return new Promise<Server | undefined>((resolve) => {
        server.on('error', () => resolve(undefined)); // in use, or not allowed
        server.listen({ host, port }, () => resolve(server));
      });
    });
    return (await Promise.all(servers)).filter((server) => server !== undefined);
  }

  async function connect(client: Socket, port: number): Promise<void> {
    const proxy = createConnection({ path: proxySocket, allowHalfOpen: true });
    proxy.on('error', () => {}); // `close` follows
    client.on('error', () => {});
    client.once('close', () => proxy.destroySoon());
    proxy.write(`CONNECT localhost:${port} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`);
    const [, status] = (await readLine(proxy)).split(' ');
    if (status !== '200') return void client.destroy();
    while ((await readLine(proxy)).trim() !== ''); // the header fields
    joinSockets(client, proxy);
  }
}
