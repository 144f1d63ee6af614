import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, promises as fs, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Attachment, Message } from '../../src/protocol/content/messages.ts';
import type { RunEventBody, StoredEvent } from '../../src/protocol/run/events.ts';
import { applyEvent } from '../../src/protocol/run/fold.ts';
import type { Run } from '../../src/protocol/run/run.ts';
import { checksum } from '../../src/runs/journal.ts';
import { RunStore, type WritableRun } from '../../src/runs/store.ts';

const image = (bytes: number): Attachment => ({
  mediaType: 'image/png',
  data: randomBytes(bytes).toString('base64'),
  name: 'shot.png',
});

describe('images of a run', () => {
  let folder: string;
  let store: RunStore;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'images-'));
    store = new RunStore(folder);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const folderOf = (id: string) => path.join(folder, 'runs', id);
  const journalOf = (id: string) => path.join(folderOf(id), 'journal.jsonl');
  const imagesOf = (id: string) =>
    existsSync(path.join(folderOf(id), 'images')) ? readdirSync(path.join(folderOf(id), 'images')) : [];
  const say = (content: string, ...attachments: Attachment[]): RunEventBody => ({
    type: 'message',
    message: { role: 'user', content, ...(attachments.length > 0 && { attachments }) },
  });
  async function add(open: WritableRun, ...bodies: RunEventBody[]): Promise<void> {
    for (const body of bodies) {
      const event = { runId: open.run.id, seq: open.run.seq + 1, at: 1000 + open.run.seq, ...body } as StoredEvent;
      await open.append(event);
      applyEvent(open.run, event);
    }
  }
  async function keptRun(...bodies: RunEventBody[]): Promise<string> {
    const id = RunStore.newId();
    const open = await store.create(id);
    const start: RunEventBody = { type: 'run-start', workflowId: 'chat', agentId: 'default', model: 'scripted/one' };
    await add(open, start, ...bodies, { type: 'phase', phase: 'WaitingUser' });
    await open.close();
    return id;
  }
  const attachmentsOf = ({ messages }: Pick<Run, 'messages'>) =>
    messages.flatMap((message: Message) => {
      if (message.role === 'user') return message.attachments ?? [];
      return message.role === 'tool' ? message.toolResults.flatMap(({ attachments = [] }) => attachments) : [];
    });

  it('are stored once, whatever has them, and come back as they were', async () => {
    const [one, two] = [image(300_000), image(200_000)];
    const call = { id: 'a', name: 'fs.read', arguments: { path: 'shot.png' } };
    const result = { toolCallId: 'a', content: '{"ok":true,"data":{}}', attachments: [one] };
    const id = await keptRun(
      say('look', one, two),
      { type: 'message', message: { role: 'assistant', content: '', toolCalls: [call] } },
      { type: 'message', message: { role: 'tool', content: '', toolResults: [result] } },
      { type: 'queued', text: 'and again', attachments: [two] },
    );
    assert.equal(imagesOf(id).length, 2);
    assert.ok(statSync(journalOf(id)).size < 5000, 'the journal has none of them');
    const run = await store.read(id);
    assert.deepEqual(attachmentsOf(run), [one, two, one]);
    assert.deepEqual(run.queued[0]?.attachments, [two]);
    const open = await store.open(id);
    await open.close();
    assert.deepEqual(attachmentsOf(open.run), [one, two, one]);
  });

  it('of a branch are its own: they outlive the run that it comes from', async () => {
    const one = image(100_000);
    const id = await keptRun(say('look', one));
    const { seq } = (await store.forkableMessages(id))[0]!;
    const branch = await store.fork(id, seq);
    assert.equal(statSync(path.join(folderOf(branch), 'images', imagesOf(branch)[0]!)).nlink, 2, 'the same file');
    await store.delete(id);
    assert.deepEqual(attachmentsOf(await store.read(branch)), [one]);
  });

  it('of a deleted run come back with it', async () => {
    const one = image(50_000);
    const id = await keptRun(say('look', one));
    const name = await store.delete(id);
    assert.ok(!existsSync(folderOf(id)));
    await store.deleted.restore(name);
    assert.deepEqual(attachmentsOf(await store.read(id)), [one]);
  });

  it('are in an export, and an import has its own', async () => {
    const one = image(50_000);
    const id = await keptRun(say('look', one));
    const { runs } = await store.exported(id, (text) => text);
    assert.match(JSON.stringify(runs), new RegExp(one.data.slice(0, 40).replaceAll(/[+/]/g, '\\$&')));
    const brought = RunStore.newId();
    const events = (runs[0]!.events as StoredEvent[]).map((event) => ({ ...event, runId: brought }));
    await store.bring([{ id: brought, events, shown: true }]);
    rmSync(folderOf(id), { recursive: true });
    assert.deepEqual(attachmentsOf(await store.read(brought)), [one]);
    assert.equal(imagesOf(brought).length, 1);
  });

  it('in the lines of an older journal are read, and the journal is not rewritten', async () => {
    const one = image(50_000);
    const id = await keptRun(say('look'));
    const lines = readFileSync(journalOf(id), 'latin1').split('\n');
    const event = JSON.parse(lines[2]!.slice(9));
    event.message.attachments = [one];
    const json = Buffer.from(JSON.stringify(event));
    lines[2] = `${checksum(json)} ${json.toString('latin1')}`;
    await fs.writeFile(journalOf(id), lines.join('\n'), 'latin1');
    const before = readFileSync(journalOf(id));
    const open = await store.open(id);
    assert.deepEqual(attachmentsOf(open.run), [one]);
    await add(open, say('and now', one));
    await open.close();
    const after = readFileSync(journalOf(id));
    assert.deepEqual(after.subarray(0, before.length), before);
    assert.ok(after.length < before.length + 1000);
    assert.deepEqual(attachmentsOf(await store.read(id)), [one, one]);
  });

  it('that are gone or were altered are named, and the words that came with them stay', async () => {
    const id = await keptRun(say('look', image(50_000)), say('and then'));
    const [name] = imagesOf(id);
    await fs.writeFile(path.join(folderOf(id), 'images', name!), 'something else');
    const run = await store.read(id);
    assert.deepEqual([attachmentsOf(run), run.messages.map(({ content }) => content)], [[], ['look', 'and then']]);
    assert.match(run.damage?.[0]?.text ?? '', /^1 image of line 3 cannot be read$/);
  });

  it('make a line that an older Towpath shows read-only', async () => {
    const id = await keptRun(say('look', image(50_000)));
    const line = readFileSync(journalOf(id), 'latin1').split('\n')[2]!;
    assert.equal(JSON.parse(line.slice(9)).version, 2);
  });
});
