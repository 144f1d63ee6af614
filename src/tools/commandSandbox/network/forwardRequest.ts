import { ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import type { ProxyFailure } from './proxyConnection.ts';

/** The connection for a plain HTTP request, the request target to send, and the headers that the proxy sets. */
interface ForwardingRoute {
  socket: Socket;
  path: string;
  headers: Readonly<Record<string, string>>;
}

/** Forwards a request on its own connection, and the answer. Resolves with a failure while nothing has been answered. */
export function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { socket, path, headers }: ForwardingRoute,
): Promise<ProxyFailure | undefined> {
  return new Promise((resolve) => {
    const fail = () => {
      socket.destroy();
      if (response.headersSent) response.destroy();
      resolve(response.headersSent ? undefined : { status: 502, reason: 'The server closed the connection' });
    };
    const outgoing = new ClientRequest({
      method: request.method,
      path,
      setHost: false,
      createConnection: () => socket,
    });
    outgoing.on('error', fail);
    response.on('close', () => outgoing.destroy());
    for (const [name, values] of forwardedHeaders(request)) outgoing.setHeader(name, values);
    for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
    outgoing.setHeader('connection', 'close');
    setBodyLength(request, outgoing);
    outgoing.on('response', (answer) => {
      if (answer.statusCode === 407) return fail(); // concerns the credentials of the user's proxy
      try {
        response.sendDate = false;
        const lines = [...forwardedHeaders(answer)].flatMap(([name, values]) => values.flatMap((one) => [name, one]));
        response.writeHead(answer.statusCode ?? 502, answer.statusMessage, lines);
      } catch {
        return fail();
      }
      pipeline(answer, response, () => socket.destroy());
      resolve(undefined);
    });
    request.pipe(outgoing);
  });
}

// Of one hop only (RFC 9110, 7.6.1), answered by this proxy (`expect`), or set by it (`host`).
const hopHeaders = new Set(
  `connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade expect host`.split(
    ' ',
  ),
);

// The parsed `headers` drop repeated lines, and have no safe form of names such as `__proto__`.
function forwardedHeaders({ rawHeaders, headers }: IncomingMessage): Map<string, string[]> {
  const listed = (headers.connection ?? '').toLowerCase().split(/[\s,]+/);
  const isChunked = headers['transfer-encoding'] !== undefined;
  const forwarded = new Map<string, string[]>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    if (hopHeaders.has(name) || listed.includes(name) || (isChunked && name === 'content-length')) continue;
    forwarded.set(name, [...(forwarded.get(name) ?? []), rawHeaders[index + 1]!]);
  }
  return forwarded;
}

function setBodyLength({ headers, method }: IncomingMessage, outgoing: ClientRequest): void {
  if (headers['transfer-encoding'] !== undefined) outgoing.setHeader('transfer-encoding', 'chunked');
  else if (headers['content-length'] !== undefined) outgoing.setHeader('content-length', headers['content-length']);
  else if (/^(POST|PUT|PATCH)$/.test(method ?? '')) outgoing.setHeader('content-length', '0');
  else outgoing.useChunkedEncodingByDefault = false;
}
