import { once } from 'node:events';
import { ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createConnection, isIP, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { toEnglishText } from '../../protocol/text/l10n.ts';
import { networkReason } from '../../protocol/text/networkReason.ts';
import { raceWithAbort } from '../../protocol/values/abort.ts';
import { ToolError } from '../core/tool.ts';
import { checkFetchUrl, offlineWebError, resolveHostAddresses } from '../network/addresses.ts';

/** Limits of a page: `timeout` in milliseconds, including redirects, and `bytes` after unpacking. */
export interface WebPageLimits {
  timeout: number;
  /** Maximum unpacked bytes of the page. */
  bytes: number;
}

/**
 * Permitted targets of a fetch: `check` receives the first address and each redirect; the connection uses an address of `addresses`;
 * `connected` is called after a direct connection, before anything is sent. Each function throws `ToolError` to refuse. `connect` leads
 * into another network.
 */
export interface FetchTargetPolicy {
  check(url: URL): void;
  addresses(url: URL): Promise<string[]>;
  connected?(url: URL, address: string): Promise<void>;
  connect?(target: { address: string; port: number }): Promise<Socket>;
}

export const anySiteFetchPolicy = (allowPrivate: boolean): FetchTargetPolicy => ({
  check: (url) => void checkFetchUrl(url.href, allowPrivate),
  addresses: (url) => resolveHostAddresses(url, allowPrivate),
});

const redirectLimit = 5;
const unreachable = new Set(['ECONNREFUSED', 'ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'ETIMEDOUT']);

// Fetched page. `url` is the final address after `redirects`; `contentType` is the server's media type with parameters.
interface FetchedPage {
  url: URL;
  contentType: string;
  bytes: Buffer;
  redirects: string[];
}

/** Fetches a page. Each address on the way is checked; redirects to another site are not followed. Throws `ToolError`. */
export async function fetchWebPage(
  start: URL,
  {
    reach,
    signal,
    timeout = 30_000,
    bytes = 2 * 1024 * 1024,
  }: { reach: FetchTargetPolicy; signal: AbortSignal } & Partial<WebPageLimits>,
): Promise<FetchedPage> {
  const late = AbortSignal.timeout(timeout);
  const ended = AbortSignal.any([signal, late]);
  const redirects: string[] = [];
  try {
    for (let url = start; ; ) {
      const response = await ask(url, reach, ended);
      const { statusCode: status = 0, headers } = response;
      if (status < 300 || status >= 400 || headers.location === undefined)
        return { url, ...(await read(url, response, bytes)), redirects };
      response.destroy();
      const next = nextUrl(url, headers.location, reach);
      redirects.push(next.href);
      if (redirects.length > redirectLimit)
        throw new ToolError('TOOL_EXEC_FAILED', `It redirects more than ${redirectLimit} times, last to ${next.href}.`);
      url = next;
    }
  } catch (error) {
    if (signal.aborted) throw new ToolError('TOOL_INTERRUPTED', 'Stopped while it was fetched.');
    if (late.aborted)
      throw new ToolError('TOOL_TIMEOUT', `${start.host} did not answer in full within ${timeout / 1000} s.`);
    if (error instanceof ToolError) throw error;
    const { text, reason, code, isOffline } = networkReason(error);
    if (isOffline) throw offlineWebError(code);
    const why = reason ? `: ${toEnglishText(reason)}` : code === '' ? `: ${text}` : '';
    throw new ToolError('TOOL_EXEC_FAILED', `The page could not be fetched${why}.`, { cause: code, text });
  }
}

function nextUrl(from: URL, location: string, reach: FetchTargetPolicy): URL {
  let next: URL;
  try {
    next = new URL(location, from);
  } catch {
    throw new ToolError('TOOL_EXEC_FAILED', `${from.host} redirects to something that is no address.`);
  }
  const url = checkFetchUrl(next.href, true);
  reach.check(url);
  if (from.protocol === 'https:' && url.protocol === 'http:')
    throw new ToolError('TOOL_EXEC_FAILED', `It redirects from https to http (${url.href}), which was not followed.`);
  if (!isSameSite(from, url)) {
    const message = `It redirects to another site, which nobody was asked about: ${url.href}. Fetch that address.`;
    throw new ToolError('TOOL_EXEC_FAILED', message, { redirect: url.href });
  }
  return url;
}

// Tests for the same host, also over https or with or without `www`: the permission covers these.
function isSameSite(from: URL, to: URL): boolean {
  const plain = ({ hostname }: URL) => hostname.replace(/^www\./, '');
  return plain(from) === plain(to) && from.port === to.port;
}

async function ask(url: URL, reach: FetchTargetPolicy, signal: AbortSignal): Promise<IncomingMessage> {
  const addresses = await raceWithAbort(reach.addresses(url), signal);
  for (const [index, address] of addresses.entries()) {
    try {
      return await askAt(address, url, reach, signal);
    } catch (error) {
      const another = index + 1 < addresses.length && unreachable.has((error as NodeJS.ErrnoException).code ?? '');
      if (!another || signal.aborted) throw error;
    }
  }
  throw new ToolError('TOOL_EXEC_FAILED', `The host ${url.hostname} has no address.`);
}

// Connects to the checked address; the request and the certificate check use the host name.
async function askAt(
  address: string,
  url: URL,
  reach: FetchTargetPolicy,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const secure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || (secure ? 443 : 80));
  const sent = {
    path: url.pathname + url.search,
    method: 'GET',
    signal,
    headers: {
      host: url.host,
      accept: 'text/html, text/markdown, text/plain, application/json, application/xml;q=0.9, text/*;q=0.8',
      'accept-encoding': 'gzip, deflate, br',
      'user-agent': 'Towpath',
      connection: 'close',
    },
  };
  const servername = isIP(host) ? {} : { servername: host };
  if (!reach.connected) {
    const options = { ...sent, host: address, port, agent: false as const, ...(secure && servername) };
    return answered((secure ? httpsRequest : httpRequest)(options));
  }
  const socket = await connected(reach, url, { address, port }, signal);
  // The editor replaces `request` with its own proxied version, which would open another connection.
  return answered(
    new ClientRequest({
      ...sent,
      createConnection: () => (secure ? tlsConnect({ socket, host, ...servername }) : socket),
    }),
  );
}

const answered = (request: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.once('response', resolve).on('error', reject).end();
  });

async function connected(
  reach: FetchTargetPolicy,
  url: URL,
  target: { address: string; port: number },
  signal: AbortSignal,
): Promise<Socket> {
  const socket = reach.connect
    ? await reach.connect(target)
    : createConnection({ host: target.address, port: target.port });
  try {
    if (socket.connecting) await once(socket, 'connect', { signal });
    await raceWithAbort(reach.connected!(url, target.address), signal);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function read(
  url: URL,
  response: IncomingMessage,
  limit: number,
): Promise<Pick<FetchedPage, 'contentType' | 'bytes'>> {
  try {
    const { statusCode = 0, headers } = response;
    if (statusCode < 200 || statusCode > 299)
      throw new ToolError(
        'TOOL_EXEC_FAILED',
        `${url.href} answered ${statusCode} ${response.statusMessage ?? ''}`.trim(),
        {
          status: statusCode,
        },
      );
    const contentType = headers['content-type'] ?? 'text/plain';
    if (!/^(text\/|application\/([\w.-]+\+)?(json|xml)\b)/i.test(contentType))
      throw new ToolError('E_READ_LIMIT', `The page is ${contentType.slice(0, 100)}, and only text can be read.`);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of unpacked(response)) {
      size += (chunk as Buffer).length;
      if (size > limit) throw new ToolError('E_READ_LIMIT', `The page is larger than ${Math.round(limit / 1024)} KiB.`);
      chunks.push(chunk as Buffer);
    }
    return { contentType, bytes: Buffer.concat(chunks) };
  } finally {
    response.destroy();
  }
}

function unpacked(response: IncomingMessage): Readable {
  const encoding = (response.headers['content-encoding'] ?? '').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return response;
  const unpack = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress }[
    encoding
  ];
  if (!unpack) throw new ToolError('E_READ_LIMIT', `The page is packed in an unknown way (${encoding.slice(0, 40)}).`);
  const stream = unpack();
  response.on('error', (error) => stream.destroy(error));
  return response.pipe(stream);
}
