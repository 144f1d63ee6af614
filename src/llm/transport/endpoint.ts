import { message } from '../../protocol/text/l10n.ts';
import { linked } from '../../protocol/text/links.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { LLMError } from '../core/errors.ts';
import { isCredential } from '../core/headers.ts';
import { labelOf } from '../models/providers.ts';
import type { FetchLimits } from './http.ts';
import type { Endpoint } from './providerErrors.ts';

interface EndpointOptions {
  /** What people call it, in messages. */
  label: string;
  baseUrl: string;
  apiKey?: string;
  /** Sent with every request; those that look like credentials are kept out of every message too. */
  headers?: Record<string, string>;
  /** What of the headers was kept apart, as a secret. */
  secrets?: readonly string[];
  /** What to look at after a 404 or 405: a sentence. */
  notFoundHint?: LocalizableText;
}

/** What every client behind an address is made of. */
export interface ClientOptions extends EndpointOptions {
  /** What was asked for and is ignored, adapted or left out: a sentence, each told once. */
  onNote?(note: string): void;
  fetchLimits?: Partial<FetchLimits>;
}

export function toEndpoint(options: EndpointOptions): Endpoint {
  const { label, baseUrl, apiKey, headers = {}, secrets: apart = [], notFoundHint } = options;
  const key = apiKey?.trim() ?? '';
  const likely = Object.entries(headers).filter(([name, value]) => isCredential(name, value));
  const inHeaders = [...apart, ...likely.map(([, value]) => value)];
  const secrets = [key, ...inHeaders].filter((secret) => secret !== '');
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : 'no address';
  const both = message(key ? 'the API key or its headers' : 'its headers');
  const credentials = inHeaders.length === 0 ? undefined : both;
  return {
    label,
    host,
    secrets,
    hasKey: secrets.length > 0,
    ...(credentials && { credentials }),
    ...(notFoundHint && { notFoundHint }),
  };
}

/** Throws for a key that no header can carry: fetch would refuse it with the key in its message. */
export function checkKey(endpoint: Endpoint): void {
  if (endpoint.secrets.every((secret) => /^[\x20-\x7e]+$/.test(secret))) return;
  const text = linked(
    message('The API key for {0} contains invalid characters. Run *Towpath: Set API Key*.', labelOf(endpoint)),
    { commands: ['towpath.setKey'] },
  );
  throw new LLMError('LLM_AUTH_FAILED', text);
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
