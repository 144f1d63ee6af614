import assert from 'node:assert/strict';
import { hasUnparsedTextToolCall } from '../../../src/llm/textCalls/unreadCalls.ts';
import { quotes } from './cases.ts';

const unread: string[] = [
  'I look.\n<tool_call>\n{"name": "no_such_tool", "arguments": {"path": "a"}}\n</tool_call>',
  '<tool_call>rm<arg_key>path</arg_key><arg_value>a</arg_value></tool_call>',
  'Now.<｜DSML｜tool_calls>\n<｜DSML｜invoke name="Bash">\n<｜DSML｜parameter name="command">ls</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
  '<|tool_call_begin|>functions.rm:0<|tool_call_argument_begin|>{}<|tool_call_end|>',
  '[TOOL_CALLS]rm[ARGS]{"path": "a"}',
  '<|channel|>commentary to=functions.rm<|message|>{}<|call|>',
  'Let me see.\n<tool_call>',
];
const text: string[] = [
  'Done.',
  'Use `<tool_call>`.',
  'A list: [1], [2], and a map {a}',
  '```xml\n<tool_call>\n{"name": "rm"}\n</tool_call>\n```',
  '<tool_call> is what Hermes models write before a call.',
  'See <https://example.com>',
  'Call `f(a)` or [read it](src/a.ts)',
  '| a | b |\n|---|---|\n| `<invoke name="x">` | c |',
];

describe('an answer that ends in a call which nobody can read', () => {
  for (const one of unread)
    it(`is noticed: ${JSON.stringify(one)}`, () => assert.equal(hasUnparsedTextToolCall(one), true));
  for (const one of text)
    it(`is none: ${JSON.stringify(one)}`, () => assert.equal(hasUnparsedTextToolCall(one), false));
  it('is rarely suspected where a call is quoted', () => {
    const suspected = quotes.filter((one) => hasUnparsedTextToolCall(one.text)).map(({ says }) => says);
    assert.deepEqual(
      suspected.filter((says) => !/unknown|only a mark|Llama’s Python|only begins well/.test(says)),
      [],
    );
  });
});
