import assert from 'node:assert/strict';
import { ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import fc from 'fast-check';
import { listedToolSchema } from '../../../../src/tools/mcp/forms/toolSchema.ts';
import { hashServerTool } from '../../../../src/tools/mcp/serverText.ts';

// Stored approvals are hashes of tools as the SDK of 2025 parsed them.
describe('MCP: the form of a tool that approvals are bound to', () => {
  /** Mostly what fits, sometimes what does not. */
  const mostly = <Fits>(fits: fc.Arbitrary<Fits>, ...odd: unknown[]) =>
    fc.oneof({ weight: 30, arbitrary: fits }, { weight: 1, arbitrary: fc.constantFrom(null, ...odd) });
  const text = mostly(fc.string(), 7);
  const hint = mostly(fc.boolean(), 'true');
  const property = mostly(fc.object({ maxDepth: 2 }), [], ['x'], true);
  const schema = fc.record(
    {
      type: mostly(fc.constant('object'), 'array'),
      properties: mostly(fc.dictionary(fc.string({ maxLength: 5 }), property, { maxKeys: 4 }), true),
      required: mostly(fc.array(fc.string()), 'x'),
      additionalProperties: fc.constantFrom(true, false, null),
      $defs: fc.object({ maxDepth: 2 }),
    },
    { requiredKeys: ['type'] },
  );
  const annotations = fc.record(
    { title: text, readOnlyHint: hint, destructiveHint: hint, idempotentHint: hint, openWorldHint: hint, other: hint },
    { requiredKeys: [] },
  );
  const icon = fc.record(
    { src: text, theme: mostly(fc.constantFrom('light', 'dark'), 'blue') },
    { requiredKeys: ['src'] },
  );
  const execution = fc.record({ taskSupport: mostly(fc.constantFrom('optional', 'forbidden'), 'never') });
  const tool = fc.record(
    {
      name: text,
      title: text,
      description: text,
      inputSchema: schema,
      outputSchema: schema,
      annotations: mostly(annotations, true),
      icons: mostly(fc.array(icon)),
      execution: mostly(execution),
      _meta: mostly(fc.object({ maxDepth: 1 })),
    },
    { requiredKeys: ['name', 'inputSchema'] },
  );

  it('accepts what was accepted, with the same hash', () => {
    let accepted = 0;
    fc.assert(
      fc.property(tool, (generated) => {
        const given = JSON.parse(JSON.stringify(generated));
        const before = ToolSchema.safeParse(given);
        const now = listedToolSchema.safeParse(given);
        assert.equal(now.success, before.success);
        if (!before.success || !now.success) return;
        accepted += 1;
        assert.deepEqual(now.data, before.data);
        assert.equal(hashServerTool(now.data), hashServerTool(before.data));
      }),
      { numRuns: 2000 },
    );
    assert.ok(accepted > 300 && accepted < 1900, `${accepted} were accepted`);
  });
});
