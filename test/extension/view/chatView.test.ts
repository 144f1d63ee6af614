import assert from 'node:assert/strict';
import type * as vscode from 'vscode';
import type { ChatPage, ChatPageContainer, PageListener } from '../../../src/extension/view/chatPage.ts';
import { ChatView } from '../../../src/extension/view/chatView.ts';
import type { HostMessage } from '../../../src/protocol/panel/panelMessages.ts';
import { eventually } from '../../support/eventually.ts';

const mention: HostMessage = { type: 'mention', mentions: [{ kind: 'changes' }] };

describe('what a page of the chat is told', () => {
  let told: { type: string }[];
  let listener: PageListener;
  let view: ChatView;
  let visible: boolean;
  /** Answers where the keys are; a busy page does not. */
  let isSilent: boolean;
  const place: ChatPageContainer = {
    get visible() {
      return visible;
    },
    post: (message) => {
      told.push(message as { type: string });
      const { type, look } = message as { type: string; look: number };
      if (type === 'look' && !isSilent) listener.received({ type: 'here', look, idleMs: 0, focused: true }, place);
    },
    reveal: () => turn(true),
  };
  const turn = (now: boolean) => {
    visible = now;
    listener.turned();
  };
  const drawn = () => listener.received({ type: 'ready' }, place);
  const mentions = () => told.filter(({ type }) => type === 'mention');

  beforeEach(() => {
    told = [];
    visible = true;
    isSilent = false;
    const page: Partial<ChatPage> = {
      locations: [place],
      use: () => {},
      reveal: async () => turn(true),
      listen: (one) => {
        listener = one;
      },
    };
    const log = { warn: (words: string) => assert.fail(words) } as Partial<vscode.LogOutputChannel>;
    view = new ChatView(page as ChatPage, log as vscode.LogOutputChannel);
    view.listen({ receive: () => {}, turned: () => {} });
    drawn();
  });

  it('it is told at once where it is on the screen', async () => {
    await view.give(mention);
    assert.deepEqual(mentions(), [mention]);
  });

  it('one that comes back is another page, and is told once that is drawn', async () => {
    turn(false);
    const given = view.give(mention);
    await eventually('it is on the screen', () => visible);
    assert.equal(view.inView, false);
    assert.deepEqual(mentions(), []);
    drawn();
    await given;
    assert.deepEqual(mentions(), [mention]);
  });

  it('the keys of one that comes back go to the message once that is drawn', async () => {
    turn(false);
    turn(true);
    const focused = view.focus();
    assert.deepEqual(told, []);
    drawn();
    await focused;
    assert.ok(told.some(({ type }) => type === 'focus'));
  });

  it('a busy one takes the keys only if its window still has them', async () => {
    isSilent = true;
    await view.focus();
    const focus = told.filter(({ type }) => type === 'focus');
    assert.deepEqual(focus, [{ type: 'focus', gently: true }]);
  });

  it('the keys stay where the user has moved them since', async () => {
    await view.focus({ wanted: () => false });
    assert.ok(!told.some(({ type }) => type === 'focus'));
  });

  it('who has not opened the view is not led there', async () => {
    turn(false);
    await view.focus();
    assert.deepEqual(told, []);
  });
});
