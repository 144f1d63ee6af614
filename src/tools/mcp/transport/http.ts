import { type LocalizedMessage, message } from '../../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../../protocol/text/localized.ts';
import { networkReason } from '../../../protocol/text/networkReason.ts';
import { createJsonRpcNormalizer } from './plainBody.ts';
import { McpServerFault, maxServerMessageBytes, messageTooLongReason } from './stdio.ts';

class UnusableAddressError extends McpServerFault {
  override readonly name = 'HttpRefusal';
}

/**
 * Creates the editor's fetch (with its proxy and certificates) for one server. Redirects are refused, because headers would be forwarded;
 * messages have a size limit. `refused` receives permanent errors; not `fatal` if only an optional stream failed.
 * @param send adds the tokens of a sign-in
 */
export function createMcpServerFetch(
  refused: (refusal: UnusableAddressError, fatal: boolean) => void,
  send: (url: string | URL, init?: RequestInit) => Promise<Response> = globalThis.fetch,
) {
  return async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const refuseAs = (fatal: boolean) => (why: LocalizedMessage, cause?: unknown) => {
      const refusal = new UnusableAddressError(why, { cause });
      refused(refusal, fatal);
      throw refusal;
    };
    const refuse = refuseAs(init?.method === 'POST');
    const response = await send(url, { ...init, redirect: 'manual' }).catch((error: unknown) => {
      if (!networkReason(error).isOffline) throw error;
      // Also fatal for a stream: its client would connect again and again.
      return refuseAs(true)(message('needs a network connection'), error);
    });
    const { status } = response;
    const accepted = status < 300 || (status >= 400 && status !== 401 && status !== 403);
    if (accepted && response.type !== 'opaqueredirect') return limited(response, refuseAs(true));
    await response.body?.cancel();
    if (status === 401) return refuse(message('answered 401: its headers do not give access'));
    if (status === 403) return refuse(message('answered 403: its headers do not give access'));
    return refuse(
      message(
        'redirects to {0}, which is not followed; configure that address',
        originOf(response.headers.get('location'), url),
      ),
    );
  };
}

function originOf(location: string | null, base: string | URL): LocalizableText {
  if (!location || !URL.canParse(location, String(base))) return message('another address');
  const { origin, pathname } = new URL(location, base);
  return `${origin}${pathname}`.slice(0, 200);
}

/** Returns the reason why headers must not be sent to this address; undefined if safe. */
export function unsafeAddressReason(url: string, headers: Record<string, string>): LocalizedMessage | undefined {
  if (!URL.canParse(url)) return message('has no usable address');
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return message('has an address that is not https:// or http://');
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  if (protocol === 'http:' && !isLoopback && Object.keys(headers).length > 0)
    return message('has headers, which would be sent unencrypted to another machine; use https://');
  return undefined;
}

// Limits the bytes of each event, or of the whole body without a stream.
function limited(response: Response, refuse: (why: LocalizedMessage) => never): Response {
  if (!response.body) return response;
  const isStream = response.headers.get('content-type')?.includes('event-stream') ?? false;
  let size = 0;
  let lineIsEmpty = false;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.length;
      if (isStream)
        for (const [index, byte] of chunk.entries()) {
          if (byte !== 10 && byte !== 13) lineIsEmpty = false;
          else if (byte === 10) {
            if (lineIsEmpty) size = chunk.length - index;
            lineIsEmpty = true;
          }
        }
      if (size > maxServerMessageBytes) refuse(messageTooLongReason);
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  const body = response.body.pipeThrough(counter);
  const isMessage = isStream || headers.get('content-type')?.includes('json');
  return new Response(isMessage ? body.pipeThrough(createJsonRpcNormalizer(isStream)) : body, {
    status,
    statusText,
    headers,
  });
}
