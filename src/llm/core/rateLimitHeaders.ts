export interface RateLimitStatus {
  remaining?: number;
  resetMs?: number;
}

export interface RateLimitReport {
  requests?: RateLimitStatus;
  tokens?: RateLimitStatus;
}

/**
 * Parses `x-ratelimit-remaining-requests`, `x-ratelimit-reset-tokens` … (OpenAI, Groq, Azure, xAI), per-minute variants (Mistral, Cerebras)
 * and `anthropic-ratelimit-…`. Returns undefined without any of these headers.
 */
export function parseRateLimitHeaders(headers: Headers, now: number): RateLimitReport | undefined {
  const requests = newsOf(headers, 'requests', now);
  const tokens = newsOf(headers, 'tokens', now);
  return requests || tokens ? { ...(requests && { requests }), ...(tokens && { tokens }) } : undefined;
}

function newsOf(headers: Headers, what: 'requests' | 'tokens', now: number): RateLimitStatus | undefined {
  const one = (part: 'remaining' | 'reset') => {
    const mistral = what === 'requests' ? 'req' : what;
    const names = [`x-ratelimit-${part}-${what}`, `x-ratelimit-${part}-${what}-minute`];
    const known = [...names, `x-ratelimit-${part}-${mistral}-minute`, `anthropic-ratelimit-${what}-${part}`];
    return known.map((name) => headers.get(name)).find((value) => value !== null);
  };
  const text = one('remaining')?.trim();
  const remaining = text ? Number(text) : Number.NaN;
  const resetMs = durationOf(one('reset')?.trim() ?? '', now);
  const known = Number.isFinite(remaining) && remaining >= 0;
  if (!known && resetMs === undefined) return undefined;
  return { ...(known && { remaining }), ...(resetMs !== undefined && { resetMs }) };
}

const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses `6m0s`, `7.66s`, `20ms` (OpenAI, Groq), plain seconds (others) or a date (Anthropic) to milliseconds from now. */
function durationOf(text: string, now: number): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (/^(\d+(\.\d+)?(ms|[smhd]))+$/.test(text)) {
    const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g);
    return [...parts].reduce((sum, [, count, unit]) => sum + Number(count) * units[unit!]!, 0);
  }
  const date = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/**
 * Parses the requested wait in milliseconds: `retry-after-ms` (OpenAI, Azure), else `Retry-After` in seconds or as a date relative to the
 * server's `Date` (RFC 9110, 10.2.3). Invalid, zero and past values return undefined, and our own back-off applies.
 */
export function retryAfterOf(headers: Headers, now: number): number | undefined {
  const inMs = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (inMs > 0 && Number.isFinite(inMs)) return inMs;
  const text = headers.get('retry-after')?.trim();
  if (!text) return undefined;
  const seconds = Number(text);
  const server = Date.parse(headers.get('date') ?? '');
  const ms = Number.isNaN(seconds) ? Date.parse(text) - (Number.isNaN(server) ? now : server) : seconds * 1000;
  return ms > 0 && Number.isFinite(ms) ? ms : undefined;
}
