import { createHash, timingSafeEqual } from 'node:crypto';
import { chmod, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { onAbort, raceWithAbort } from '../../../protocol/values/abort.ts';
import { forwardRequest } from './forwardRequest.ts';
import { joinSockets } from './joinSockets.ts';
import {
  type AddressRules,
  connectThroughUpstream,
  connectToTarget,
  connectToUpstream,
  type ProxyFailure,
  upstreamCredentials,
} from './proxyConnection.ts';
import { formatTarget, type ProxyTarget, parseConnectTarget, parseHttpTarget } from './proxyTarget.ts';

interface SandboxProxyOptions extends AddressRules {
  /** Path of the Unix socket, at most 107 bytes, in a folder that only the user can enter; undefined for a free port of the loopback. */
  socketPath?: string;
  /** User name and password that clients must give, for a port, which others can reach. */
  credentials?: string;
  /**
   * Decides on a connection, which waits without a time limit. The signal aborts when the client leaves. An error denies. A target may be a
   * private address or `localhost`: allowing it gives access to services of this machine or network.
   */
  access(target: ProxyTarget, signal: AbortSignal): Promise<'allow' | 'deny'>;
  /** The user's own HTTP proxy for a target; undefined for a direct connection. */
  upstream?(target: ProxyTarget, isTunnel: boolean): URL | undefined;
  log?(text: string): void;
}

interface SandboxProxy {
  /** Port of the loopback address; 0 for a socket. */
  port: number;
  /** Ends all connections, held ones too. */
  close(): Promise<void>;
}

const maxHeaderSize = 16 * 1024;
const maxConnections = 256;
// Bytes that a client may send before its tunnel is open.
const maxEarlyBytes = 64 * 1024;
// Milliseconds
const headersTimeout = 60_000;
const keepAliveTimeout = 30_000;

/**
 * Starts the HTTP proxy through which the commands of a sandbox reach the network. It handles CONNECT and plain HTTP requests.
 *
 * @throws if the proxy cannot listen
 */
export async function startSandboxProxy({
  socketPath,
  credentials,
  access,
  upstream,
  log,
  ...addressRules
}: SandboxProxyOptions): Promise<SandboxProxy> {
  if (socketPath === undefined && !credentials) throw new Error('A port needs credentials.');
  if (Buffer.byteLength(socketPath ?? '') > 107) throw new Error(`The path of the socket is too long: ${socketPath}`);
  const isKnown = createCredentialsTest(credentials);
  const sockets = new Set<Socket>();
  const unanswered = new Map<Socket, number>();

  function track(socket: Socket): Socket {
    sockets.add(socket);
    return socket.on('close', () => sockets.delete(socket)).on('error', () => {}); // `close` follows
  }

  async function accessFailure(target: ProxyTarget, signal: AbortSignal): Promise<ProxyFailure | undefined> {
    try {
      if ((await raceWithAbort(access(target, signal), signal)) === 'allow') return undefined;
    } catch {
      if (!signal.aborted) log?.(`The decision on network access to ${formatTarget(target)} failed.`);
    }
    return { status: 403, reason: `Blocked by the sandbox: network access to ${target.host}` };
  }

  async function tunnel(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    if (unanswered.has(client)) return void client.destroy(); // the answers would mix
    if (!isKnown(request)) return refuseTunnel(client, unknownClient);
    const target = parseConnectTarget(request.url ?? '');
    if (!target) return refuseTunnel(client, { status: 400, reason: 'The target of CONNECT is not valid' });
    const waiting = waitForTunnel(client, head);
    const failure = await accessFailure(target, waiting.signal);
    if (waiting.signal.aborted) return;
    if (failure) return refuseTunnel(client, failure);
    const proxy = upstream?.(target, true);
    const server = await (proxy
      ? connectThroughUpstream(proxy, target, waiting.signal)
      : connectToTarget(target, addressRules, waiting.signal));
    if ('status' in server) return refuseTunnel(client, server);
    track(server);
    if (waiting.signal.aborted) return void server.destroy();
    waiting.end();
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    joinSockets(client, server);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isKnown(request)) return refuse(response, unknownClient);
    const parsed = parseHttpTarget(request.url ?? '');
    if (!parsed) return refuse(response, { status: 400, reason: 'A proxy takes CONNECT and http:// addresses' });
    if (!isForwardable(request)) return refuse(response, { status: 501, reason: 'Not supported by the sandbox' });
    const { target, path } = parsed;
    const client = new AbortController();
    response.once('close', () => client.abort());
    const failure = await accessFailure(target, client.signal);
    if (client.signal.aborted) return;
    if (failure) return refuse(response, failure);
    const proxy = upstream?.(target, false);
    const server = await (proxy
      ? connectToUpstream(proxy, client.signal)
      : connectToTarget(target, addressRules, client.signal));
    if ('status' in server) return refuse(response, server);
    track(server);
    if (client.signal.aborted) return void server.destroy();
    if (request.headers.expect) response.writeContinue();
    const host = formatTarget(target, 80);
    const failed = await forwardRequest(request, response, {
      socket: server,
      path: proxy ? `http://${host}${path}` : path,
      headers: { host, ...(proxy && upstreamCredentials(proxy)) },
    });
    if (failed) refuse(response, failed);
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    for (const stream of [request, response]) stream.on('error', () => {}); // the client has left
    unanswered.set(socket, (unanswered.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const left = (unanswered.get(socket) ?? 1) - 1;
      if (left > 0) unanswered.set(socket, left);
      else unanswered.delete(socket);
    });
    answer(request, response).catch(() => response.destroy());
  }

  const limits = { maxHeaderSize, headersTimeout, keepAliveTimeout, requestTimeout: 0, insecureHTTPParser: false };
  const server = createServer(limits, handle);
  server.maxConnections = maxConnections;
  server.on('checkContinue', handle); // a body is sent only after the decision
  server.on('connection', track);
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) => {
    tunnel(request, client, head).catch(() => client.destroy());
  });
  if (socketPath !== undefined) await rm(socketPath, { force: true }); // left by a process that was killed
  await new Promise<void>((resolve, reject) => {
    server
      .once('error', reject)
      .listen(socketPath === undefined ? { host: '127.0.0.1', port: 0 } : { path: socketPath }, resolve);
  });
  server.on('error', () => {}); // concerns a single connection
  if (socketPath !== undefined) await chmod(socketPath, 0o600);
  const address = server.address();
  return {
    port: address !== null && typeof address === 'object' ? address.port : 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

// A server may ignore the wish for HTTP/2 (`h2c`), but not for another protocol.
const isForwardable = ({ headers }: IncomingMessage): boolean =>
  /^(h2c)?$/i.test(headers.upgrade ?? '') && /^(chunked)?$/i.test(headers['transfer-encoding'] ?? '');

const unknownClient: ProxyFailure = { status: 407, reason: 'The sandbox does not know this client' };

const scheme = 'Basic realm="sandbox"';

function createCredentialsTest(credentials: string | undefined): (request: IncomingMessage) => boolean {
  if (credentials === undefined) return () => true;
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(`Basic ${Buffer.from(credentials).toString('base64')}`);
  return ({ headers }) => timingSafeEqual(digest(headers['proxy-authorization'] ?? ''), expected);
}

// Reads while a tunnel is not open yet, to notice when the client leaves. The read bytes return to the socket at the end.
function waitForTunnel(client: Socket, head: Buffer): { signal: AbortSignal; end(): void } {
  const gone = new AbortController();
  const leave = () => gone.abort();
  const early = [head];
  let size = head.length;
  const collect = (chunk: Buffer) => {
    early.push(chunk);
    size += chunk.length;
    if (size > maxEarlyBytes) client.destroy(); // no protocol sends as much without an answer
  };
  client.on('close', leave).on('end', leave).on('data', collect);
  onAbort(gone.signal, () => client.destroy());
  return {
    signal: gone.signal,
    end() {
      client.off('close', leave).off('end', leave).off('data', collect).pause();
      if (size > 0) client.unshift(Buffer.concat(early));
    },
  };
}

// The status line has the reason, too: most programs show only that line of a refused tunnel.
function refuseTunnel(client: Socket, { status, reason }: ProxyFailure): void {
  const body = `${reason}\n`;
  const wanted = status === 407 ? `Proxy-Authenticate: ${scheme}\r\n` : '';
  const headers = `${wanted}Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close`;
  client.write(`HTTP/1.1 ${status} ${reason}\r\n${headers}\r\n\r\n${body}`);
  client.destroySoon();
}

function refuse(response: ServerResponse, { status, reason }: ProxyFailure): void {
  if (response.destroyed) return;
  const body = `${reason}\n`;
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'content-length': Buffer.byteLength(body) };
  const wanted = status === 407 && { 'proxy-authenticate': scheme };
  response.writeHead(status, { ...headers, ...wanted, connection: 'close' }).end(body);
}
