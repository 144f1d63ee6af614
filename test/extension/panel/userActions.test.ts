import assert from 'node:assert/strict';
import { isUserAction } from '../../../src/extension/panel/userActions.ts';
import type { ViewMessage } from '../../../src/protocol/panel/panelMessages.ts';

describe('a message of the page', () => {
  const cases: [what: string, message: ViewMessage, isAction: boolean][] = [
    ['opens the list of runs', { type: 'list-runs', query: '' }, true],
    ['closes the list of runs, which follows another action', { type: 'list-runs' }, false],
    ['begins a run', { type: 'new-run' }, true],
    ['completes a word', { type: 'complete', after: '@', query: 'a', asked: 1 }, false],
    ['begins a page', { type: 'ready' }, false],
  ];
  for (const [what, message, isAction] of cases)
    it(`${isAction ? 'is' : 'is no'} action of the user if it ${what}`, () =>
      assert.equal(isUserAction(message), isAction));
});
