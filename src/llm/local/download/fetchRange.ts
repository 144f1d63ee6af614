import { message } from '../../../protocol/text/l10n.ts';
import { joinLocalizableTexts, withFullStop } from '../../../protocol/text/localized.ts';
import { networkReason, withNetworkReason } from '../../../protocol/text/networkReason.ts';
import { onAbort } from '../../../protocol/values/abort.ts';
import { withDeadline } from '../../core/deadlines.ts';
import { LLMError } from '../../core/errors.ts';
import { isLoopback } from '../../transport/http.ts';

export const offlineModelHint = message(
  'Without network: pick a .gguf file on this machine, use the demo model, or connect to a provider.',
);
const maxRedirects = 5;

interface WebRequest {
  method: 'GET' | 'HEAD';
  url: string;
  headers?: Record<string, string>;
  connectMs: number;
  signal?: AbortSignal;
}

export interface WebResponse {
  response: Response;
  header(name: string): string | undefined;
}

/**
 * Sends a request without credentials: no token and no cookie, regardless of the environment. Redirects must use https; only servers on
 * this machine may use http or redirect to http. Throws `LLMError`, or the signal's reason.
 */
export async function sendAnonymousRequest({
  method,
  url,
  headers,
  connectMs,
  signal,
}: WebRequest): Promise<WebResponse> {
  const seen: Headers[] = [];
  let target = checked(url);
  for (let hop = 0; hop <= maxRedirects; hop++) {
    const response = await ask(target, { method, headers, signal }, connectMs);
    seen.push(response.headers);
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || response.status === 304 || !location)
      return { response, header: (name) => seen.find((one) => one.has(name))?.get(name) ?? undefined };
    await response.body?.cancel();
    if (!URL.canParse(location, target)) break;
    target = checked(new URL(location, target).href, target);
  }
  const often = message('{0} redirects too often.', new URL(url).host);
  throw new LLMError('LLM_HTTP_ERROR', joinLocalizableTexts([often, offlineModelHint]));
}

function checked(address: string, from?: string): string {
  const url = new URL(address);
  if (url.username || url.password)
    // fetch would reject the URL and quote the credentials in its message
    throw new LLMError(
      'LLM_HTTP_ERROR',
      message('The address at {0} has a user name or password, which is not used.', url.host),
    );
  if (from && isLoopback(url.hostname) && !isLoopback(new URL(from).hostname))
    throw new LLMError(
      'LLM_HTTP_ERROR',
      message('{0} redirects to this machine, which is not allowed.', new URL(from).host),
    );
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return url.href;
  const plain = message('{0} is not encrypted. Models are downloaded over https only.', url.origin);
  throw new LLMError('LLM_HTTP_ERROR', plain);
}

async function ask(
  url: string,
  { method, headers, signal }: Pick<WebRequest, 'method' | 'headers' | 'signal'>,
  connectMs: number,
): Promise<Response> {
  signal?.throwIfAborted();
  const { host } = new URL(url);
  const connection = new AbortController();
  const stopListening = onAbort(signal, (reason) => connection.abort(reason)); // also while the body is read
  const silence = message('{0} did not answer within {1} seconds.', host, connectMs / 1000);
  const silent = new LLMError('LLM_TIMEOUT', joinLocalizableTexts([silence, offlineModelHint]), { retryable: true });
  try {
    const options = { method, headers, redirect: 'manual', credentials: 'omit', signal: connection.signal } as const;
    return await withDeadline(globalThis.fetch(url, options), { ms: connectMs, signal, expired: () => silent });
  } catch (error) {
    stopListening();
    connection.abort();
    signal?.throwIfAborted();
    if (error instanceof LLMError) throw error;
    const reason = networkReason(error);
    const why = reason.isOffline
      ? message('{0} needs a network connection.', host)
      : withFullStop(withNetworkReason(message('{0} cannot be reached', host), reason));
    const details = { reason: reason.code, text: reason.text };
    const retryable = !reason.isOffline;
    throw new LLMError('LLM_HTTP_ERROR', joinLocalizableTexts([why, offlineModelHint]), { retryable, details });
  }
}
