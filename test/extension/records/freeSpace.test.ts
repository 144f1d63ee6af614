import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FullDiskMonitor } from '../../../src/extension/records/freeSpace.ts';
import { eventually } from '../../support/eventually.ts';

describe('the room on the disk', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'towpath-room-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('is looked for once a run could not be recorded, until there is some, and leaves nothing behind', async () => {
    const kept = path.join(folder, 'kept');
    writeFileSync(kept, ''); // a file where the folder is to be: nothing can be written below it
    const told: boolean[] = [];
    const room: FullDiskMonitor = new FullDiskMonitor(kept, () => told.push(room.isFull), 5);
    room.onEvent({ type: 'phase' });
    room.onEvent({ type: 'phase', error: { code: 'STORE_FAILED' } });
    assert.equal(room.isFull, false);
    for (let time = 0; time < 2; time++) room.onEvent({ type: 'phase', error: { code: 'STORE_FULL' } });
    assert.deepEqual(told, [true]);
    const again = new FullDiskMonitor(folder, () => told.push(again.isFull), 5);
    again.onEvent({ type: 'phase', error: { code: 'STORE_FULL' } });
    await eventually('there is room', () => !again.isFull);
    assert.deepEqual([told, room.isFull], [[true, true, false], true], 'there is none below a file');
    rmSync(kept);
    mkdirSync(kept);
    await eventually('there is room by now', () => !room.isFull);
    assert.deepEqual([told.at(-1), readdirSync(kept), readdirSync(folder)], [false, [], ['kept']]);
  });
});
