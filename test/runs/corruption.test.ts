import assert from 'node:assert/strict';
import { promises as fs, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import type { RunEventBody, StoredEvent } from '../../src/protocol/run/events.ts';
import { applyEvent } from '../../src/protocol/run/fold.ts';
import { type Run, restoreRunDictionaries } from '../../src/protocol/run/run.ts';
import { readOnlyReasonMessages } from '../../src/protocol/text/readOnlyReason.ts';
import { checksum } from '../../src/runs/journal.ts';
import { RunStore, type WritableRun } from '../../src/runs/store.ts';

describe('a damaged record', () => {
  let folder: string;
  let store: RunStore;
  let id: string;
  let journal: string;
  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'damage-'));
    store = new RunStore(folder);
    id = RunStore.newId();
    journal = path.join(folder, 'runs', id, 'journal.jsonl');
    const open = await store.create(id);
    await add(open, ...['one', 'two', 'three', 'four'].map(say), { type: 'phase', phase: 'WaitingUser' });
    await open.close();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const say = (content: string): RunEventBody => ({ type: 'message', message: { role: 'user', content } });
  async function add(open: WritableRun, ...bodies: RunEventBody[]): Promise<void> {
    for (const body of bodies) {
      const event = { runId: open.run.id, seq: open.run.seq + 1, at: 1000 + open.run.seq, ...body } as StoredEvent;
      await open.append(event);
      applyEvent(open.run, event);
    }
  }
  const text = async () => (await fs.readFile(journal, 'latin1')).split('\n');
  /** Changes the lines of the journal, the first of which names the format. */
  async function edit(change: (lines: string[]) => string[]): Promise<void> {
    await fs.writeFile(journal, change(await text()).join('\n'), 'latin1');
  }
  const flipped = (line: string, at = 20) =>
    line.slice(0, at) + String.fromCharCode(line.charCodeAt(at) ^ 1) + line.slice(at + 1);
  const withEvent = (event: object) => {
    const json = Buffer.from(JSON.stringify(event));
    return `${checksum(json)} ${json.toString('latin1')}`;
  };
  /** Lines of the first Towpath did not say which stood before them. */
  const asBefore = (line: string) =>
    line.includes('"previous"') ? withEvent({ ...JSON.parse(line.slice(9)), previous: undefined }) : line;
  const words = ({ messages }: Pick<Run, 'messages'>) => messages.map(({ content }) => content).join(' ');

  /** What is done to the lines; what the conversation says then, what is apart, and what is said of it. */
  const cases: [what: string, change: (lines: string[]) => string[], main: string, apart: string, says: RegExp][] = [
    [
      'a flipped bit in the middle',
      (all) => all.with(2, flipped(all[2]!)),
      'one',
      'three four',
      /^line 3 is damaged \(\d+ bytes from byte \d+\)$/,
    ],
    [
      'a flipped bit in the last line',
      (all) => all.with(5, flipped(all[5]!)),
      'one two three four',
      '',
      /^line 6 is damaged/,
    ],
    [
      'a flipped bit in the first line of all',
      (all) => all.with(0, flipped(all[0]!, 3)),
      'one two three four',
      '',
      /^its first line, which names the format, is damaged$/,
    ],
    [
      'a version that one bit makes of the right one',
      (all) => all.with(0, '{"towpath-run":3}'),
      'one two three four',
      '',
      /^its first line/,
    ],
    ['no first line', (all) => all.slice(1), 'one two three four', '', /^its first line/],
    [
      'the first line run into the second',
      (all) => [`${all[0]}\x0b${all[1]}`, ...all.slice(2)],
      'one two three four',
      '',
      /^its first line/,
    ],
    ['a line that is missing', (all) => all.toSpliced(3, 1), 'one two', 'four', /^the part before line 4 is missing$/],
    ['the beginning missing', (all) => all.toSpliced(1, 2), '', 'three four', /^the part before line 2 is missing$/],
    [
      'a line that stands there twice',
      (all) => all.toSpliced(3, 0, all[2]!),
      'one two three four',
      '',
      /^line 4 repeats line 3$/,
    ],
    [
      'two lines swapped',
      (all) => [all[0]!, all[1]!, all[3]!, all[2]!, ...all.slice(4)],
      'one two three four',
      '',
      /^line 4 was at the wrong position$/,
    ],
    [
      'a line that contradicts another',
      (all) => all.toSpliced(3, 0, withEvent({ ...JSON.parse(all[2]!.slice(9)), ...say('TWO') })),
      'one two three four',
      '',
      /^line 4 contradicts line 3$/,
    ],
    [
      'a line of another run',
      (all) => all.toSpliced(3, 0, withEvent({ ...JSON.parse(all[3]!.slice(9)), runId: 'run-x' })),
      'one two three four',
      '',
      /^line 4 is of another run$/,
    ],
    [
      'rubbish between two lines',
      (all) => all.toSpliced(3, 0, 'rubbish', ''),
      'one two three four',
      '',
      /^line 4 is damaged \(7 bytes from byte \d+\); line 5 is damaged/,
    ],
    [
      'zeros at the end',
      (all) => [...all.slice(0, -1), '\0'.repeat(4096)],
      'one two three four',
      '',
      /^its last line is torn \(4,096 bytes from byte \d+\)$/,
    ],
    [
      'an end that is cut off between two lines',
      (all) => [...all.slice(0, 4), ''],
      'one two three',
      '',
      /^a part is missing \(it had \d+ bytes, and has \d+\)$/,
    ],
    [
      'an end that is cut off within a line',
      (all) => [...all.slice(0, 4), all[4]!.slice(0, 30)],
      'one two three',
      '',
      /^its last line is torn/,
    ],
    [
      'a flipped bit in a record of the first Towpath',
      (all) => all.map(asBefore).with(2, flipped(asBefore(all[2]!))),
      'one',
      'three four',
      /^line 3 is damaged/,
    ],
    [
      'two places',
      (all) => all.with(2, flipped(all[2]!)).with(4, flipped(all[4]!)),
      'one',
      'three',
      /^line 3 is damaged .*; line 5 is damaged/,
    ],
  ];
  for (const [what, change, main, apart, says] of cases)
    it(`(${what}) is said in the list and in the run, and nothing that can be read is lost`, async () => {
      await edit(change);
      const damaged = await fs.readFile(journal);
      const run = await store.read(id);
      const [damage, ...others] = run.damage ?? [];
      assert.deepEqual([words(run), words(damage!), others], [main, apart, []]);
      assert.match(damage!.text, says);
      for (const round of ['first', 'again']) {
        const [summary] = await store.list();
        assert.match(summary?.damaged ?? '', says, round);
      }
      const open = await store.open(id);
      assert.deepEqual(open.run, run);
      const { from, at, open: more, text: damageText, said, messages } = open.run.damage![0]!;
      await add(open, say('five'), { type: 'mended', from, damage: damageText, said, ...more! });
      const told = restoreRunDictionaries(structuredClone(open.run));
      await open.close();
      const mended = await store.read(id);
      assert.deepEqual(
        [words(mended), mended.damage],
        [`${main} five`.trim(), [{ from, at, text: damageText, said, messages }]],
      );
      assert.deepEqual([mended, (await store.list())[0]?.damaged], [told, undefined]);
      const aside = (await fs.readdir(path.dirname(journal))).filter((name) => name.includes('.damaged-'));
      const kept = await Promise.all(
        [journal, ...aside.map((name) => path.join(path.dirname(journal), name))].map((file) => fs.readFile(file)),
      );
      const whole = damaged.subarray(0, damaged.lastIndexOf(10) + 1);
      assert.deepEqual(kept[0]!.subarray(0, whole.length), whole, 'what was there stays as it is');
      assert.deepEqual(kept.slice(1), damaged.length > whole.length ? [damaged.subarray(whole.length)] : []);
      const again = await store.open(id);
      await add(again, say('six'));
      await again.close();
      assert.equal(words(await store.read(id)), `${main} five six`.trim());
    });

  it('that is damaged anew after it was mended is said anew', async () => {
    await edit((all) => all.with(4, flipped(all[4]!)));
    const open = await store.open(id);
    const [{ from, text: damage, open: more }] = open.run.damage as [Required<NonNullable<Run['damage']>[number]>];
    await add(open, say('five'), { type: 'mended', from, damage, ...more }, say('six'));
    await open.close();
    assert.equal((await store.list())[0]?.damaged, undefined);
    await edit((all) => all.with(2, flipped(all[2]!)));
    const run = await store.read(id);
    assert.deepEqual([words(run), words(run.damage!.at(-1)!)], ['one', 'three five six']);
    assert.match((await store.list())[0]?.damaged ?? '', /^line 3 is damaged/);
  });

  const newer: [what: string, change: (lines: string[]) => string[], shows: string][] = [
    ['in another format', (all) => all.with(0, '{"towpath-run":2}'), 'one two three four'],
    ['in a format that cannot be read', () => ['{"towpath-run":17}', 'as yet unknown', ''], ''],
    [
      'with an event that is unknown here',
      (all) => all.with(3, withEvent({ ...JSON.parse(all[3]!.slice(9)), type: 'as-yet-unknown', version: 99 })),
      'one two four',
    ],
    [
      'with something unknown in an event',
      (all) => all.with(5, withEvent({ ...JSON.parse(all[5]!.slice(9)), phase: 'AsYetUnknown', version: 99 })),
      'one two three four',
    ],
  ];
  for (const [what, change, shows] of newer)
    it(`of a newer Towpath (${what}) can be read and is not gone on with`, async () => {
      await edit(change);
      const before = await fs.readFile(journal);
      const run = await store.read(id);
      assert.equal(words(run), shows);
      assert.match(readOnlyReasonMessages[run.readOnly!], /newer version of Towpath.*Update Towpath to continue/);
      assert.deepEqual(
        [(await store.list())[0]?.readOnly, (await store.list())[0]?.readOnly],
        [run.readOnly, run.readOnly],
      );
      await assert.rejects(store.open(id), { code: 'STORE_DAMAGED', message: readOnlyReasonMessages[run.readOnly!] });
      assert.deepEqual(await fs.readFile(journal), before);
      assert.deepEqual((await fs.readdir(path.dirname(journal))).sort(), ['journal.jsonl', 'summary.json']);
    });

  const unreadable: [what: string, change: (lines: string[]) => string[], main: string, apart: string, says: RegExp][] =
    [
      [
        'a number that overflowed',
        (all) => all.with(5, withEvent({ ...JSON.parse(all[5]!.slice(9)), at: null })),
        'one two three four',
        '',
        /^line 6 \(phase\) cannot be read$/,
      ],
      [
        'a message without its content',
        (all) => all.with(3, withEvent({ ...JSON.parse(all[3]!.slice(9)), message: { role: 'user' } })),
        'one two',
        'four',
        /^line 4 \(message\) cannot be read$/,
      ],
      [
        'a type that no version of Towpath has',
        (all) => all.with(5, withEvent({ ...JSON.parse(all[5]!.slice(9)), type: 'nobody-wrote-this' })),
        'one two three four',
        '',
        /^line 6 \(nobody-wrote-this\) cannot be read$/,
      ],
    ];
  for (const [what, change, main, apart, says] of unreadable)
    it(`with a right checksum but ${what} is isolated, and the run continues`, async () => {
      await edit(change);
      const run = await store.read(id);
      assert.deepEqual([words(run), run.readOnly], [main, undefined]);
      assert.match(run.damage?.[0]?.text ?? '', says);
      assert.equal(run.damage!.map(words).join(' '), apart);
      const open = await store.open(id);
      const [{ from, text: damage, open: more }] = open.run.damage as [Required<NonNullable<Run['damage']>[number]>];
      await add(open, { type: 'mended', from, damage, ...more }, say('five'));
      await open.close();
      assert.equal(words(await store.read(id)), `${main} five`);
      assert.equal((await store.list())[0]?.damaged, undefined);
    });

  it('is not hidden by a summary, and a summary that was altered is none', async () => {
    const file = path.join(path.dirname(journal), 'summary.json');
    const [listed] = await store.list();
    for (const lie of [{ title: 'LIE' }, { phase: 'Completed' }, { updatedAt: 1 }, { damaged: 'LIE' }, { more: 1 }]) {
      await fs.writeFile(file, JSON.stringify({ ...JSON.parse(await fs.readFile(file, 'utf8')), ...lie }));
      assert.deepEqual(await store.list(), [listed]);
    }
    const bytes = await fs.readFile(file);
    for (let at = 0; at < bytes.length; at += 7) {
      await fs.writeFile(file, Buffer.from(bytes).fill(bytes[at]! ^ 4, at, at + 1));
      assert.deepEqual(await store.list(), [listed], `byte ${at}`);
    }
  });

  it('keeps its name in the list when nothing of it can be read', async () => {
    await fs.writeFile(journal, Buffer.alloc(500));
    const [run] = await store.list();
    assert.deepEqual([run?.title, run?.damaged], ['one', 'This is not the record of a run.']);
    await assert.rejects(store.read(id), { code: 'STORE_DAMAGED' });
  });

  it('is none where a window was killed before it began', async () => {
    for (const begun of ['', '{"towp', '{"towpath-run":1}\n']) {
      const empty = RunStore.newId();
      await fs.mkdir(path.join(folder, 'runs', empty));
      await fs.writeFile(path.join(folder, 'runs', empty, 'journal.jsonl'), begun);
      assert.deepEqual(
        (await store.list()).map((run) => run.id),
        [id],
      );
    }
  });

  it('believes nothing and hides nothing, wherever a bit is flipped or the end is cut off', async () => {
    const whole = await fs.readFile(journal);
    const said = (await store.read(id)).messages.map(({ content }) => content);
    const harmed = fc.oneof(
      fc.nat(whole.length * 8 - 1).map((bit) => {
        const bytes = Buffer.from(whole);
        bytes[bit >> 3]! ^= 1 << (bit & 7);
        return bytes;
      }),
      fc.nat(whole.length - 1).map((end) => whole.subarray(0, end)),
    );
    await fc.assert(
      fc.asyncProperty(harmed, async (bytes) => {
        await fs.writeFile(journal, bytes);
        const [listed] = await store.list();
        assert.ok(listed?.damaged, 'the list says so');
        const run = await store.read(id).catch(() => undefined);
        if (!run) return assert.equal(listed.title, 'one');
        const [damage] = run.damage ?? [];
        assert.equal(damage?.text, listed.damaged);
        const read = [...run.messages, ...damage!.messages].map(({ content }) => content);
        assert.deepEqual(
          read,
          said.filter((words) => read.includes(words)),
          'nothing that was not said, all in order',
        );
        assert.ok(bytes.length < whole.length || read.length >= said.length - 2, 'a flip takes two lines at most');
      }),
      { numRuns: 300 },
    );
  });

  it('still tells what it follows', async () => {
    const other = RunStore.newId();
    const open = await store.create(other);
    await add(open, { type: 'run-start', workflowId: 'package:a/b', agentId: 'c', model: '' }, say('x'));
    await open.close();
    const file = path.join(folder, 'runs', other, 'journal.jsonl');
    await fs.writeFile(file, (await fs.readFile(file, 'latin1')).replace('towpath', 'tOwpath'), 'latin1');
    assert.ok((await store.workflowIds()).includes('package:a/b'));
  });
});
