import { inEnglish, sentence } from '../protocol/l10n.ts';
import { joined, type Words } from '../protocol/sentence.ts';
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
  const message = sentence(
    '{0} cannot be reached ({1}). Check the address, the network, and that the server runs.',
    name,
    text,
  );
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

/** Fetch's error for a 407 that came over plain http has not a word in it. */
const noWord = 'a proxy on the way may want a login';
const unnamed = ({ name }: Error): string => (name === 'Error' ? noWord : name);

/** Fetch says "fetch failed" or "terminated"; the reason is the innermost cause. */
function reasonOf(endpoint: Endpoint, error: unknown): { code: string; text: Words } {
  let innermost = error;
  let code = '';
  for (let depth = 0; depth < 5 && innermost instanceof Error; depth++) {
    if ('code' in innermost && typeof innermost.code === 'string') code = innermost.code;
    const cause: unknown = innermost instanceof AggregateError ? innermost.errors[0] : innermost.cause;
    if (!(cause instanceof Error)) break;
    innermost = cause;
  }
  const text = innermost instanceof Error ? innermost.message || unnamed(innermost) : String(innermost);
  if (code === '') code = /net::(ERR_\w+)/.exec(text)?.[1] ?? '';
  if (text === noWord) return { code, text: joined([...(code === '' ? [] : [code]), sentence(noWord)], ': ') };
  const words = redact(text, endpoint.secrets).slice(0, 300);
  return { code, text: code === '' || words.includes(code) ? words : `${code}: ${words}` };
}
