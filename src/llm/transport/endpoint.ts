import { message } from '../../protocol/text/l10n.ts';
import { withMessageLinks } from '../../protocol/text/links.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { LLMError } from '../core/errors.ts';
import { isCredentialHeader } from '../core/headers.ts';
import { providerLabel } from '../models/providers.ts';
import type { FetchLimits } from './http.ts';
import type { Endpoint } from './providerErrors.ts';

interface EndpointOptions {
  label: string;
  baseUrl: string;
  apiKey?: string;
  headers?: Record<string, string>;
  secrets?: readonly string[];
  notFoundHint?: LocalizableText;
}

export interface LLMClientOptions extends EndpointOptions {
  onNote?(note: string): void;
  fetchLimits?: Partial<FetchLimits>;
}

export function toEndpoint(options: EndpointOptions): Endpoint {
  const { label, baseUrl, apiKey, headers = {}, secrets: apart = [], notFoundHint } = options;
  const key = apiKey?.trim() ?? '';
  const likely = Object.entries(headers).filter(([name, value]) => isCredentialHeader(name, value));
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

/** Throws for a key that is invalid in a header: fetch would reject the key and quote it in its message. */
export function checkApiKeyCharacters(endpoint: Endpoint): void {
  if (endpoint.secrets.every((secret) => /^[\x20-\x7e]+$/.test(secret))) return;
  const text = withMessageLinks(
    message('The API key for {0} contains invalid characters. Run *Towpath: Set API Key*.', providerLabel(endpoint)),
    { commands: ['towpath.setKey'] },
  );
  throw new LLMError('LLM_AUTH_FAILED', text);
}

/**
 * Creates a function that builds URLs below a base URL entered by the user: with trailing slashes, a query, or the end of a full URL
 * (`/chat/completions`), which is removed.
 */
export function createUrlBuilder(baseUrl: string, end: RegExp): (path: string) => string {
  const [, address = '', query] = /^([^?#]*)(?:\?([^#]*))?/.exec(baseUrl.trim())!;
  const base = address.replace(/\/+$/, '').replace(end, '');
  return (path) => `${base}${path}${query ? `${path.includes('?') ? '&' : '?'}${query}` : ''}`;
}
