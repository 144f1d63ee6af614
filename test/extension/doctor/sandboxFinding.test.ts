import assert from 'node:assert/strict';
import { doctorSandboxFinding } from '../../../src/extension/doctor/sandboxFinding.ts';
import { message } from '../../../src/protocol/text/l10n.ts';
import type { SandboxAvailability } from '../../../src/tools/core/commandSandbox.ts';

describe('The sandbox in Doctor', () => {
  const say = (found: SandboxAvailability, isNeeded = false) => {
    const { level, text } = doctorSandboxFinding(found, isNeeded);
    return `${level}: ${text}`;
  };
  const missing: SandboxAvailability = {
    isAvailable: false,
    reason: message('bubblewrap is not installed'),
    steps: message('Install it with: {0}', 'sudo apt-get install bubblewrap'),
  };

  it('is working, with its program', () =>
    assert.equal(
      say({ isAvailable: true, program: 'bubblewrap 0.8' }),
      'ok: Sandbox: working (bubblewrap 0.8). Writing outside the workspace and connecting were blocked in a test.',
    ));

  it('is not available, with the reason and the steps', () => {
    assert.equal(
      say(missing),
      'fact: Sandbox: not available. bubblewrap is not installed. Install it with: sudo apt-get install bubblewrap',
    );
    assert.equal(
      say({ isAvailable: false, reason: message('Not supported on Windows outside WSL') }),
      'fact: Sandbox: not available. Not supported on Windows outside WSL.',
    );
  });

  it('is a warning if the preset needs it', () => assert.match(say(missing, true), /^warning: /));
});
