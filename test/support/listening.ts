import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A server on this machine, with whatever is still connected to it. */
export interface Listening {
  port: number;
  /** Connections on which something was asked: `fetch` may open an idle one ahead. */
  readonly openSockets: number;
  /** Ends what is connected, too. */
  close(): Promise<void>;
}

/** Serves until it is closed. An answer that fails breaks its connection off. */
export async function listen(
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Listening> {
  const sockets = new Set<Socket>();
  const used = new Set<Socket>();
  const server = createServer((request, response) => {
    used.add(request.socket);
    answer(request, response).catch((error) => response.destroy(error));
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      used.delete(socket);
    });
    socket.on('error', () => {}); // a reset is part of the script
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get openSockets() {
      return used.size;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** All that was sent with a request. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}
