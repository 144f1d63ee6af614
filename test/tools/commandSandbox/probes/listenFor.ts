import { createSocket } from 'node:dgram';
import { rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { eventually } from '../../../support/eventually.ts';

interface ProbeService {
  /** Port or path. */
  port: string;
  /** Resolves when everything that was sent before has been noted: by a connection of its own. */
  finish(): Promise<void>;
  close(): void;
}

/**
 * Listens for connections and packets.
 * @param address `udp:<address>`, an address for TCP, a path, or a name of an abstract socket after `@`
 * @param tag first text of connections that do not count
 * @param onReached called for each connection, also without data; the result is the answer
 */
export const listenFor = (address: string, tag: string, onReached: (text: string) => string): Promise<ProbeService> =>
  address.startsWith('udp:')
    ? listenForPackets(address.slice(4), tag, onReached)
    : listenForConnections(address.startsWith('@') ? `\0${address.slice(1)}` : address, tag, onReached);

async function listenForPackets(
  address: string,
  tag: string,
  onReached: (text: string) => string,
): Promise<ProbeService> {
  let isFinished = false;
  const socket = createSocket('udp4', (data) => {
    if (String(data) === tag) isFinished = true;
    else onReached(String(data));
  });
  await new Promise<void>((resolve) => socket.bind(0, address, resolve));
  const { port } = socket.address();
  return {
    port: String(port),
    async finish() {
      const sender = createSocket('udp4');
      sender.send(tag, port, address, () => sender.close());
      await eventually('the own packet arrives', () => isFinished);
    },
    close: () => void socket.close(),
  };
}

async function listenForConnections(
  address: string,
  tag: string,
  onReached: (text: string) => string,
): Promise<ProbeService> {
  let [isFinished, open] = [false, 0];
  const server = createServer((socket) => {
    let text = '';
    open += 1;
    socket.on('error', () => {});
    socket.on('data', (data) => {
      text += data;
      if (!text.startsWith(tag)) socket.end(onReached(text));
    });
    socket.on('close', () => {
      open -= 1;
      if (text.startsWith(tag)) isFinished = true;
      else onReached(text);
    });
  });
  const isPath = /^[/\0]/.test(address);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    if (isPath) server.listen(address, resolve);
    else server.listen(0, address, resolve);
  });
  const { port } = isPath ? { port: 0 } : (server.address() as { port: number });
  return {
    port: isPath ? address.replace('\0', '@') : String(port),
    async finish() {
      const socket = isPath ? connect(address) : connect(port, address === '0.0.0.0' ? '127.0.0.1' : address);
      socket.on('error', () => {
        isFinished = true; // the script has removed it
      });
      socket.end(tag);
      await eventually('the own connection arrives', () => isFinished && open === 0);
    },
    close() {
      server.close();
      if (address.startsWith('/')) rmSync(address, { force: true });
    },
  };
}
