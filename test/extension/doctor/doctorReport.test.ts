import assert from 'node:assert/strict';
import { type DoctorCheck, runDoctorChecks, toDoctorReport } from '../../../src/extension/doctor/doctorReport.ts';

const key = 'sk-CANARYKEY1234567890';
const house = 'my-own-password-of-a-proxy';

const checks: DoctorCheck[] = [
  {
    title: 'Fine',
    run: async (_, progress) => {
      progress('looking');
      return [
        { level: 'ok', text: 'It works' },
        { level: 'fact', text: 'In /home/ada/project' },
      ];
    },
  },
  { title: 'Odd', run: async () => [{ level: 'warning', text: `A server said ${key}\n## and ${house}` }] },
  { title: 'Broken', run: () => Promise.reject(new Error('No such thing at /home/ada/x.')) },
];

describe('the report of Doctor', () => {
  it('says what was found, a check that fails among it, and hides keys and the home folder', async () => {
    const told: string[] = [];
    const sections = await runDoctorChecks(checks, new AbortController().signal, (text) => told.push(text));
    assert.deepEqual(told, ['Fine', 'Fine: looking', 'Odd', 'Broken']);
    assert.equal(
      toDoctorReport(sections, { secrets: [house], home: '/home/ada' }),
      `# Towpath Doctor

1 problem, 1 warning. Keys are not included, and \`~\` stands for your home folder.

- ❌ Broken
- ⚠️ Odd

## Fine

- ✅ It works
- In ~/project

## Odd

- ⚠️ A server said [key] ⏎ ## and [key]

## Broken

- ❌ No such thing at ~/x.
`,
    );
  });

  it('ends when it is stopped, with what was found until then', async () => {
    const stop = new AbortController();
    const stopping: DoctorCheck = {
      title: 'Slow',
      run: async () => {
        stop.abort();
        return [{ level: 'fact', text: 'Stopped.' }];
      },
    };
    const sections = await runDoctorChecks([stopping, ...checks], stop.signal, () => {});
    assert.deepEqual(sections, [{ title: 'Slow', findings: [{ level: 'fact', text: 'Stopped.' }] }]);
  });
});
