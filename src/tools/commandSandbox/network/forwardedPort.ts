import { createServer, type Socket } from 'node:net';
import { loopbackAddresses } from '../../network/listeningSockets.ts';
import type { SandboxNetwork } from '../commandSandbox.ts';
import { joinSockets } from './joinSockets.ts';

/** Port of this machine that leads to a port of a sandboxed command. */
export interface ForwardedPort {
  /** Another number than inside if that one is in use. */
  port: number;
  /** Ends all connections. */
  close(): void;
}

/** Opens a port on 127.0.0.1 that leads to the same port in the network of a sandbox. Rejects with the code of the system. */
export async function forwardPort({ connect }: Pick<SandboxNetwork, 'connect'>, port: number): Promise<ForwardedPort> {
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket)); // `close` follows
  };
  const server = createServer({ allowHalfOpen: true }, async (client) => {
    track(client);
    const target = await connectToAny(connect, port);
    if (!target || client.destroyed) {
      target?.destroy();
      return void client.destroy();
    }
    track(target);
    joinSockets(client, target);
  });
  const listen = (at: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(at, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  await listen(port).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error;
    return listen(0);
  });
  server.on('error', () => {}); // concerns single connections
  return {
    port: (server.address() as { port: number }).port,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function connectToAny(connect: SandboxNetwork['connect'], port: number): Promise<Socket | undefined> {
  for (const address of loopbackAddresses) {
    const socket = await connect({ address, port }).catch(() => undefined);
    if (socket) return socket;
  }
  return undefined;
}
