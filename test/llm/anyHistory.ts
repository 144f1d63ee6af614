import fc from 'fast-check';
import type { Message } from '../../src/protocol/content/messages.ts';

const id = fc.constantFrom('a', 'b', 'call_0', 'x.y', 'abcdefghi', '', 'é');
const text = fc.constantFrom('', 'hi', ' ', 'x\ud800');
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const files = fc.array(
  fc.record({ mediaType: fc.constantFrom('image/png', 'text/plain', 'application/pdf'), data: fc.constant('aGk=') }),
  { maxLength: 2 },
);
const native = fc.record({
  provider: fc.constantFrom('google', 'anthropic', 'local', 'ollama', 'here', 'here-responses'),
  content: fc.oneof(
    fc.jsonValue(),
    fc.constantFrom<unknown>(
      { parts: [{ text: 't', thoughtSignature: 'S' }] },
      { parts: [{ functionCall: { name: 'fs_read', args: {} }, thoughtSignature: 'S' }] },
      [{ type: 'thinking', thinking: 't', signature: 's' }, { type: 'tool_use' }],
      [
        { type: 'thinking', thinking: 't', signature: 's' },
        { type: 'text', length: 2 },
      ],
      [{ type: 'text', length: -1 }],
      { spoken: ['a', { type: 'segment', text: 't' }], calls: [{ id: 'a', raw: [1] }] },
      { thinkingField: 'reasoning', details: [{ type: 'x' }] },
      [{ type: 'reasoning', item: { type: 'reasoning', encrypted_content: 'g' } }, { type: 'function_call' }],
      [
        { type: 'message', length: 2, phase: 'commentary' },
        { type: 'reasoning', item: { type: 'reasoning', encrypted_content: 'g' } },
      ],
      [{ type: 'reasoning', item: [] }],
    ),
  ),
});
const call = fc.record({ id, name: fc.constantFrom('fs.read', 'fs_read', '', 'we ird'), arguments: fc.constant({}) });
const result = fc.record({
  toolCallId: id,
  content: fc.constantFrom('{"ok":true}', 'plain', ''),
  attachments: maybe(files),
});
/** Any message: as damage, other programs and a change of model make them. */
export const anyMessage = fc.oneof(
  fc.record({ role: fc.constant('system'), content: text }),
  fc.record({ role: fc.constant('user'), content: text, attachments: maybe(files) }),
  fc.record({
    role: fc.constant('assistant'),
    content: text,
    thinking: maybe(text),
    toolCalls: maybe(fc.array(call, { maxLength: 3 })),
    native: maybe(native),
  }),
  fc.record({ role: fc.constant('tool'), content: fc.constant(''), toolResults: fc.array(result, { maxLength: 3 }) }),
) as fc.Arbitrary<Message>;
