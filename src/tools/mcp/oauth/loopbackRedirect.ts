import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { message } from '../../../protocol/text/l10n.ts';
import type { OpenRedirect, PendingRedirects, RedirectWay } from './pendingRedirects.ts';
import { signInError } from './signInErrors.ts';

const path = '/callback';
const lifetime = 5 * 60_000;

interface LoopbackOptions {
  /** Returns the page for the browser: the answer was accepted, or no sign-in waits for it. */
  page(isAccepted: boolean): string;
  /** Converts the address for a browser on another machine. */
  external?(address: string): Promise<string>;
  /** Milliseconds until the port closes without an answer. */
  closeAfter?: number;
}

/** Creates the way back over a random port of this machine (RFC 8252, section 7.3), open for one sign-in and at most 5 minutes. */
export const loopbackRedirect = ({
  page,
  external = async (address) => address,
  closeAfter = lifetime,
}: LoopbackOptions): RedirectWay => ({
  async open(redirects): Promise<OpenRedirect> {
    const server = createServer((request, response) => answer(request, response, redirects, page));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    const expired = new AbortController();
    const close = () => {
      clearTimeout(timer);
      server.close();
      server.closeIdleConnections();
    };
    const timer = setTimeout(() => {
      close();
      expired.abort(signInError(message('no answer came within {0} minutes', Math.round(closeAfter / 60_000))));
    }, closeAfter);
    const { port } = server.address() as AddressInfo;
    return { uri: await external(`http://127.0.0.1:${port}${path}`), expired: expired.signal, close };
  },
});

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  redirects: PendingRedirects,
  page: LoopbackOptions['page'],
): void {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  const isAnswer = request.method === 'GET' && url.pathname === path;
  const isAccepted = isAnswer && redirects.deliver(url.searchParams);
  response.writeHead(isAccepted ? 200 : isAnswer ? 400 : 404, {
    'content-type': 'text/plain; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  response.end(page(isAccepted));
}
