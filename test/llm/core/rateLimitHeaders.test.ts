import assert from 'node:assert/strict';
import { retryAfterOf } from '../../../src/llm/core/rateLimitHeaders.ts';

describe('The wait that a provider requests', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const asked: [headers: Record<string, string>, ms: number | undefined][] = [
    [{}, undefined],
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' }, 7000],
    [{ 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, undefined],
    [{ 'retry-after': '-1' }, undefined],
    [{ 'retry-after': '0' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '1e999' }, undefined],
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
    [{ 'retry-after-ms': '0', 'retry-after': '1' }, 1000],
    [{ 'retry-after-ms': 'x', 'retry-after': '1' }, 1000],
  ];
  for (const [headers, ms] of asked) {
    it(JSON.stringify(headers), () => assert.equal(retryAfterOf(new Headers(headers), now), ms));
  }
});
