import assert from 'node:assert/strict';
import { type ChatStreamChunk, ReplyAccumulator } from '../../../src/llm/core/client.ts';
import { readTextToolCalls } from '../../../src/llm/textCalls/textCalls.ts';
import type { ToolDefinition } from '../../../src/protocol/content/tools.ts';
import { type ChatTemplate, chatTemplates } from '../../support/chatTemplates.ts';

const tools: ToolDefinition[] = [
  {
    name: 'fs.read',
    description: 'Reads.',
    parameters: { type: 'object', properties: { path: { type: 'string' }, from: { type: 'integer' } } },
  },
];
const given = { path: 'a "b" c.txt', from: 2 };

/** What a template writes for an answer with one call: what its model writes, and a server without a parser passes on. */
function written(template: ChatTemplate): string | undefined {
  const call = { id: 'call00001', type: 'function', function: { name: 'fs_read', arguments: JSON.stringify(given) } };
  const messages = [
    { role: 'user', content: 'USER-ASKS' },
    { role: 'assistant', content: '', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call00001', content: 'TOOL-RESULT' },
  ];
  const declared = tools.map(({ description, parameters }) => ({
    type: 'function',
    function: { name: 'fs_read', description, parameters },
  }));
  try {
    const text = template.render({ messages, tools: declared } as Parameters<ChatTemplate['render']>[0]);
    const between = text.slice(text.indexOf('USER-ASKS') + 'USER-ASKS'.length, text.indexOf('TOOL-RESULT'));
    // An interpreter that prints an object for the arguments cannot run the template.
    return between.includes('fs_read') && !between.includes('[object') ? between : undefined;
  } catch {
    return undefined; // it refuses such a conversation, or the interpreter cannot run it
  }
}

/** The role in front of an answer. */
const role =
  /^.*?(?:assistant(?:<\|end_header_id\|>|<\|end_of_role\|>|<\|im_middle\|>|<\|role_sep\|>|_start\|>|:)?|<\|assistant\|>|<｜Assistant｜>|<\|CHATBOT_TOKEN\|>|\[\/INST\]|\]~b\]ai|<assistant>|Assistant|name=assistant|<\|turn>model|message role="assistant"<\|sep\|>)\s*(?:<\|message_sep\|>\s*(?=function call))?/s;
/** What ends it; the results that follow are no part of it. */
const turnEnd =
  /<\|im_end\|>|<\|eo[tm]_id\|>|<\/s>|<\|end_of_text\|>|<｜end▁of▁sentence｜>|<\|END_OF_TURN|\[e~\[|<end_of_sentence>|<\|observation\|>|<\|tool_response>|<\/assistant>|<\|end_of_msg\|>|<SPECIAL_12>|<sep>|<\|eot\|>|<\|begin\|>tool|<turn\|>|\["?$|(?<=\})<\|message_sep\|>|<\|start\|>functions/;

describe('calls as the chat templates of real models write them', () => {
  it('are understood in every template that writes calls', async () => {
    const missed: string[] = [];
    let understood = 0;
    for (const template of chatTemplates()) {
      const between = written(template);
      if (between === undefined) continue;
      const start = between.replace(role, '');
      const end = start.search(turnEnd);
      const text = end === -1 ? start : start.slice(0, end);
      async function* stream(): AsyncGenerator<ChatStreamChunk> {
        yield { content: text, done: false };
        yield { done: true, finishReason: 'stop' };
      }
      const reply = new ReplyAccumulator();
      for await (const chunk of readTextToolCalls(stream(), tools)) reply.add(chunk);
      const calls = reply.toolCalls.map(({ name, arguments: got, malformed }) => ({ name, got, malformed }));
      try {
        assert.deepEqual(calls, [{ name: 'fs.read', got: given, malformed: undefined }]);
        understood += 1;
      } catch {
        missed.push(`${template.name}: ${JSON.stringify(text)}`);
      }
    }
    assert.deepEqual(missed, []);
    assert.ok(understood > 30, `${understood}`);
  });
});
