import assert from 'node:assert/strict';
import { shownHost } from '../../../src/protocol/values/shownHost.ts';

describe('the host that a command could not reach', () => {
  const cases: [host: string, port: number | undefined, shown: string][] = [
    ['registry.example', 443, 'registry.example'],
    ['registry.example', undefined, 'registry.example'],
    ['registry.example', 80, 'registry.example:80'],
    ['::1', 5432, '[::1]:5432'],
    ['::1', 443, '[::1]'],
  ];
  for (const [host, port, shown] of cases) it(shown, () => assert.equal(shownHost(host, port), shown));
});
