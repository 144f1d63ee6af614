import assert from 'node:assert/strict';
import { toWireToolName } from '../../../../src/llm/core/wireToolNames.ts';
import { spacedJsonText, toTokenAutomaton } from '../../../../src/llm/local/demo/automaton.ts';
import { demoScript } from '../../../../src/llm/local/demo/demoScript.ts';
import { stripPlaceholderNulls } from '../../../../src/llm/local/host/stripNulls.ts';
import { failedToolOutcome, type ToolOutcome } from '../../../../src/protocol/content/tools.ts';
import { withNulls } from '../../../support/scripted.ts';
import { localModel, Talk, tools } from '../setup.ts';

describe('the demo model', () => {
  let model: Awaited<ReturnType<typeof localModel>>;
  before(async () => {
    model = await localModel(demoScript);
  });
  after(() => model.close());

  const file: ToolOutcome = {
    ok: true,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the sample file
    data: { path: 'src/greet.js', text: 'export function greet(name) {\n  return `Hello, ${name}!`;\n}\n' },
  };
  const written: ToolOutcome = { ok: true, data: { path: 'src/greet.js', added: 1, removed: 1 } };

  /** The conversation as lines; `outcomes` answer the calls in order, the words are those between the calls. */
  async function story(talk: Talk, text: string, outcomes: ToolOutcome[]): Promise<string[]> {
    const lines: string[] = [];
    await talk.ask(text);
    for (const outcome of [...outcomes, undefined]) {
      lines.push(talk.last.content);
      for (const call of talk.last.toolCalls) lines.push(`→ ${call.name} ${JSON.stringify(call.arguments)}`);
      if (outcome) await talk.answer(outcome).ask();
    }
    return lines;
  }

  const texts = demoScript.scenarios.map((scenario) => scenario.steps.map((step) => step.text!));
  const [[greeting, proposal, done], [denied], [absent], [failed]] = texts as [string[], string[], string[], string[]];
  const read = '→ fs.read {"path":"src/greet.js"}';
  const edit = `→ fs.edit ${JSON.stringify({
    path: 'src/greet.js',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the sample file
    edits: [{ oldText: 'return `Hello, ${name}!`;', newText: 'return `Hello, ${name}! Welcome aboard.`;' }],
  })}`;

  it('says what it is', () => assert.match(greeting!, /a demonstration with a script for weights, not an assistant/));

  const stories: [string, string, ToolOutcome[], (string | undefined)[]][] = [
    [
      'reads, proposes an edit, and closes',
      'Make it friendlier',
      [file, written],
      [greeting, read, proposal, edit, done],
    ],
    [
      'hears a no',
      '\n    indented\n\nand user\nmore',
      [file, failedToolOutcome('TOOL_DENIED', 'The person said no: not today')],
      [greeting, read, proposal, edit, denied],
    ],
    ['misses its file', 'hi', [failedToolOutcome('ENOENT', 'src/greet.js is not there')], [greeting, read, absent]],
    [
      'notices that the text was not found any more',
      '¿Qué tal? 🙂',
      [file, failedToolOutcome('E_PRECONDITION_FAILED', 'oldText is not in the file')],
      [greeting, read, proposal, edit, failed],
    ],
  ];
  for (const [what, text, outcomes, expected] of stories)
    it(what, async () => assert.deepEqual(await story(new Talk(model.client), text, outcomes), expected));

  it('plays it again at every message', async () => {
    const talk = new Talk(model.client);
    for (const [, text, outcomes, expected] of stories) assert.deepEqual(await story(talk, text, outcomes), expected);
  });

  it('plays it behind a long system prompt, at any temperature', async () => {
    const systemPrompt = 'Read before you write, and say what you did. '.repeat(400);
    const talk = new Talk(model.client, { systemPrompt, temperature: 1.2, topP: 1 });
    assert.deepEqual(await story(talk, 'hi', [file, written]), [greeting, read, proposal, edit, done]);
    assert.ok(talk.last.usage!.promptTokens > 4000);
  });

  it('writes its calls as the tools want them', () => {
    for (const step of demoScript.scenarios.flatMap((scenario) => scenario.steps))
      for (const call of step.calls ?? []) {
        const tool = tools.find((one) => toWireToolName(one.name) === call.name)!;
        const plain = stripPlaceholderNulls(call.args, tool.parameters);
        assert.equal(spacedJsonText(call.args), spacedJsonText(withNulls(plain, tool.parameters)));
      }
  });

  it('needs about a third of a token for a character of code', async () => {
    const text = toTokenAutomaton.toString();
    const counted = async (systemPrompt: string) => {
      const talk = new Talk(model.client, { systemPrompt, cacheKey: undefined, maxTokens: 1 });
      await talk.ask('hi');
      return talk.last.usage!.promptTokens;
    };
    const tokens = (await counted(text)) - (await counted(''));
    assert.ok(text.length / tokens > 2.5, `${text.length} characters, ${tokens} tokens`);
  });
});

describe('a script that contradicts itself', () => {
  it('has two places that begin alike', () =>
    assert.throws(
      () =>
        toTokenAutomaton({
          name: 'x',
          scenarios: [
            { on: 'one', steps: [{ calls: [{ name: 'fs_read', args: { path: 'a' } }] }] },
            { on: 'two', steps: [{ calls: [{ name: 'fs_read', args: { path: 'a' } }] }] },
          ],
        }),
      { message: 'Two places of the script begin with "{\\"path\\": \\"a\\"}".' },
    ));
  it('would need two next words', () =>
    assert.throws(
      () => toTokenAutomaton({ name: 'x', scenarios: [{ on: 'one', steps: [{ text: ' a b c d e f a b c x' }] }] }),
      { message: 'After " a b c" comes " d e f" or " x"?' },
    ));
});
