import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const folder = path.join(import.meta.dirname, '../../../src/extension');
const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .sort();

// The editor makes links of `[text](command:…)` in these texts; only dialogs (`modal`) show them as they are.
const places = [
  /show(?:Information|Warning|Error)Message\(\s*(?<text>disableCommandLinks\(|`[^`]*`|[\w.]+\([^()]*\)|[\w.]+|'[^']*')(?!.{0,20}modal)/gs,
  /progress\.report\(\{ message(?<text>: [^,}]*|)/g,
];

describe('what a notification says', () => {
  for (const name of names)
    it(`${name}: text of others makes no link in it`, () => {
      const source = readFileSync(path.join(folder, name), 'utf8');
      const said = places.flatMap((place) => [...source.matchAll(place)]);
      const risky = said.filter(({ groups }) => {
        const text = groups!.text!.replace(/^: /, '');
        // What is only translated is nobody else's, and neither is a link to a command of the notification itself.
        return !/^'|^disableCommandLinks\(|^t\('[^']*'\)$|^`\[\$\{label$/.test(text);
      });
      assert.deepEqual(
        risky.map(([whole]) => whole),
        [],
      );
    });

  it('whatever is told is told in the panel while that is in view: few places show a notification, and each knows whether it is', () => {
    const notifies =
      /show(?:Information|Warning|Error)Message\((?!.{0,60}modal)|ProgressLocation(?:\.Notification|\[)/s;
    const knows = /inView|InView/;
    const sources = names.filter((name) => notifies.test(readFileSync(path.join(folder, name), 'utf8')));
    const unaware = sources.filter((name) => !knows.test(readFileSync(path.join(folder, name), 'utf8')));
    assert.deepEqual(sources, [
      'dialogs/cancellable.ts',
      'dialogs/notify.ts',
      'dialogs/reminder.ts',
      'runs/notifyEnd.ts',
      'start.ts',
    ]);
    assert.deepEqual(
      unaware,
      ['dialogs/reminder.ts', 'start.ts'],
      'who calls the one knows; of the other there is no panel',
    );
  });

  it('dialogs are shown from two places, which give the keys back where they were', () => {
    const sources = names.filter((name) => /modal: true/.test(readFileSync(path.join(folder, name), 'utf8')));
    assert.deepEqual(sources, ['approvals/approvals.ts', 'dialogs/dialogs.ts']);
  });
});
