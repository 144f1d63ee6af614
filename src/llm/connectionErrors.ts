import { inEnglish, sentence } from '../protocol/l10n.ts';
import type { Words } from '../protocol/sentence.ts';
import { LLMError } from './errors.ts';
import { type Endpoint, nameOf } from './providerErrors.ts';
import { redact } from './redact.ts';

const certificate = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|ALTNAME|ERR_SSL|ERR_TLS|EPROTO/;
/** A plain http server behind an https address: OpenSSL's code, or its words where the code is only EPROTO. */
const noEncryption = /wrong.version.number|packet.length.too.long/i;
const timeLimits = /UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT|ETIMEDOUT/;
const unreadableHeaders = /UND_ERR_HEADERS_OVERFLOW|HPE_/;
/** The editor's patched fetch, on a proxy that wants a login or forbids the host: undici's words. */
const proxyRefusal = /Proxy response \((\d{3})\)/;
const badCompression = /^Z_(?!BUF_ERROR)|incorrect header check|ERR__ERROR_FORMAT/;

/** Fetch threw before there was an answer. */
export function connectionError(endpoint: Endpoint, error: unknown): LLMError {
  const { code, text } = reasonOf(endpoint, error);
  const name = nameOf(endpoint);
  if (noEncryption.test(`${code} ${inEnglish(text)}`)) {
    const message = sentence(
      '{0} does not speak TLS at this port. Check the address: a server on this machine usually has an http:// one.',
      name,
    );
    return new LLMError('LLM_HTTP_ERROR', message, { reason: 'unreachable', details: { reason: code } });
  }
  if (certificate.test(code)) {
    const message = sentence(
      "The certificate of {0} was not accepted ({1}). Mend it there, or add its authority to this system's.",
      name,
      text,
    );
    return new LLMError('LLM_HTTP_ERROR', message, { reason: 'unreachable', details: { reason: code } });
  }
  if (timeLimits.test(code)) {
    const message = sentence(
      '{0} did not answer in time ({1}). That limit is the network’s own; no setting of Towpath changes it.',
      name,
      text,
    );
    return new LLMError('LLM_TIMEOUT', message, { retryable: true });
  }
  if (unreadableHeaders.test(code)) {
    return new LLMError('LLM_HTTP_ERROR', sentence('The answer of {0} cannot be read ({1}).', name, text), {
      details: { reason: code },
    });
  }
  if (isProxyLogin(error)) {
    const message = sentence(
      "{0} answered 407: a proxy on the way requires a login. Check the editor's setting http.proxy.",
      name,
    );
    return new LLMError('LLM_HTTP_ERROR', message, { reason: 'unreachable', details: { reason: code, status: 407 } });
  }
  if (code === 'UND_ERR_SOCKET' && inEnglish(text).includes('bad response')) {
    const message = sentence(
      '{0} sent “100 Continue”, which was not requested, so that its answer cannot be read. Check the server or the proxy on the way.',
      name,
    );
    return new LLMError('LLM_HTTP_ERROR', message, { details: { reason: code } });
  }
  const proxy = proxyRefusal.exec(inEnglish(text))?.[1];
  if (proxy !== undefined) {
    const message = sentence(
      "The proxy on the way to {0} refused the connection ({1}). Check the editor's setting http.proxy and the proxy's password.",
      name,
      proxy,
    );
    const details = { reason: code, status: Number(proxy) };
    return new LLMError('LLM_HTTP_ERROR', message, { reason: 'unreachable', details });
  }
  const message =
    code === 'ECONNREFUSED' && /^localhost(?::|$)/.test(endpoint.host)
      ? sentence(
          '{0} cannot be reached ({1}). Check that the server runs; if it listens on ::1 only, use [::1] instead of localhost in its address.',
          name,
          text,
        )
      : sentence('{0} cannot be reached ({1}). Check the address, the network, and that the server runs.', name, text);
  return new LLMError('LLM_HTTP_ERROR', message, { reason: 'unreachable', retryable: true, details: { reason: code } });
}

/** The connection failed in the middle of an answer. */
export function interruptedError(endpoint: Endpoint, error: unknown): LLMError {
  const { code, text } = reasonOf(endpoint, error);
  const name = nameOf(endpoint);
  if (badCompression.test(code) || badCompression.test(inEnglish(text))) {
    return new LLMError('LLM_BAD_RESPONSE', sentence('The answer of {0} is damaged ({1}).', name, text), {
      details: { reason: code },
    });
  }
  if (timeLimits.test(code)) {
    const message = sentence(
      '{0} fell silent ({1}). That limit is the network’s own; no setting of Towpath changes it.',
      name,
      text,
    );
    return new LLMError('LLM_TIMEOUT', message, { retryable: true });
  }
  return new LLMError('LLM_INCOMPLETE', sentence('The answer of {0} broke off ({1}).', name, text), {
    retryable: true,
  });
}

/** Fetch (undici) has an error without any text for a 407 that came over plain http, and for nothing else before an answer. */
function isProxyLogin(error: unknown): boolean {
  const { innermost, code } = innermostOf(error);
  return innermost instanceof Error && innermost.name === 'Error' && innermost.message === '' && code === '';
}

/** Fetch says "fetch failed" or "terminated"; the reason is the innermost cause. */
function innermostOf(error: unknown): { innermost: unknown; code: string } {
  let innermost = error;
  let code = '';
  for (let depth = 0; depth < 5 && innermost instanceof Error; depth++) {
    if ('code' in innermost && typeof innermost.code === 'string') code = innermost.code;
    const cause: unknown = innermost instanceof AggregateError ? innermost.errors[0] : innermost.cause;
    if (!(cause instanceof Error)) break;
    innermost = cause;
  }
  return { innermost, code };
}

function reasonOf(endpoint: Endpoint, error: unknown): { code: string; text: Words } {
  const { innermost, code: named } = innermostOf(error);
  const text = innermost instanceof Error ? innermost.message || innermost.name : String(innermost);
  const code = named === '' ? (/net::(ERR_\w+)/.exec(text)?.[1] ?? '') : named;
  const words = redact(text, endpoint.secrets).slice(0, 300);
  return { code, text: code === '' || words.includes(code) ? words : `${code}: ${words}` };
}
