import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { completedWalkthroughStep, walkthroughSteps } from '../../../src/extension/panel/walkthroughProgress.ts';
import type { RunEvent, RunEventBody } from '../../../src/protocol/run/events.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const { contributes } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  contributes: {
    commands: { command: string }[];
    walkthroughs: {
      id: string;
      steps: { id: string; description: string; media: { markdown: string }; completionEvents: string[] }[];
    }[];
  };
};
const [walkthrough] = contributes.walkthroughs;

describe('The walkthrough', () => {
  it('has the steps that are told as done, in their order', () => {
    assert.deepEqual(
      walkthrough!.steps.map(({ id }) => id),
      walkthroughSteps,
    );
    for (const { id, completionEvents } of walkthrough!.steps)
      assert.deepEqual(completionEvents, [`onContext:towpath.did.${id}`]);
  });

  for (const { id, description, media } of walkthrough!.steps)
    it(`${id} is done in place, by commands that there are, beside a page of the help`, () => {
      const links = [...description.matchAll(/\]\(command:([\w.]+)(?:\?([^)]*))?\)/g)];
      assert.ok(links.length > 0);
      for (const [, command, given] of links) {
        assert.ok(
          contributes.commands.some((one) => one.command === command),
          command,
        );
        if (given) assert.match(JSON.parse(decodeURIComponent(given))[0], /\w/);
      }
      assert.ok(existsSync(path.join(root, media.markdown)));
    });

  const done = (body: RunEventBody) => completedWalkthroughStep({ runId: 'r', seq: 1, at: 1, ...body } as RunEvent);

  it('hears of each by what happens in a run, wherever it was done', () => {
    const user = { role: 'user' as const, content: 'hi' };
    assert.equal(done({ type: 'message', message: user }), 'question');
    assert.equal(done({ type: 'message', message: { role: 'assistant', content: 'hi' } }), undefined);
    const approval = { type: 'approval' as const, toolCallId: 'a', decision: 'deny' as const, waitedMs: 1 };
    assert.equal(done(approval), 'answer');
    assert.equal(done({ ...approval, automatic: 'Reads are free.' }), undefined, 'nobody was asked');
    assert.equal(done({ type: 'undo', toolCallIds: ['a'], changes: [] }), 'undo');
    assert.equal(done({ type: 'phase', phase: 'Failed', error: { code: 'ENGINE_ABORTED', message: '' } }), 'stop');
    assert.equal(done({ type: 'phase', phase: 'WaitingUser' }), undefined);
  });
});
