import assert from 'node:assert/strict';
import type { RunEventBody } from '../../../src/protocol/run/events.ts';
import { openBrowser, type TestBrowser, type TestPage } from '../browser.ts';
import { begin, eventsOf, readyState, runOf } from '../conversation.ts';

const placeholder = 'What should it do instead? Enter on an empty box continues';

describe('The panel after a denial that holds the run', () => {
  let browser: TestBrowser;
  let test: TestPage;
  before(async () => {
    browser = await openBrowser();
    test = await browser.open('webview/main.ts');
  });
  after(() => browser.close());
  beforeEach(() => test.renew());
  afterEach(async () => assert.deepEqual(await test.violations(), []));

  const ids = ['a.ts', 'b.ts', 'c.ts'];
  const calls: RunEventBody = {
    type: 'message',
    message: {
      role: 'assistant',
      content: '',
      toolCalls: ids.map((id) => ({ id, name: 'fs.edit', arguments: { path: id, edits: [] } })),
    },
  };
  const denied = (toolCallId: string): RunEventBody => ({
    type: 'approval',
    toolCallId,
    decision: 'deny',
    waitedMs: 1,
    holds: true,
  });
  const rests: RunEventBody = { type: 'phase', phase: 'WaitingUser' };
  let told: RunEventBody[];
  const show = (...bodies: RunEventBody[]) => {
    told = [...begin, calls, ...bodies];
    return test.send({ type: 'state', state: readyState }, { type: 'run', run: runOf('run-1', told) });
  };
  const happens = (...bodies: RunEventBody[]) => {
    const events = eventsOf('run-1', [...told, ...bodies]).slice(told.length);
    told = [...told, ...bodies];
    return test.send({ type: 'events', events });
  };
  const words = (id: string) => test.page.locator(`[data-call="${id}"] .card-words`).innerText();
  const box = () => test.page.getByTestId('composer').locator('textarea');
  const asks = () => box().getAttribute('placeholder');
  const posted = async () => (await test.posted()).filter(({ type }) => type !== 'ready');
  const buttons = () => test.page.getByTestId('continue-held');

  it('the card and the message box ask what to do instead; Enter on an empty box and the button continue', async () => {
    await show(denied('a.ts'), rests);
    assert.deepEqual([await words('a.ts'), await asks()], [' · Denied · waiting for your instructions', placeholder]);
    assert.equal(await test.page.getByTestId('phase').count(), 0, 'the card has the way on');
    await box().press('Enter');
    await buttons().click();
    assert.deepEqual(await posted(), [{ type: 'continue' }, { type: 'continue' }]);
    await happens({ type: 'hold-end' });
    assert.deepEqual(
      [await words('a.ts'), (await asks()) === placeholder, await buttons().count()],
      [' · Denied', false, 0],
    );
    await box().press('Enter');
    assert.equal((await posted()).length, 2, 'an empty box sends nothing');
  });

  it('a message is feedback: the card says it', async () => {
    await show(denied('a.ts'), rests);
    await box().fill('use pnpm');
    await box().press('Enter');
    assert.deepEqual(await posted(), [{ type: 'send', text: 'use pnpm' }]);
    await happens({ type: 'message', message: { role: 'user', content: 'use pnpm' } });
    assert.equal(await words('a.ts'), ' · Denied: “use pnpm”');
    assert.notEqual(await asks(), placeholder);
  });

  it('several denials are one hold, with one button', async () => {
    await show();
    for (const id of ids) await happens(denied(id));
    assert.deepEqual([await buttons().count(), await asks()], [1, placeholder]);
    for (const id of ids) assert.equal(await words(id), ' · Denied · waiting for your instructions');
    assert.equal(await test.page.locator('[data-call="c.ts"]').getByTestId('continue-held').count(), 1);
  });

  it('a queued message ends it, and its removal brings it back', async () => {
    await show(denied('a.ts'));
    await happens({ type: 'queued', text: 'use pnpm' });
    assert.deepEqual([await words('a.ts'), await buttons().count()], [' · Denied', 0]);
    await happens({ type: 'queued-remove', queued: told.length });
    assert.deepEqual([await words('a.ts'), await buttons().count()], [' · Denied · waiting for your instructions', 1]);
    await happens({ type: 'queued', text: 'then the docs', when: 'done' });
    assert.equal(await buttons().count(), 1, 'a message for the end says nothing about the call');
  });

  it('a question of the model comes first', async () => {
    const question: RunEventBody = {
      type: 'ask',
      toolCallId: 'b.ts',
      questions: [{ question: 'Which?', answers: [{ label: 'One' }, { label: 'Two' }] }],
    };
    await show(denied('a.ts'), question);
    assert.equal(await asks(), 'A number (1 to 2), or your own answer');
    await box().press('Enter');
    assert.deepEqual(await posted(), []);
  });
});
