import assert from 'node:assert/strict';
import { escapeSystemTags } from '../../../src/llm/messages/systemTags.ts';
import type { Message } from '../../../src/protocol/content/messages.ts';
import { ask, chatTemplates, missing, takesPlain, words } from '../../support/chatTemplates.ts';
import { sentRequests } from '../../support/sent.ts';

// What the tests before this one have asked of models, as the chat templates of real models read it.

/** What the person, a brief, a note or the system prompt says in a request. */
const said = (messages: readonly Message[], systemPrompt = '') => [
  systemPrompt,
  ...messages.flatMap(({ role, content }) => (role === 'user' || role === 'system' ? [escapeSystemTags(content)] : [])),
];

const requests = sentRequests();

describe(`what ${requests.length} kinds of requests of the tests say`, function () {
  this.timeout(300_000);

  it('is all in their bodies, and nothing but the first message is the system’s', () => {
    assert.ok(requests.length > 0, 'run the other parts first');
    const nothing = { name: 'none', render: () => '' };
    for (const [name, request] of requests) {
      const { body } = ask(nothing, request);
      assert.deepEqual(missing(said(request.messages, request.systemPrompt), words(body).join('\n')), [], name);
      assert.ok(
        body.messages.slice(1).every(({ role }) => role !== 'system'),
        name,
      );
    }
  });

  for (const template of chatTemplates())
    it(`is read by ${template.name}, where it takes a plain conversation`, () => {
      for (const [name, request] of requests) {
        if (!takesPlain(template, request)) continue;
        const { body, text } = ask(template, request);
        assert.deepEqual(missing(words(body), text), [], name);
      }
    });
});
