import assert from 'node:assert/strict';
import type { ToolCall } from '../../src/protocol/content/messages.ts';
import { checkArguments } from '../../src/tools/core/checkArguments.ts';
import { ToolError } from '../../src/tools/core/tool.ts';
import { loadMcpSdk } from '../../src/tools/mcp/loadSdk.ts';
import { createArgumentsValidator } from '../../src/tools/mcp/schema.ts';
import { casesOf } from './cases.ts';
import { checkToolCase, type ToolCase } from './tool.ts';

/** Arguments for a tool with this JSON schema, and what they mean; `null`: they are refused, in a message that matches `says`. */
interface ArgumentsCase {
  schema: ToolCall['arguments'];
  given: ToolCall['arguments'];
  want: ToolCall['arguments'] | null;
  says?: string;
}

describe('outside: arguments with one meaning', () => {
  for (const { title, input } of casesOf<ToolCase>('tool').filter((one) => one.title.startsWith('arguments')))
    it(title, () => checkToolCase(input));

  for (const { title, input } of casesOf<ArgumentsCase>('arguments'))
    it(`${title}: ${JSON.stringify(input.given).slice(0, 90)}`, async () => {
      const { schema, given, want, says = '' } = input;
      const tool = {
        definition: { name: 'a.tool', description: '', parameters: schema },
        arguments: createArgumentsValidator(schema, await loadMcpSdk()),
      };
      const check = () => checkArguments({ id: 'c', name: 'a.tool', arguments: given }, tool);
      if (want !== null) return assert.deepEqual(check(), want);
      assert.throws(check, (error) => {
        assert.ok(error instanceof ToolError);
        assert.equal(error.code, 'TOOL_ARGS_INVALID');
        assert.match(error.message, new RegExp(says));
        assert.ok(error.message.length < 700, error.message);
        return true;
      });
    });
});
