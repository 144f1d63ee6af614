import assert from 'node:assert/strict';
import { sandboxReport } from '../../../src/extension/approvals/sandboxReport.ts';
import { message } from '../../../src/protocol/text/l10n.ts';

describe('The page of /sandbox', () => {
  const available = { isAvailable: true, program: 'bubblewrap 0.8' } as const;
  const state = {
    availability: available,
    trusted: true,
    preset: 'sandbox',
    workspace: ['/projects/app'],
    hosts: [],
  } as const;
  const lines = (more: Partial<Parameters<typeof sandboxReport>[0]> = {}) =>
    sandboxReport({ ...state, ...more })
      .split('\n')
      .filter((line) => line.startsWith('- '));

  it('says what commands can write, read and reach', () => {
    assert.deepEqual(lines(), [
      '- The sandbox is available: bubblewrap 0.8.',
      '- Commands run in it without approval.',
      '- Write: `/projects/app`, and a temporary folder of its own. Protected files ask.',
      '- Read: files of this machine, except for files that usually contain secrets.',
      '- Connect: no hosts.',
    ]);
    const connect = lines({ hosts: ['registry.example', 'api.example'] }).at(-1);
    assert.equal(connect, '- Connect: `registry.example`, `api.example`.');
  });

  it('says whether commands run in it', () => {
    assert.match(
      lines({ preset: 'edits-free' })[1]!,
      /^- Commands ask for approval\. Select “Auto-approve edits and sand/,
    );
    assert.match(lines({ preset: 'autopilot' })[1]!, /Autopilot is on\.$/);
  });

  it('says why there is none, and what to do', () => {
    const availability = {
      isAvailable: false,
      reason: message('bubblewrap is not installed'),
      steps: message('Install it with: {0}', 'sudo apt-get install bubblewrap'),
    } as const;
    assert.deepEqual(lines({ availability, preset: 'edits-free' }), [
      '- The sandbox is not available in this window: bubblewrap is not installed. Commands ask for approval.',
      '- Install it with: sudo apt-get install bubblewrap',
    ]);
    assert.deepEqual(lines({ trusted: false }), ['- This workspace is not trusted: there are no commands.']);
  });
});
