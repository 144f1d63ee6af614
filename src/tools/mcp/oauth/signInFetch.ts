import { message } from '../../../protocol/text/l10n.ts';
import { networkReason } from '../../../protocol/text/networkReason.ts';
import { OfflineSignInError, signInError } from './signInErrors.ts';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const maxBytes = 1024 * 1024;
/** Milliseconds for one request to a sign-in server. */
const requestTimeout = 30_000;

export const isLoopbackHost = (hostname: string): boolean =>
  /^(localhost|([^.]+\.)*localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);

/**
 * Returns an address of a sign-in: https, or http on this machine if the server itself is on this machine. A server elsewhere must not name
 * addresses of this machine. Throws `SignInError`.
 */
export function checkSignInAddress(address: string | URL, serverUrl: string): URL {
  const url = URL.canParse(String(address)) ? new URL(address) : undefined;
  const isLocal = url !== undefined && isLoopbackHost(url.hostname);
  if (url && isLocal && isLoopbackHost(new URL(serverUrl).hostname) && /^https?:$/.test(url.protocol)) return url;
  if (url?.protocol === 'https:' && !isLocal && url.username === '' && url.password === '') return url;
  throw signInError(message('its sign-in uses an address that is not https ({0})', url?.host.slice(0, 200) ?? ''));
}

/**
 * Creates a fetch for requests to sign-in servers: addresses are checked, the time and the size of an answer are limited, and redirects are
 * returned to the caller, because they could lead tokens to another host.
 */
export function createSignInFetch(serverUrl: string, inner: Fetch = globalThis.fetch): Fetch {
  return async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const address = checkSignInAddress(url, serverUrl);
    const timeout = AbortSignal.timeout(requestTimeout);
    const signal = init?.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    const sent = { ...init, signal, redirect: 'manual', credentials: 'omit' } as const;
    const response = await inner(address, sent).catch((error: unknown) => {
      throw networkReason(error).isOffline ? new OfflineSignInError(error) : error;
    });
    return new Response(await limitedBody(response), response);
  };
}

async function limitedBody(response: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  if (!response.body || [101, 204, 205, 304].includes(response.status)) return null;
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body) {
    size += part.length;
    if (size > maxBytes) throw signInError(message('its sign-in answered with more than {0} MiB', 1));
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}
