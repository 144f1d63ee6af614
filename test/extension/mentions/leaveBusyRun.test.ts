import assert from 'node:assert/strict';
import { leaveBusyRun } from '../../../src/extension/mentions/leaveBusyRun.ts';
import { newRun, type Run } from '../../../src/protocol/run/run.ts';

interface Shown {
  run?: Partial<Run>;
  working?: boolean;
  isElsewhere?: boolean;
}

/** Tests if a message from the editor continues this run. */
async function isContinued({ run, working = false, isElsewhere = false }: Shown): Promise<boolean> {
  const opened: unknown[] = [];
  const conversation = {
    restored: Promise.resolve(),
    runId: 'one',
    working,
    run: async () => run && { ...newRun('one'), ...run },
    open: async (runId: string | undefined) => void opened.push(runId),
  };
  await leaveBusyRun({ conversation, store: { isElsewhere: async () => isElsewhere } });
  assert.ok(opened.every((runId) => runId === undefined));
  return opened.length === 0;
}

describe('a message from the editor', () => {
  it('continues a run at rest, also after an error', async () => {
    assert.ok(await isContinued({ run: {} }));
    assert.ok(await isContinued({ run: { phase: 'Failed', error: { code: 'LLM_AUTH', message: 'No key.' } } }));
  });

  it('begins a new run beside one at work, in another window, or that cannot be read', async () => {
    assert.ok(!(await isContinued({ run: {}, working: true })));
    assert.ok(!(await isContinued({ run: {}, isElsewhere: true })));
    assert.ok(!(await isContinued({})));
  });

  it('begins a new run beside one that waits for the user', async () => {
    const calls = { call: { proposed: {} } } as unknown as Run['calls'];
    const queued = [{ queued: 1, text: 'Next.', at: 0 }] as unknown as Run['queued'];
    for (const run of [{ calls }, { asking: ['call'] }, { held: ['call'] }, { queued }])
      assert.ok(!(await isContinued({ run })), Object.keys(run).join());
  });
});
