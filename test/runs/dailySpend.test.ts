import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DailySpendFiles } from '../../src/runs/dailySpend.ts';

describe('what was spent in a day', () => {
  let folder: string;
  let now: Date;
  const open = () => new DailySpendFiles(folder, () => now);
  const files = () => readdirSync(folder).sort();
  beforeEach(() => {
    folder = path.join(mkdtempSync(path.join(tmpdir(), 'spent-')), 'spent');
    now = new Date(2026, 4, 31, 23, 59);
  });
  afterEach(() => rmSync(path.dirname(folder), { recursive: true, force: true }));

  it('two windows count together, and a third that begins later reads the same', async () => {
    const [one, two] = [open(), open()];
    await one.count(0.25);
    await two.count(0.5);
    await one.raise(2);
    for (const window of [one, two, open()]) assert.deepEqual(await window.today(), { spent: 0.75, raised: 2 });
  });

  it('what a call costs in the end stands in place of what it was counted with', async () => {
    const [one, two] = [open(), open()];
    const count = await one.count(0.25);
    assert.deepEqual(await two.today(), { spent: 0.25, raised: 0 });
    await count(0.125);
    assert.deepEqual(await two.today(), { spent: 0.125, raised: 0 });
  });

  it('a torn line takes no other with it, and what is no line of ours counts for nothing', async () => {
    const one = open();
    await one.count(0.25);
    const [file] = files();
    for (const torn of ['{"id":"x","co', '\n{"id":"x","cost":-5}\n', '\nnull\n', '\n{"id":"x","cost":1e99}\n{'])
      appendFileSync(path.join(folder, file!), torn);
    await open().count(0.5);
    for (const window of [one, open()]) assert.deepEqual(await window.today(), { spent: 0.75, raised: 0 });
  });

  it('a line that is still being written is read once it is whole', async () => {
    const one = open();
    await one.count(0.25);
    const file = path.join(folder, files()[0]!);
    appendFileSync(file, '\n{"id":"x",');
    assert.deepEqual(await one.today(), { spent: 0.25, raised: 0 });
    appendFileSync(file, '"cost":1}\n');
    assert.deepEqual(await one.today(), { spent: 1.25, raised: 0 });
  });

  it('each local day begins with nothing, and a call that went over midnight belongs to the day it began on', async () => {
    const one = open();
    const count = await one.count(0.25);
    now = new Date(2026, 5, 1, 0, 1);
    assert.deepEqual(await one.today(), { spent: 0, raised: 0 });
    await count(0.75);
    await one.count(0.5);
    assert.deepEqual(files(), ['spent-2026-05-31.jsonl', 'spent-2026-06-01.jsonl']);
    assert.deepEqual(await one.today(), { spent: 0.5, raised: 0 });
    now = new Date(2026, 4, 31, 23, 59);
    assert.deepEqual(await open().today(), { spent: 0.75, raised: 0 });
  });

  it('what a window knows stays known when the file goes away', async () => {
    const one = open();
    await one.count(0.25);
    rmSync(path.join(folder, files()[0]!));
    await one.count(0.5);
    assert.deepEqual(await one.today(), { spent: 0.75, raised: 0 });
  });

  it('says when it cannot be read or written', async () => {
    mkdirSync(folder);
    mkdirSync(path.join(folder, 'spent-2026-05-31.jsonl'));
    await assert.rejects(open().today(), { code: 'EISDIR' });
    await assert.rejects(open().count(1), { code: 'EISDIR' });
  });

  it('days of a week are kept, and files of others left alone', async () => {
    mkdirSync(folder);
    for (let day = 1; day < 10; day++) writeFileSync(path.join(folder, `spent-2026-05-0${day}.jsonl`), '');
    writeFileSync(path.join(folder, 'mine.txt'), '');
    await open().count(1);
    for (let tries = 0; files().length > 8 && tries < 1000; tries++)
      await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(
      [files().length <= 9, files().includes('mine.txt'), files().includes('spent-2026-05-01.jsonl')],
      [true, true, false],
    );
    assert.ok(readFileSync(path.join(folder, 'spent-2026-05-31.jsonl'), 'utf8').includes('"cost":1'));
  });
});
