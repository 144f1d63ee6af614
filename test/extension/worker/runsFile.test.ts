import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readRunsFile } from '../../../src/extension/worker/runsFile.ts';

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
      assert.match(given.trouble, why);
    });

  it('does not read one that is larger than any', async () => {
    const file = path.join(folder, 'large.json');
    writeFileSync(file, '');
    truncateSync(file, 65 * 1024 * 1024);
    assert.deepEqual(await readRunsFile(file), { trouble: 'The file is larger than 64 MiB.' });
  });
});
