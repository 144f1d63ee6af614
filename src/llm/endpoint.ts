import { LLMError } from './errors.ts';
import type { FetchLimits } from './http.ts';
import type { Endpoint } from './providerErrors.ts';

export interface EndpointOptions {
  /** What people call it, in messages. */
  label: string;
  baseUrl: string;
  apiKey?: string;
  /** Sent with every request; those that look like credentials are kept out of every message too. */
  headers?: Record<string, string>;
  /** What to look at after a 404 or 405: a sentence. */
  notFoundHint?: string;
}

/** What every client behind an address is made of. */
export interface ClientOptions extends EndpointOptions {
  /** What was asked for and is ignored, adapted or left out: a sentence, each told once. */
  onNote?(note: string): void;
  fetchLimits?: Partial<FetchLimits>;
}

export function toEndpoint({ label, baseUrl, apiKey, headers = {}, notFoundHint }: EndpointOptions): Endpoint {
  const secretHeaders = Object.entries(headers).filter(([name]) => /auth|key|token|secret|cookie/i.test(name));
  const secrets = [apiKey?.trim() ?? '', ...secretHeaders.map(([, value]) => value)].filter((secret) => secret !== '');
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : 'no address';
  return { label, host, secrets, hasKey: secrets.length > 0, ...(notFoundHint && { notFoundHint }) };
}

/** Throws for a key that no header can carry: fetch would refuse it with the key in its message. */
export function checkKey({ label, secrets }: Endpoint): void {
  if (secrets.every((secret) => /^[\x20-\x7e]+$/.test(secret))) return;
  const message = `The API key for ${label} has characters that no key has. Run *Towpath: Set API Key*.`;
  throw new LLMError('LLM_AUTH_FAILED', message);
}

/**
 * The addresses below a base as people write it: with slashes or a query behind it, or with an end of a full address
 * (`/chat/completions`) that does not belong to it.
 */
export function addressesBelow(baseUrl: string, end: RegExp): (path: string) => string {
  const [, place = '', query] = /^([^?#]*)(?:\?([^#]*))?/.exec(baseUrl.trim())!;
  const base = place.replace(/\/+$/, '').replace(end, '');
  return (path) => `${base}${path}${query ? `${path.includes('?') ? '&' : '?'}${query}` : ''}`;
}
