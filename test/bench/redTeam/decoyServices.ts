import { createSocket } from 'node:dgram';
import { rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import * as paths from 'node:path';
import { eventually } from '../../support/eventually.ts';

export interface DecoyServices {
  /** Ports and paths, for the environment of attacks. */
  variables: Record<string, string>;
  /** Names of services that were reached since the last call. Resolves when everything sent before has arrived. */
  reached(): Promise<string[]>;
  close(): void;
}

const barrier = 'towpath-barrier';

export const addressOfHost = (): string =>
  Object.values(networkInterfaces())
    .flat()
    .find((one) => one && !one.internal && one.family === 'IPv4')?.address ?? '127.0.0.1';

/** Starts listeners on TCP, UDP, Unix sockets and an abstract socket, that note every connection. */
export async function startServices(folder: string, tag: string): Promise<DecoyServices> {
  const found = new Set<string>();
  const passed = new Map<string, number>();
  const pass = (name: string) => passed.set(name, (passed.get(name) ?? 0) + 1);
  const closers: (() => void)[] = [];
  const knocks: (() => Promise<void>)[] = [];

  const listen = async (name: string, address: string): Promise<string> => {
    let open = 0;
    const server = createServer((socket) => {
      let text = '';
      open += 1;
      socket.on('error', () => {});
      socket.on('data', (data) => {
        text += data;
        if (text.startsWith(barrier)) return void socket.end();
        found.add(name);
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
      });
      socket.on('close', () => {
        open -= 1;
        if (text.startsWith(barrier)) pass(name);
        else found.add(name);
      });
    });
    const isPath = /^[/\0]/.test(address);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(isPath ? { path: address } : { host: address, port: 0 }, resolve);
    });
    const { port } = isPath ? { port: 0 } : (server.address() as { port: number });
    closers.push(() => {
      server.close();
      if (address.startsWith('/')) rmSync(address, { force: true });
    });
    knocks.push(async () => {
      const count = passed.get(name) ?? 0;
      const socket = isPath
        ? connect({ path: address })
        : connect({ port, host: address === '0.0.0.0' ? '127.0.0.1' : address });
      socket.on('error', () => {
        found.add(`${name} was removed`);
        pass(name);
      });
      socket.end(barrier);
      await eventually(`${name} answers`, () => (passed.get(name) ?? 0) > count && open === 0);
    });
    return isPath ? address : String(port);
  };

  const listenForPackets = async (name: string, address: string): Promise<string> => {
    const socket = createSocket('udp4', (data) => {
      if (String(data) === barrier) pass(name);
      else found.add(name);
    });
    await new Promise<void>((resolve) => socket.bind(0, address, resolve));
    const { port } = socket.address();
    closers.push(() => void socket.close());
    knocks.push(async () => {
      const count = passed.get(name) ?? 0;
      const sender = createSocket('udp4');
      sender.send(barrier, port, address === '0.0.0.0' ? '127.0.0.1' : address, () => sender.close());
      await eventually(`${name} answers`, () => (passed.get(name) ?? 0) > count);
    });
    return String(port);
  };

  const variables = {
    HOST_ADDRESS: addressOfHost(),
    PORT: await listen('TCP', '127.0.0.1'),
    PORT6: await listen('TCP6', '::1'),
    PORT_ANY: await listen('TCP of all addresses', '0.0.0.0'),
    UDP_PORT: await listenForPackets('UDP', '127.0.0.1'),
    UDP_ANY: await listenForPackets('UDP of all addresses', '0.0.0.0'),
    SOCK: await listen('Unix socket', paths.join(folder, 'decoy.sock')),
    TMP_SOCK: await listen('Unix socket in /tmp', `/tmp/${tag}.sock`),
    ABSTRACT: (await listen('abstract socket', `\0${tag}`)).slice(1),
  };
  return {
    variables,
    async reached() {
      await Promise.all(knocks.map((knock) => knock()));
      const names = [...found];
      found.clear();
      return names;
    },
    close: () => closers.forEach((close) => void close()),
  };
}
