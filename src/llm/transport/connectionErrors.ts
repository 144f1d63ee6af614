import { message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, withFullStop } from '../../protocol/text/localized.ts';
import {
  innermostCause,
  isCertificateError,
  type NetworkReason,
  networkReason,
  timeoutCodePattern,
  withNetworkReason,
} from '../../protocol/text/networkReason.ts';
import { LLMError } from '../core/errors.ts';
import { type Endpoint, endpointName } from './providerErrors.ts';
import { redact } from './redact.ts';

/** Errors of a plain http server at an https URL: OpenSSL's code, or its message if the code is only EPROTO. */
const noEncryption = /wrong.version.number|packet.length.too.long/i;
const unreadableHeaders = /UND_ERR_HEADERS_OVERFLOW|HPE_/;
/** Error of VS Code's patched fetch if a proxy requires a login or forbids the host (undici's text). */
const proxyRefusal = /Proxy response \((\d{3})\)/;
const badCompression = /^Z_(?!BUF_ERROR)|incorrect header check|ERR__ERROR_FORMAT/;

export function connectionError(endpoint: Endpoint, error: unknown): LLMError {
  const reason = reasonOf(endpoint, error);
  const { code, text } = reason;
  const details = detailsOf(reason);
  const name = endpointName(endpoint);
  if (noEncryption.test(`${code} ${text}`)) {
    const messageText = message(
      '{0} does not use TLS at this port. Check the address: a server on this machine usually has an http:// address.',
      name,
    );
    return new LLMError('LLM_HTTP_ERROR', messageText, { reason: 'unreachable', details });
  }
  if (isCertificateError(reason)) {
    const messageText = joinLocalizableTexts([
      withFullStop(withNetworkReason(message('The certificate of {0} was not accepted', name), reason)),
      message("Fix it on the server, or add its authority to this system's."),
    ]);
    return new LLMError('LLM_HTTP_ERROR', messageText, { reason: 'unreachable', details });
  }
  if (timeoutCodePattern.test(code)) {
    const messageText = message(
      '{0} did not answer in time. That limit is the network’s own; no setting of Towpath changes it.',
      name,
    );
    return new LLMError('LLM_TIMEOUT', messageText, { retryable: true, details });
  }
  if (unreadableHeaders.test(code))
    return new LLMError('LLM_HTTP_ERROR', message('The answer of {0} cannot be read.', name), { details });
  if (isProxyLogin(error)) {
    const messageText = message(
      "{0} answered 407: a proxy on the way requires a login. Check the editor's setting http.proxy.",
      name,
    );
    return new LLMError('LLM_HTTP_ERROR', messageText, { reason: 'unreachable', details: { ...details, status: 407 } });
  }
  if (code === 'UND_ERR_SOCKET' && text.includes('bad response')) {
    const messageText = message(
      '{0} sent “100 Continue”, which was not requested, so its answer cannot be read. Check the server or the proxy on the way.',
      name,
    );
    return new LLMError('LLM_HTTP_ERROR', messageText, { details });
  }
  const proxy = proxyRefusal.exec(text)?.[1];
  if (proxy !== undefined) {
    const messageText = message(
      "The proxy on the way to {0} refused the connection ({1}). Check the editor's setting http.proxy and the proxy's password.",
      name,
      proxy,
    );
    return new LLMError('LLM_HTTP_ERROR', messageText, {
      reason: 'unreachable',
      details: { ...details, status: Number(proxy) },
    });
  }
  if (reason.isOffline) {
    const messageText = message('{0} needs a network connection.', name);
    return new LLMError('LLM_HTTP_ERROR', messageText, { reason: 'unreachable', details });
  }
  const check =
    code === 'ECONNREFUSED' && /^localhost(?::|$)/.test(endpoint.host)
      ? message('Check that the server runs; if it listens on ::1 only, use [::1] instead of localhost in its address.')
      : message('Check the address, the network, and that the server runs.');
  const messageText = joinLocalizableTexts([
    withFullStop(withNetworkReason(message('{0} cannot be reached', name), reason)),
    check,
  ]);
  return new LLMError('LLM_HTTP_ERROR', messageText, { reason: 'unreachable', retryable: true, details });
}

export function connectionInterruptedError(endpoint: Endpoint, error: unknown): LLMError {
  const reason = reasonOf(endpoint, error);
  const { code, text } = reason;
  const details = detailsOf(reason);
  const name = endpointName(endpoint);
  if (badCompression.test(code) || badCompression.test(text))
    return new LLMError('LLM_BAD_RESPONSE', message('The answer of {0} is damaged.', name), { details });
  if (timeoutCodePattern.test(code)) {
    const messageText = message(
      '{0} fell silent. That limit is the network’s own; no setting of Towpath changes it.',
      name,
    );
    return new LLMError('LLM_TIMEOUT', messageText, { retryable: true, details });
  }
  const broken = withFullStop(withNetworkReason(message('The answer of {0} broke off', name), reason));
  return new LLMError('LLM_INCOMPLETE', broken, { retryable: true, details });
}

/** Returns true for fetch's (undici's) error without text, which occurs only for a 407 over plain http. */
function isProxyLogin(error: unknown): boolean {
  const { innermost, code } = innermostCause(error);
  return innermost instanceof Error && innermost.name === 'Error' && innermost.message === '' && code === '';
}

const detailsOf = ({ code, text }: NetworkReason) => ({ reason: code, text });

function reasonOf({ secrets }: Endpoint, error: unknown): NetworkReason {
  const { text, ...reason } = networkReason(error);
  return { ...reason, text: redact(text, secrets).slice(0, 300) };
}
