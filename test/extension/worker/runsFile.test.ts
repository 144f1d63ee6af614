import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readRunsFile } from '../../../src/extension/worker/runsFile.ts';
import { message, setLanguage, toEnglishText } from '../../../src/protocol/text/l10n.ts';
import { localize } from '../../../src/protocol/text/localized.ts';

describe('a file of runs that somebody else may have written', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'runs-file-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const read = (text: string) => {
    const file = path.join(folder, 'run.json');
    writeFileSync(file, text);
    return readRunsFile(file);
  };
  const start = { runId: 'run-x', seq: 1, at: 1, type: 'run-start', workflowId: 'chat', agentId: '', model: '' };
  const whole = { 'towpath-runs': 1, shown: 'run-x', runs: [{ id: 'run-x', events: [start] }] };

  it('gives each run an id of its own', async () => {
    const given = await read(JSON.stringify(whole));
    assert.ok('runs' in given);
    assert.match(given.runs[0]!.id, /^run-[0-9a-f-]{36}$/);
  });

  const troubles: [name: string, text: string, why: RegExp][] = [
    ['is no JSON', 'hello', /^This is not a file of exported runs: /],
    ['is of something else', '{}', /^This is not a file of exported runs\.$/],
    ['goes too deep', '['.repeat(100_000), /nested more than/],
  ];
  for (const [name, text, why] of troubles)
    it(`says why there are none where it ${name}`, async () => {
      const given = await read(text);
      assert.ok('trouble' in given);
      assert.match(toEnglishText(given.trouble), why);
    });

  it('names what is wrong in the language of the editor, also from its own thread', async () => {
    const given = await read(JSON.stringify({ ...whole, runs: [{ id: 'run-x', events: [start, start] }] }));
    assert.ok('trouble' in given);
    const { trouble } = structuredClone(given);
    assert.deepEqual(trouble, message('Event {0} of run {1} in this file is out of order.', '2', '1'));
    setLanguage('de', {
      'Event {0} of run {1} in this file is out of order.': 'Lauf {1}, Ereignis {0}: falsche Folge.',
    });
    try {
      assert.equal(localize(trouble), 'Lauf 1, Ereignis 2: falsche Folge.');
    } finally {
      setLanguage('en');
    }
  });

  it('does not read one that is larger than any', async () => {
    const file = path.join(folder, 'large.json');
    writeFileSync(file, '');
    truncateSync(file, 65 * 1024 * 1024);
    assert.deepEqual(await readRunsFile(file), {
      trouble: { english: 'The file is larger than {0} MiB.', values: ['64'] },
    });
  });
});
