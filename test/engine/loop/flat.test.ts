import assert from 'node:assert/strict';
import { estimatedPromptTokens, promptMessages } from '../../../src/engine/context/promptMessages.ts';
import { conversationCallIds } from '../../../src/llm/core/callIds.ts';
import type { Message } from '../../../src/protocol/content/messages.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

describe('a turn costs the same, however long the run is', () => {
  let talk: Conversation;
  afterEach(() => talk.end());

  const looks = (usage: ScriptedReply['usage']): ScriptedReply[] =>
    Array.from({ length: 12 }, (_, at) => ({ calls: [call('fs.find', { pattern: `${at}` })], usage }));

  for (const [says, usage] of [
    ['where the provider counts tokens', undefined],
    ['where nobody does', null],
  ] as const)
    it(`for it looks at what is new alone, ${says}`, async () => {
      talk = new Conversation(await temporaryWorkspace({}), looks(usage));
      talk.contextWindow = 1_000_000;
      let looked = 0;
      const perRequest: number[] = [];
      const { chatStream } = talk.client;
      talk.model = {
        ...talk.client,
        chatStream: (request, signal) => {
          perRequest.push(looked);
          looked = 0;
          return chatStream({ ...request, messages: [] }, signal);
        },
      };
      talk.told = (event) => {
        if (event.type !== 'message') return;
        const messages = talk.engine.live(talk.runId)!.messages;
        messages.push(watched(messages.pop()!, () => looked++));
      };
      talk.maxTurns = 12;
      assert.equal((await talk.start()).error?.code, 'ENGINE_MAX_TURNS_EXCEEDED');
      const afterCalls = perRequest.slice(2);
      assert.ok(afterCalls[0]! > 0);
      assert.equal(new Set(afterCalls).size, 1, `${perRequest}`);
    });
});

/** The message, which tells when somebody looks at what it is. */
const watched = (message: Message, looked: () => void): Message =>
  new Proxy(message, {
    get(target, name, receiver) {
      if (name === 'role') looked();
      return Reflect.get(target, name, receiver);
    },
  });

describe('what was worked out of a conversation', () => {
  const said = (content: string): Message => ({ role: 'user', content });
  const asks = (id: string): Message => ({ role: 'assistant', content: '', toolCalls: [call('fs.list', {}, id)] });

  it('goes on with what was added', () => {
    const messages = [said('one')];
    const compactions: never[] = [];
    const [first, tokens] = [
      promptMessages({ messages, compactions }),
      estimatedPromptTokens({ messages, compactions }),
    ];
    messages.push({ role: 'assistant', content: '' }, asks('a'), said('two'));
    assert.deepEqual(promptMessages({ messages, compactions }), [said('one'), messages[2], said('two')]);
    assert.equal(
      estimatedPromptTokens({ messages, compactions }),
      estimatedPromptTokens({ messages: [...messages], compactions }),
    );
    assert.ok(estimatedPromptTokens({ messages, compactions }) > tokens);
    assert.deepEqual(first, [said('one')], 'what was given before stays as it was');
  });

  it('begins anew after a compaction, and before one that was only tried', () => {
    const messages = [said('task'), asks('a'), said('more'), asks('b')];
    const compactions: { upTo: number; summary?: string; at: number }[] = [];
    const whole = promptMessages({ messages, compactions });
    const tried = promptMessages({ messages, compactions: [{ upTo: 3, summary: 'Short.', at: 4 }] });
    assert.equal(tried.length, 4);
    assert.deepEqual(promptMessages({ messages, compactions }), whole);
    compactions.push({ upTo: 3, summary: 'Short.', at: 4 });
    assert.deepEqual(promptMessages({ messages, compactions }), tried);
    messages.push(said('and more'));
    assert.deepEqual(promptMessages({ messages, compactions }), [...tried, said('and more')]);
  });

  it('knows the ids of calls that came later', () => {
    const messages = [asks('a')];
    assert.deepEqual([...conversationCallIds(messages)], ['a']);
    messages.push(said('so'), asks('b'));
    assert.deepEqual([...conversationCallIds(messages)], ['a', 'b']);
  });
});
