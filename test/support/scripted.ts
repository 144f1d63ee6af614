import { toWireToolName } from '../../src/llm/core/wireToolNames.ts';
import {
  type DemoAutomatonScript,
  type DemoScriptStep,
  type ScriptedCall,
  userMessageMarker,
} from '../../src/llm/local/demo/automaton.ts';
import type { JsonSchema, ToolDefinition } from '../../src/protocol/content/tools.ts';

/**
 * The scripted model of the tests: what it plays is chosen by a word in the newest message. Any message: `hello`.
 * A call's arguments are given as a person would write them; `testScript` fills in what the grammar demands.
 */
export const said = {
  hello: 'Hello from the scripted model.',
  read: 'I will read the file first.',
  edit: 'I will make the greeting warmer.',
  edited: 'The greeting is warmer now.',
  shell: 'I will run a command.',
  ran: 'The command has ended.',
  parallel: 'Two things at once.',
  both: 'Both results arrived.',
  written: 'The file is there.',
  inOrder: 'Written, then read.',
  twice: 'Two files to write.',
  bothWritten: 'There are two files more.',
  needed: 'A file is needed to answer this properly, so read it.',
  moved: 'It is somewhere else now.',
  thought: 'The question is deep, so think about it before answering anything at all.',
  answer: 'After thinking, the answer is 42.',
  denied: 'Understood, you said no, so it stays as it was.',
  failed: 'That failed, and the result says why.',
  opened: 'That file could be read.',
  mend: 'I will mend my call.',
};

const greet = 'src/greet.js';
export const badArguments = '{"path": "README.md", "offset": 1e999, "limit": null}';

export const stories: Record<string, readonly DemoScriptStep[]> = {
  [userMessageMarker]: [{ text: said.hello }],
  '[[edit]]': [
    { text: said.read, calls: [call('fs.read', { path: greet })] },
    {
      text: said.edit,
      calls: [
        call('fs.edit', {
          path: greet,
          // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the sample file
          edits: [{ oldText: 'return `Hello, ${name}!`;', newText: 'return `Hello, ${name}! Welcome aboard.`;' }],
        }),
      ],
    },
    { text: said.edited },
  ],
  '[[shell]]': [{ text: said.shell, calls: [call('shell.run', { command: 'node --version' })] }, { text: said.ran }],
  '[[crlf]]': [
    {
      calls: [
        call('fs.edit', {
          path: 'windows.txt',
          edits: [
            { oldText: 'one\ntwo', newText: 'one\nand a half\ntwo' },
            { oldText: 'three', newText: 'last' },
          ],
        }),
      ],
    },
    { text: said.written },
  ],
  '[[move]]': [{ calls: [call('fs.move', { from: greet, to: 'src/hello/greet.js' })] }, { text: said.moved }],
  '[[locked]]': [
    { calls: [call('fs.edit', { path: 'locked.txt', edits: [{ oldText: 'old', newText: 'new' }] })] },
    { text: said.written },
  ],
  '[[sleep]]': [
    { text: said.shell, calls: [call('shell.run', { command: 'node -e "setTimeout(Object, 60000)"' })] },
    { text: said.ran },
  ],
  '[[parallel]]': [
    {
      text: said.parallel,
      calls: [
        call('fs.read', { path: 'README.md' }),
        call('fs.write', { path: 'notes/parallel.md', content: 'Written beside a read.\n' }),
      ],
    },
    { text: said.both },
  ],
  // A call without a word before it.
  '[[write]]': [
    { calls: [call('fs.write', { path: 'notes/today.md', content: 'Pulled all day.\n' })] },
    { text: said.written },
  ],
  // What changes something comes before what only reads.
  '[[order]]': [
    {
      calls: [
        call('fs.write', { path: 'notes/first.md', content: 'Written first.\n' }),
        call('fs.read', { path: 'notes/first.md' }),
      ],
    },
    { text: said.inOrder },
  ],
  '[[twice]]': [
    {
      text: said.twice,
      calls: [
        call('fs.write', { path: 'notes/one.md', content: 'One.\n' }),
        call('fs.write', { path: 'notes/two.md', content: 'Two.\n' }),
      ],
    },
    { text: said.bothWritten },
  ],
  // Reading what usually holds secrets is asked about.
  '[[thinkcall]]': [{ think: said.needed, calls: [call('fs.read', { path: '.env' })] }, { text: said.opened }],
  '[[escape]]': [{ calls: [call('fs.read', { path: '../../etc/passwd' })] }, { text: said.opened }],
  '[[absolute]]': [{ calls: [call('fs.read', { path: '/etc/passwd' })] }, { text: said.opened }],
  // `outside` is for a link that leads out of the workspace.
  '[[symlink]]': [{ calls: [call('fs.read', { path: 'outside/secret.txt' })] }, { text: said.opened }],
  '[[think]]': [{ think: said.thought, text: said.answer }],
  '[[long]]': [{ loop: ['tick ', 'tock ', 'tack ', ...Array.from({ length: 100 }, (_, at) => `tick${at + 1} `)] }], // too long for a repetition
  // Lets through what is no integer: JSON has no infinity.
  '[[bad]]': [{ text: said.read, calls: [{ name: 'fs.read', args: badArguments }] }, { text: said.mend }],
  '"ok": false': [{ text: said.failed }],
  '"ok": false, "error": {"code": "TOOL_DENIED"': [{ text: said.denied }],
};

/** The script for a model that is offered these tools, and no tool it calls may be missing. */
export function testScript(tools: readonly ToolDefinition[]): DemoAutomatonScript {
  const complete = ({ name, args }: ScriptedCall): ScriptedCall => {
    const tool = tools.find((one) => one.name === name);
    if (!tool) throw new Error(`There is no tool ${name}.`);
    return { name: toWireToolName(name), args: withNulls(args, tool.parameters) as ScriptedCall['args'] };
  };
  return {
    name: 'Test script',
    scenarios: Object.entries(stories).map(([on, steps]) => ({
      on,
      steps: steps.map((step) => (step.calls ? { ...step, calls: step.calls.map(complete) } : step)),
    })),
  };
}

/** All properties in the schema's order, null for those left out: what the call grammar accepts. */
export function withNulls(value: unknown, schema: JsonSchema): unknown {
  if (Array.isArray(value)) return value.map((item) => withNulls(item, schema.items ?? {}));
  if (typeof value !== 'object' || value === null || !schema.properties) return value;
  const given = value as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(schema.properties).map(([key, property]) => [key, withNulls(given[key] ?? null, property)]),
  );
}

function call(name: string, args: Record<string, unknown>): ScriptedCall {
  return { name, args };
}
