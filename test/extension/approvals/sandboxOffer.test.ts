import assert from 'node:assert/strict';
import { SandboxOffer } from '../../../src/extension/approvals/sandboxOffer.ts';
import type { RunEvent } from '../../../src/protocol/run/events.ts';
import { message } from '../../../src/protocol/text/l10n.ts';
import type { SandboxAvailability } from '../../../src/tools/core/commandSandbox.ts';

type Approval = Extract<RunEvent, { type: 'approval' }>;

const approval = (more: Partial<Approval> = {}): RunEvent =>
  ({
    ...{ runId: 'run-1', seq: 1, at: 1, type: 'approval', toolCallId: 'a', name: 'shell.run' },
    ...{ decision: 'allow', waitedMs: 1, ...more },
  }) as Approval;

/** A user whose windows have the same memory. `shown` has an entry per offer, dialog and write. */
function user() {
  const stored: Record<string, unknown> = {};
  const state = {
    isWanted: true,
    inView: true,
    found: { isAvailable: true, program: 'bubblewrap 0.8' } as SandboxAvailability,
    answer: undefined as 'use' | 'never' | undefined,
    shown: [] as string[],
  };
  const openWindow = () => {
    const offer = new SandboxOffer({
      isWanted: () => state.isWanted,
      panelInView: () => state.inView,
      probe: async () => state.found,
      memory: { get: (name) => stored[name], update: (name, value) => (stored[name] = value) },
      show: async () => {
        state.shown.push('offer');
        return state.answer;
      },
      confirm: async () => {
        state.shown.push('dialog');
      },
    });
    return async (count: number, more?: Partial<Approval>) => {
      for (let at = 0; at < count; at++) await offer.onEvent(approval(more));
    };
  };
  return { state, openWindow };
}

// Holds panel-decides-nothing.
describe('The offer of the sandbox', () => {
  it('comes after the third command that the user allowed, once per window', async () => {
    const { state, openWindow } = user();
    const allow = openWindow();
    await allow(2);
    assert.deepEqual(state.shown, []);
    await allow(1, { decision: 'allow-run' });
    assert.deepEqual(state.shown, ['offer']);
    await allow(6);
    assert.deepEqual(state.shown, ['offer']);
  });

  it('does not come for a preview', async () => {
    const { state, openWindow } = user();
    state.found = { isAvailable: true, program: 'sandbox-exec', isPreview: true };
    await openWindow()(6);
    assert.deepEqual(state.shown, []);
  });

  it('does not count denials, automatic decisions and other tools', async () => {
    const { state, openWindow } = user();
    const allow = openWindow();
    await allow(3, { decision: 'deny' });
    await allow(3, { automatic: 'Auto-approved: read-only command.' });
    await allow(3, { name: 'fs.edit' });
    assert.deepEqual(state.shown, []);
  });

  it('comes again after three commands of a later window, unless declined for good', async () => {
    const { state, openWindow } = user();
    await openWindow()(3);
    const later = openWindow();
    await later(2);
    assert.deepEqual(state.shown, ['offer']);
    state.answer = 'never';
    await later(1);
    assert.deepEqual(state.shown, ['offer', 'offer']);
    await openWindow()(5);
    assert.deepEqual(state.shown, ['offer', 'offer']);
  });

  it('only opens a dialog', async () => {
    const { state, openWindow } = user();
    state.answer = 'use';
    await openWindow()(3);
    assert.deepEqual(state.shown, ['offer', 'dialog']);
  });

  it('waits until the panel is in view', async () => {
    const { state, openWindow } = user();
    const allow = openWindow();
    state.inView = false;
    await allow(4);
    assert.deepEqual(state.shown, []);
    state.inView = true;
    await allow(1);
    assert.deepEqual(state.shown, ['offer']);
  });

  it('does not come with the preset or a wider one, without trust, or without a sandbox', async () => {
    const unwanted = user();
    unwanted.state.isWanted = false;
    await unwanted.openWindow()(5);
    const missing = user();
    missing.state.found = { isAvailable: false, reason: message('bubblewrap is not installed') };
    await missing.openWindow()(5);
    assert.deepEqual([unwanted.state.shown, missing.state.shown], [[], []]);
  });
});
