import assert from 'node:assert/strict';
import { presetRows } from '../../../src/extension/approvals/presetRows.ts';
import { message } from '../../../src/protocol/text/l10n.ts';
import type { SandboxAvailability } from '../../../src/tools/core/commandSandbox.ts';

const available: SandboxAvailability = { isAvailable: true, program: 'bubblewrap 0.8' };
const missing: SandboxAvailability = { isAvailable: false, reason: message('bubblewrap is not installed') };
const rows = (sandbox: SandboxAvailability, trusted = true) =>
  presetRows({ sandbox, trusted }).map(({ name, description }) => `${name} — ${description}`);

const sandboxed = 'Auto-approve edits and sandboxed commands';

describe('The rows of the presets', () => {
  it('say what runs without approval, from strict to permissive', () =>
    assert.deepEqual(rows(available), [
      'Ask for everything — reading files asks, too',
      'Auto-approve reads — edits, commands and web pages ask',
      'Auto-approve edits — commands and web pages ask; edits can be undone',
      `${sandboxed} — network access and other folders ask; changes can be undone`,
      'Autopilot — only protected files and secrets ask; trusted workspaces only',
    ]));

  it('say why there is no sandbox', () =>
    assert.equal(rows(missing)[3], `${sandboxed} — Not available: bubblewrap is not installed`));

  it('say that a sandbox is a preview', () =>
    assert.equal(
      rows({ isAvailable: true, program: 'sandbox-exec', isPreview: true })[3],
      `${sandboxed} — preview: network access and other folders ask; protected files cannot be changed`,
    ));

  it('have no sandbox in an untrusted workspace', () => {
    const names = presetRows({ sandbox: available, trusted: false }).map(({ preset }) => preset);
    assert.deepEqual(names, ['ask-everything', 'reads-free', 'edits-free', 'autopilot']);
  });
});
