import { promises as dns } from 'node:dns';
import { once } from 'node:events';
import { ClientRequest, type IncomingMessage } from 'node:http';
import { createConnection, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { networkReason } from '../../../protocol/text/networkReason.ts';
import { raceWithAbort } from '../../../protocol/values/abort.ts';
import { isPublicAddress } from '../../network/addresses.ts';
import { formatTarget, type ProxyTarget } from './proxyTarget.ts';

/** Answer of the proxy to a request that it does not forward. */
export interface ProxyFailure {
  status: number;
  reason: string;
}

export interface AddressRules {
  /** Decides on each address of an allowed target. Default: `isExpectedAddress`. */
  isAllowedAddress?(address: string, target: ProxyTarget, signal: AbortSignal): boolean | Promise<boolean>;
  /** All addresses of a name; rejects if there are none. Default: the resolver of the system. */
  lookup?(host: string): Promise<string[]>;
}

/** Opens a connection to a target whose addresses are all allowed. No second lookup: a name cannot change its meaning after the check. */
export async function connectToTarget(
  target: ProxyTarget,
  { isAllowedAddress = isExpectedAddress, lookup = lookupAddresses }: AddressRules,
  signal: AbortSignal,
): Promise<Socket | ProxyFailure> {
  let addresses: string[];
  try {
    addresses = await raceWithAbort(literalAddresses(target.host) ?? lookup(target.host), signal);
  } catch (error) {
    return failure(target.host, `Could not resolve ${target.host}`, error);
  }
  if (addresses.length === 0) return { status: 502, reason: `Could not resolve ${target.host}` };
  for (const address of addresses) {
    if (isIP(address) !== 0 && (await isAllowedAddress(address, target, signal))) continue;
    return { status: 403, reason: `Blocked by the sandbox: ${target.host} has a private address` };
  }
  return connectTo(target, { ...target, ...withAddresses(addresses) }, signal);
}

/** Opens a connection to an HTTP proxy. */
export function connectToUpstream(upstream: URL, signal: AbortSignal): Promise<Socket | ProxyFailure> {
  const isSecure = upstream.protocol === 'https:';
  const host = upstream.hostname.replace(/^\[|\]$/g, '');
  const port = Number(upstream.port || (isSecure ? 443 : 80));
  return connectTo({ host, port }, { host, port }, signal, isSecure);
}

/** Opens a tunnel through an HTTP proxy, which resolves the name of the target: its addresses are not known here and not checked. */
export async function connectThroughUpstream(
  upstream: URL,
  target: ProxyTarget,
  signal: AbortSignal,
): Promise<Socket | ProxyFailure> {
  const socket = await connectToUpstream(upstream, signal);
  if ('status' in socket) return socket;
  const authority = formatTarget(target);
  const headers = { host: authority, ...upstreamCredentials(upstream) };
  // The editor replaces `request` with its own proxied version, which would open another connection.
  const request = new ClientRequest({ method: 'CONNECT', path: authority, headers, createConnection: () => socket });
  request.on('error', () => {}); // the first one rejects below
  request.end();
  try {
    const [response, tunnel, head] = (await once(request, 'connect', { signal })) as [IncomingMessage, Socket, Buffer];
    const { statusCode = 0 } = response;
    if (statusCode >= 200 && statusCode < 300) {
      if (head.length > 0) tunnel.unshift(head);
      return tunnel;
    }
    socket.destroy();
    return { status: 502, reason: `The proxy of the network answered ${statusCode} for ${target.host}` };
  } catch (error) {
    socket.destroy();
    return { status: 502, reason: `The proxy of the network closed the connection (${errorCode(error)})` };
  }
}

/** Header with the credentials in the URL of a proxy. */
export function upstreamCredentials({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const credentials = `${decode(username)}:${decode(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function connectTo(
  { host, port }: ProxyTarget,
  options: TcpNetConnectOpts,
  signal: AbortSignal,
  isSecure = false,
): Promise<Socket | ProxyFailure> {
  const shared = { ...options, allowHalfOpen: true, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 1000 };
  const socket = isSecure
    ? tlsConnect({ ...shared, ...(isIP(host) === 0 && { servername: host }) })
    : createConnection(shared);
  socket.on('error', () => {}); // the first one rejects below
  try {
    await once(socket, isSecure ? 'secureConnect' : 'connect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    return failure(host, `Could not connect to ${host}:${port}`, error);
  }
}

const failure = (host: string, what: string, error: unknown): ProxyFailure => ({
  status: 502,
  reason: networkReason(error).isOffline ? `${host} needs a network connection` : `${what} (${errorCode(error)})`,
});

function withAddresses(addresses: readonly string[]): Pick<TcpNetConnectOpts, 'lookup'> {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return {
    lookup: (_host, { all: isAll }, callback) =>
      isAll ? callback(null, all) : callback(null, all[0]!.address, all[0]!.family),
  };
}

function literalAddresses(host: string): Promise<string[]> | undefined {
  if (host === 'localhost') return Promise.resolve(['127.0.0.1', '::1']);
  return isIP(host) ? Promise.resolve([host]) : undefined;
}

const lookupAddresses = async (host: string): Promise<string[]> =>
  (await dns.lookup(host, { all: true })).map(({ address }) => address);

/** Tests for a public address, and for any of a target that is an address or `localhost`. */
export const isExpectedAddress = (address: string, { host }: ProxyTarget): boolean =>
  isIP(host) !== 0 || host === 'localhost' || isPublicAddress(address);

// A code of Node, never a message, which could contain an address or credentials.
const errorCode = (error: unknown): string => (error as NodeJS.ErrnoException | undefined)?.code ?? 'unknown error';
