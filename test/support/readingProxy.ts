import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Identity } from './identity.ts';

export interface ReadingProxy {
  port: number;
  /** Where it was asked to lead to, `host:port`, and with which password. */
  asked: { target: string; password?: string }[];
  close(): void;
}

/** A proxy as companies have it: in the place of every host it shows its own certificate, and reads along on the way to this port. */
export async function startReadingProxy({ key, certificate }: Identity, port: number): Promise<ReadingProxy> {
  const asked: ReadingProxy['asked'] = [];
  const proxy = createServer();
  proxy.on('connect', (request, socket) => {
    const password = request.headers['proxy-authorization'];
    asked.push({ target: request.url ?? '', ...(password !== undefined && { password }) });
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    const inside = new TLSSocket(socket, { isServer: true, key, cert: certificate });
    const way = connect(port, '127.0.0.1');
    inside.pipe(way).pipe(inside);
    for (const end of [socket, inside, way]) {
      end.on('error', () => {}); // who does not accept the certificate leaves
      end.on('close', () => [socket, inside, way].forEach((one) => void one.destroy()));
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    asked,
    close() {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}
