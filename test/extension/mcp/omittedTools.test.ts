import assert from 'node:assert/strict';
import { omittedMcpItemMessages } from '../../../src/extension/mcp/omittedTools.ts';
import type { OmittedServerItems } from '../../../src/tools/mcp/server.ts';

describe('MCP Servers…: what is left out', () => {
  const cases: [leftOut: OmittedServerItems[], sentences: string[]][] = [
    [[], []],
    [[{ kind: 'tools', names: ['search', 'export'], of: 19 }], ['2 of 19 tools left out: invalid schema (search, export)']],
    [[{ kind: 'resources', names: ['a:b'], of: 1 }, { kind: 'prompts', names: ['#2'], of: 3 }], ['1 of 1 resources left out: invalid entry (a:b)', '1 of 3 prompts left out: invalid entry (#2)']],
    [[{ kind: 'tools', names: ['a', 'b', 'c', 'd', 'e', 'f', 'g'], of: 9 }], ['7 of 9 tools left out: invalid schema (a, b, c, d, e, and 2 more)']],
    [[{ kind: 'tools', names: [`a\n\u202e${'x'.repeat(100)}`], of: 2 }], [`1 of 2 tools left out: invalid schema (a ⏎ ⟨U+202E⟩${'x'.repeat(27)}…)`]],
  ]; // biome-ignore format: a table
  for (const [leftOut, sentences] of cases)
    it(`is named: ${sentences.join() || 'nothing'}`, () =>
      assert.deepEqual(omittedMcpItemMessages({ leftOut }), sentences));
});
