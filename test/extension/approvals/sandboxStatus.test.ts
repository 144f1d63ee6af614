import assert from 'node:assert/strict';
import { effectivePreset, SandboxStatus } from '../../../src/extension/approvals/sandboxStatus.ts';
import { approvalPresets } from '../../../src/protocol/content/policy.ts';
import { message, toEnglishText } from '../../../src/protocol/text/l10n.ts';
import type { SandboxAvailability } from '../../../src/tools/core/commandSandbox.ts';

const available: SandboxAvailability = { isAvailable: true, program: 'bubblewrap 0.8' };

const status = (
  probe: () => Promise<SandboxAvailability>,
  folders: 'disk' | 'virtual' | 'none' = 'disk',
  limitMs?: number,
) => {
  const calls: string[] = [];
  const dependencies = {
    probe: () => {
      calls.push('probe');
      return probe();
    },
    folders: () => folders,
    onKnown: () => calls.push('known'),
  };
  return { calls, sandbox: new SandboxStatus(dependencies, limitMs) };
};

const reasonOf = (found: SandboxAvailability | undefined) =>
  found && !found.isAvailable ? toEnglishText(found.reason) : undefined;

describe('The sandbox of a window', () => {
  it('is tested once, reported when known, and not available until then', async () => {
    const { calls, sandbox } = status(async () => available);
    const first = sandbox.probe();
    assert.equal(sandbox.current, undefined);
    assert.deepEqual([await first, await sandbox.probe(), sandbox.current], [available, available, available]);
    assert.deepEqual(calls, ['probe', 'known']);
  });

  it('is not available with the reason of the test', async () => {
    const { sandbox } = status(async () => ({ isAvailable: false, reason: message('bubblewrap is not installed') }));
    assert.equal(reasonOf(await sandbox.probe()), 'bubblewrap is not installed');
  });

  it('is not available after a test that fails or does not finish', async () => {
    const failing = status(() => Promise.reject(new Error('EPERM')));
    assert.equal(reasonOf(await failing.sandbox.probe()), 'its test failed (EPERM)');
    const hanging = status(() => new Promise(() => {}), 'disk', 1);
    assert.equal(reasonOf(await hanging.sandbox.probe()), 'its test did not finish');
  });

  it('is not tested without a folder on a disk', async () => {
    for (const [folders, reason] of [
      ['virtual', 'the folders of this window are virtual'],
      ['none', 'no folder is open'],
    ] as const) {
      const { calls, sandbox } = status(async () => available, folders);
      assert.deepEqual([reasonOf(sandbox.current), reasonOf(await sandbox.probe())], [reason, reason]);
      assert.deepEqual(calls, []);
    }
  });
});

describe('The preset of the sandbox', () => {
  const missing: SandboxAvailability = { isAvailable: false, reason: message('bubblewrap is not installed') };

  it('is in force in a trusted workspace where the sandbox is available', () =>
    assert.equal(effectivePreset('sandbox', { trusted: true, sandbox: available }), 'sandbox'));

  it('allows only edits without a sandbox, before it was tested, and in an untrusted workspace', () => {
    assert.equal(effectivePreset('sandbox', { trusted: true, sandbox: missing }), 'edits-free');
    assert.equal(effectivePreset('sandbox', { trusted: true, sandbox: undefined }), 'edits-free');
    assert.equal(effectivePreset('sandbox', { trusted: false, sandbox: available }), 'edits-free');
  });

  it('is the only one that depends on the sandbox', () => {
    for (const preset of approvalPresets.filter((one) => one !== 'sandbox'))
      assert.equal(effectivePreset(preset, { trusted: false, sandbox: undefined }), preset);
  });
});
