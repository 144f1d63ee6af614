import assert from 'node:assert/strict';
import { streamIntoInputBox } from '../../../src/extension/commit/messageBox.ts';
import { createAdapter } from '../../../src/llm/adapter/adapter.ts';
import { LLMError } from '../../../src/llm/core/errors.ts';
import { type ScriptedReply, scriptedClient } from '../../support/scriptedClient.ts';

/** A box as the editor has it: what is written into it is heard of, and a person can write there, too. */
function boxWith(text: string, onWrite: (value: string) => void = () => {}) {
  const written: string[] = [];
  let value = text;
  return {
    written,
    person: (typed: string) => {
      value = typed;
    },
    get value() {
      return value;
    },
    set value(now: string) {
      value = now;
      written.push(now);
      onWrite(now);
    },
  };
}

const long = 'Mend the lock of the gate\n\nIt had been broken since the spring, and the boats came through at night.';

function fill(box: { value: string }, replies: ScriptedReply[], stop = new AbortController()) {
  const client = scriptedClient(replies);
  const adapter = createAdapter(client, { retries: 1, baseDelayMs: 0, jitter: false });
  const request = { model: 'small', messages: [{ role: 'user' as const, content: 'changes' }] };
  const filled = streamIntoInputBox(
    box,
    (options) => adapter.complete(request, options),
    (answer) => answer.trim(),
    stop.signal,
  );
  return filled.then((filled) => ({ ...filled, asked: client.requests.length }));
}

describe('the box of a commit message', () => {
  it('fills while the answer comes, in few steps: each is one of the box’s history', async () => {
    const box = boxWith('a draft');
    assert.deepEqual(await fill(box, [{ text: long }]), { how: 'written', asked: 1 });
    assert.equal(box.value, long);
    assert.ok(box.written.length > 2 && box.written.length < 9, String(box.written.length));
    assert.ok(box.written.every((text) => text !== '' && long.startsWith(text)));
  });

  it('a short message comes at once', async () => {
    const box = boxWith('');
    await fill(box, [{ text: 'Mend it' }]);
    assert.deepEqual(box.written, ['Mend it']);
  });

  it('keeps what stands there while the model thinks, and takes another try when that breaks off', async () => {
    const box = boxWith('a draft');
    const broken = new LLMError('LLM_INCOMPLETE', 'It broke off.', { retryable: true });
    const replies = [{ thinking: 'Well, what changed there?', error: broken }, { text: 'Mend it' }];
    assert.deepEqual(await fill(box, replies), { how: 'written', asked: 2 });
    assert.deepEqual(box.written, ['Mend it']);
  });

  it('stopped in the middle, what stood there is back', async () => {
    const stop = new AbortController();
    const box = boxWith('a draft', (text) => text.length > 40 && stop.abort());
    assert.deepEqual(await fill(box, [{ text: long }], stop), { how: 'stopped', asked: 1 });
    assert.equal(box.value, 'a draft');
  });

  it('stopped before the first word, nothing was written', async () => {
    const stop = new AbortController();
    const box = boxWith('a draft');
    stop.abort();
    assert.equal((await fill(box, [{ text: long }], stop)).how, 'stopped');
    assert.deepEqual(box.written, []);
  });

  const failures: [what: string, reply: ScriptedReply, text: RegExp][] = [
    [
      'breaks off',
      { text: long, error: new LLMError('LLM_INCOMPLETE', 'It broke off.', { retryable: true }) },
      /broke off/,
    ],
    ['is empty', { thinking: 'Hm.', finishReason: 'length' }, /no message/],
    ['never ends', { text: long, endless: true }, /did not finish/],
  ];
  for (const [what, reply, text] of failures)
    it(`an answer that ${what} leaves what stood there, and says so`, async () => {
      const box = boxWith('a draft');
      const filled = await fill(box, [reply]);
      assert.ok(filled.how === 'failed' && text.test(filled.text), JSON.stringify(filled));
      assert.deepEqual([box.value, filled.asked], ['a draft', 1]);
    });

  it('an answer that is cut off stays, and is known to be', async () => {
    const box = boxWith('');
    assert.equal((await fill(box, [{ text: 'Mend the lock of', finishReason: 'length' }])).how, 'cut');
    assert.equal(box.value, 'Mend the lock of');
  });

  for (const typed of ['Mine', ''])
    it(`what the person writes meanwhile (“${typed}”) is theirs`, async () => {
      const box = boxWith('', (text) => text.length > 40 && queueMicrotask(() => box.person(typed)));
      assert.equal((await fill(box, [{ text: long }])).how, 'theirs');
      assert.equal(box.value, typed);
    });

  it('what the person writes after the last word is theirs', async () => {
    const box = boxWith('', (text) => text === long && box.person('Mine'));
    assert.equal((await fill(box, [{ text: long }])).how, 'theirs');
    assert.equal(box.value, 'Mine');
  });

  it('an echo of an earlier value, with other line ends, is not the person', async () => {
    const box = boxWith('', () => queueMicrotask(() => box.person(box.written.at(-1)!.replaceAll('\n', '\r\n'))));
    assert.equal((await fill(box, [{ text: long }])).how, 'written');
    assert.equal(box.written.at(-1), long);
  });
});
