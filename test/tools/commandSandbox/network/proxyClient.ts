import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startSandboxProxy } from '../../../../src/tools/commandSandbox/network/proxy.ts';

type Options = Parameters<typeof startSandboxProxy>[0];

/** A proxy of a test. */
export interface TestedProxy {
  /** Targets of the questions about access, as `host:port`. */
  asked: string[];
  logged: string[];
  socketPath: string;
  open(): Socket;
  /** Sends this text and returns all of the answer, when the proxy has closed the connection. */
  exchange(text: string): Promise<string>;
  close(): Promise<void>;
}

/** Runs a test against a proxy, which allows everything by default. */
export async function withProxy(options: Partial<Options>, test: (proxy: TestedProxy) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'towpath-proxy-'));
  const socketPath = path.join(folder, 'proxy.sock');
  const asked: string[] = [];
  const logged: string[] = [];
  const { access = async () => 'allow' as const, ...others } = options;
  const starting = startSandboxProxy({
    socketPath,
    access: (target, signal) => {
      asked.push(`${target.host}:${target.port}`);
      return access(target, signal);
    },
    log: (text) => void logged.push(text),
    ...others,
  });
  const open = () => createConnection(socketPath).on('error', () => {});
  try {
    const proxy = await starting;
    await test({
      asked,
      logged,
      socketPath,
      open,
      exchange: (text) => sendAndRead(open(), text),
      close: () => proxy.close(),
    });
  } finally {
    await starting.then((proxy) => proxy.close()).catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}

async function sendAndRead(socket: Socket, text: string): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.write(text);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

/** Reads until the received text contains this one. */
export async function readUntil(socket: Socket, end: string): Promise<string> {
  let received = '';
  for (;;) {
    const [chunk] = (await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [])])) as [Buffer?];
    if (!chunk) throw new Error(`Closed after ${JSON.stringify(received)}`);
    received += chunk.toString('latin1');
    if (received.includes(end)) return received;
  }
}

/** The status of an HTTP answer and its body. */
export const statusAndBody = (answer: string): [status: number, body: string] => [
  Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]),
  answer.slice(answer.indexOf('\r\n\r\n') + 4),
];

/** A TCP server that answers each connection by a function. */
export async function listenTcp(answer: (socket: Socket) => void): Promise<{ port: number; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket.on('error', () => {}));
    answer(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
