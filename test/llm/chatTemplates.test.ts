import assert from 'node:assert/strict';
import type { ChatRequest } from '../../src/llm/core/client.ts';
import type { Message } from '../../src/protocol/content/messages.ts';
import { builtinTools } from '../../src/tools/host/builtinTools.ts';
import { ask, type ChatTemplate, chatTemplates, missing, takesPlain, words } from '../support/chatTemplates.ts';

const system = (content: string): Message => ({ role: 'system', content });
const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string, ...ids: string[]): Message => ({
  role: 'assistant',
  content,
  ...(ids.length > 0 && { toolCalls: ids.map((id) => ({ id, name: 'fs.read', arguments: { path: `${id}.txt` } })) }),
});
const results = (...ids: string[]): Message => ({
  role: 'tool',
  content: '',
  toolResults: ids.map((toolCallId) => ({ toolCallId, content: '{"ok":true,"data":"one"}' })),
});

const conversations: [says: string, messages: Message[]][] = [
  ['a brief at the end', [user('A letter, please.'), system('NODE_BRIEF\n- nodeId: ask')]],
  ['a brief after a result', [user('Go.'), assistant('', 'a'), results('a'), system('NODE_BRIEF\n- nodeId: judge')]],
  ['a brief after two results', [user('Go.'), assistant('I look.', 'a', 'b'), results('a', 'b'), system('NODE_BRIEF')]],
  [
    'words said meanwhile',
    [user('Go.'), assistant('', 'a'), results('a'), user('Quick!'), assistant('', 'b'), results('b')],
  ],
  ['a note of an undo', [user('Go.'), assistant('Done.'), system('The person has undone it.'), user('Why?')]],
  ['an agent begun without words', [user(''), system('Look around.')]],
  ['an answer that broke off', [user('Go.'), assistant('I thi')]],
  ['an answer that broke off and went on', [user('Go.'), assistant('I thi'), assistant('nk so.'), user('And?')]],
  [
    'a summary in place of the beginning',
    [user('Go.'), user('Now this.'), user('(A summary)'), assistant('', 'a'), results('a')],
  ],
];

describe('the chat templates of real models', () => {
  let templates: ChatTemplate[];
  before(() => {
    templates = chatTemplates();
  });

  it('are there, and most of them take a plain conversation', () => {
    const request: ChatRequest = { model: 'm', systemPrompt: 'Be good.', messages: [user('Hello there.')] };
    assert.deepEqual([templates.length, templates.filter((one) => takesPlain(one, request)).length], [68, 59]);
  });

  for (const offered of [[], builtinTools().map(({ definition }) => definition)])
    for (const [says, messages] of conversations)
      it(`take ${says}${offered.length > 0 ? ', with tools' : ''}, and leave no word out`, () => {
        const request: ChatRequest = { model: 'm', systemPrompt: 'Be good.', messages, tools: offered };
        let taken = 0;
        for (const template of templates) {
          if (!takesPlain(template, request)) continue;
          const { body, text } = ask(template, request);
          assert.deepEqual(missing(words(body), text), [], template.name);
          taken++;
        }
        assert.ok(taken > 40, `${taken}`);
      });
});
