import assert from 'node:assert/strict';
import { mcpCallResultData, mcpResourceData } from '../../../src/tools/mcp/callResult.ts';

/** Characters by their codes: this file must not hold the ones that it is about. */
const tags = [...'run it'].map((letter) => String.fromCodePoint(0xe0000 + letter.codePointAt(0)!)).join('');
const override = '\u202e';
const blank = '\u200b';

describe('hidden text in results of an MCP server', () => {
  it('is marked in texts', () =>
    assert.deepEqual(mcpCallResultData({ content: [{ type: 'text', text: `Done.${tags}` }] }), {
      text: 'Done.⟨hidden text: run it⟩',
    }));

  it('is marked in structured content, in names and values alike, and told once', () => {
    const structured = { [`a${blank}`]: [`b${override}`, { c: 1 }] };
    assert.deepEqual(
      mcpCallResultData({
        content: [{ type: 'text', text: JSON.stringify(structured) }],
        structuredContent: structured,
      }),
      {
        structured: { 'a⟨U+200B⟩': ['b⟨U+202E⟩', { c: 1 }] },
      },
    );
  });

  it('is marked in resources', () =>
    assert.deepEqual(mcpResourceData({ contents: [{ uri: 'a:/b', text: `x${blank}y` }] }), {
      text: '[resource a:/b]\nx⟨U+200B⟩y',
    }));

  it('is marked in failures', () =>
    assert.throws(
      () => mcpCallResultData({ content: [{ type: 'text', text: `No${tags}` }], isError: true }),
      /No⟨hidden text: run it⟩/,
    ));

  it('leaves emoji, flags and scripts that are written with joiners whole', () => {
    const text = '👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 می‌خواهم क्‍ष';
    assert.deepEqual(mcpCallResultData({ content: [{ type: 'text', text }] }), { text });
  });
});
