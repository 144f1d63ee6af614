import assert from 'node:assert/strict';
import { existsSync, promises as fs, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunEventBody, StoredEvent } from '../../src/protocol/run/events.ts';
import { applyEvent } from '../../src/protocol/run/fold.ts';
import { RunStore, type WritableRun } from '../../src/runs/store.ts';

// Holds run-list-is-verified.
describe('the history of runs', () => {
  let folder: string;
  let store: RunStore;
  let at: number;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'history-'));
    store = new RunStore(folder);
    at = 1000;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const index = () => path.join(folder, 'history-1');
  const journalOf = (id: string) => path.join(folder, 'runs', id, 'journal.jsonl');
  const begins: RunEventBody = { type: 'run-start', workflowId: 'chat', agentId: 'towpath', model: 'somewhere/m' };
  const rests: RunEventBody = { type: 'phase', phase: 'WaitingUser' };
  const says = (content: string): RunEventBody => ({ type: 'message', message: { role: 'user', content } });
  const answers = (content: string): RunEventBody => ({ type: 'message', message: { role: 'assistant', content } });
  const titled = (title: string, by?: 'person'): RunEventBody => ({ type: 'title', title, ...(by && { by }) });
  async function add(open: WritableRun, ...bodies: RunEventBody[]): Promise<void> {
    for (const body of bodies) {
      const event = { runId: open.run.id, seq: open.run.seq + 1, at: at++, ...body } as StoredEvent;
      await open.append(event);
      applyEvent(open.run, event);
    }
  }
  async function kept(...bodies: RunEventBody[]): Promise<string> {
    const open = await store.create(RunStore.newId());
    await add(open, begins, ...bodies);
    await open.close();
    return open.run.id;
  }
  const goOn = async (id: string, ...bodies: RunEventBody[]) => {
    const open = await store.open(id);
    await add(open, ...bodies);
    await open.close();
  };
  const found = async (query: string) => (await store.search(query)).map(({ run }) => run.title);
  const titles = async () => (await store.list()).map(({ title }) => title);

  const flag = () => kept(says('Add a --json flag to the CLI.'), answers('The flag is there.'), rests);
  const café = () =>
    kept(titled('The Café page'), says('Why is “naïve” cut off in Ärger.txt?'), answers('The ligature ﬁ.'), rests);

  it('is searched by words of titles and texts, in whatever order, case and accents; each has to be there', async () => {
    await flag();
    await café();
    const cases: [query: string, found: string[]][] = [
      ['json', ['Add a --json flag to the CLI.']],
      ['cli FLAG', ['Add a --json flag to the CLI.']],
      ['flag café', []],
      ['CAFE', ['The Café page']],
      ['naive arger', ['The Café page']],
      ['ÄRGER', ['The Café page']],
      ['fi', ['The Café page']],
      ['the', ['The Café page', 'Add a --json flag to the CLI.']],
      ['  ', ['The Café page', 'Add a --json flag to the CLI.']],
      ['json\nflag', ['Add a --json flag to the CLI.']],
      ['\t', ['The Café page', 'Add a --json flag to the CLI.']],
      ['fla\u00adg', ['Add a --json flag to the CLI.']],
      ['"json"', []],
      ['.*', []],
    ];
    for (const [query, expected] of cases) assert.deepEqual(await found(query), expected, query);
  });

  it('says where in the text it was found, not for what is in the title', async () => {
    await kept(titled('Names'), says(`${'before '.repeat(30)}the needle ${'after '.repeat(30)}`), rests);
    const excerpt = async (query: string) => (await store.search(query))[0]?.excerpt;
    assert.equal(await excerpt('names'), undefined);
    assert.match((await excerpt('names needle'))!, /^…before before before .*the needle after .*…$/);
    await kept(titled('Umlaute'), says('ж'.repeat(100)), rests);
    assert.match((await excerpt('жжж'))!, /^ж+…$/);
  });

  it('tells of each run how it ended, by which model, at what price, and what the person made of it', async () => {
    const usage = { promptTokens: 5, completionTokens: 5, totalTokens: 10, cost: 0.25 };
    const error = { code: 'LLM_AUTH_FAILED', message: 'The key is refused.' };
    const id = await kept(
      says('one'),
      { type: 'model', model: 'elsewhere/n' },
      { type: 'usage', usage, attempts: 1, model: 'n', ms: 1 },
      { type: 'phase', phase: 'Failed', error },
      titled('Mine', 'person'),
      { type: 'pin', pinned: true },
      titled('The model’s'),
    );
    const listed = async () => {
      const [run] = await store.list();
      const { title, named, pinned, model, cost, error: end } = run!;
      return { title, named, pinned, model, cost, end };
    };
    const expected = { title: 'Mine', named: true, pinned: true, model: 'elsewhere/n', cost: 0.25, end: error };
    assert.deepEqual(await listed(), expected);
    await fs.rm(index());
    assert.deepEqual(await listed(), expected);
    const before = (await store.list())[0]!.updatedAt;
    await goOn(id, titled('', 'person'), { type: 'pin', pinned: false });
    const [after] = await store.list();
    assert.deepEqual([after!.title, after!.named, after!.pinned], ['one', undefined, undefined]);
    assert.equal(after!.updatedAt, before, 'nothing has happened in it');
  });

  it('counts a branch’s own price, not what was before it', async () => {
    const usage = { promptTokens: 5, completionTokens: 5, totalTokens: 10, cost: 0.25 };
    const paid: RunEventBody = { type: 'usage', usage, attempts: 1, model: 'n', ms: 1 };
    const id = await kept(says('one'), answers('1'), paid, rests);
    const branch = await store.fork(id, (await store.read(id)).seq);
    await goOn(branch, says('two'), answers('2'), paid, paid, rests);
    assert.deepEqual(
      (await store.list()).map(({ cost }) => cost),
      [0.5, 0.25],
    );
  });

  it('reads no journal that is as it was', async () => {
    const id = await flag();
    const journal = await fs.readFile(journalOf(id));
    const { atime, mtime } = await fs.stat(journalOf(id));
    await store.list();
    await fs.writeFile(
      journalOf(id),
      journal.map(() => 120),
    );
    await fs.utimes(journalOf(id), atime, mtime);
    assert.deepEqual(await found('json flag'), ['Add a --json flag to the CLI.']);
  });

  const harm: Record<string, (file: string) => Promise<void>> = {
    'is lost': (file) => fs.rm(file),
    'is empty': (file) => fs.writeFile(file, ''),
    'is something else': (file) => fs.writeFile(file, Buffer.alloc(5000, 7)),
    'is a folder': async (file) => {
      await fs.rm(file);
      await fs.mkdir(file);
    },
    'has a flipped bit': async (file) => {
      const bytes = await fs.readFile(file);
      bytes[bytes.indexOf('json')]! ^= 1;
      await fs.writeFile(file, bytes);
    },
    'is torn': async (file) => fs.truncate(file, (await fs.stat(file)).size - 7),
    'is another run’s': async (file) => {
      const [first, second] = (await fs.readFile(file, 'utf8')).split('\n');
      await fs.writeFile(file, `${first!.slice(0, 9)}${second!.slice(9)}\n`);
    },
    'names what it does not know': async (file) => {
      await fs.appendFile(file, '00000000 {"id":"run-nobody","title":"Nobody"}\tnobody\n');
    },
  };
  for (const [how, harms] of Object.entries(harm))
    it(`whose index ${how} says the same`, async () => {
      await flag();
      await café();
      await harms(index());
      assert.deepEqual(await titles(), ['The Café page', 'Add a --json flag to the CLI.']);
      assert.deepEqual(await found('json'), ['Add a --json flag to the CLI.']);
      store = new RunStore(folder);
      assert.deepEqual(await found('naive'), ['The Café page']);
      assert.deepEqual(await found('nobody'), []);
    });

  it('hears of what another window did, and of what is being said in this one', async () => {
    const id = await flag();
    await store.list();
    const other = new RunStore(folder);
    const open = await other.open(id);
    await add(open, says('and a --yaml one'));
    assert.deepEqual(await found('yaml'), ['Add a --json flag to the CLI.']);
    assert.deepEqual((await other.search('yaml')).length, 1);
    await add(open, says('and toml'));
    assert.equal((await other.search('toml')).length, 1, 'not on its way to the index yet');
    await open.close();
    assert.deepEqual(await found('toml yaml'), ['Add a --json flag to the CLI.']);
  });

  it('keeps nothing of a run that is deleted, and has it again when that comes back', async () => {
    const id = await flag();
    await café();
    const name = await store.delete(id);
    assert.doesNotMatch(await fs.readFile(index(), 'utf8'), /json/);
    assert.deepEqual(await found('json'), []);
    await store.deleted.restore(name);
    assert.deepEqual(await found('json'), ['Add a --json flag to the CLI.']);
  });

  it('lists a run of which nothing can be read with what is wrong with it', async () => {
    const id = await flag();
    await fs.writeFile(journalOf(id), 'not a journal');
    const [run] = await store.list();
    assert.match(run!.damaged!, /not the record of a run/);
    assert.equal((await store.search('json'))[0]?.run.id, id, 'by the title that it had');
  });

  it('does not grow for ever by runs that go on', async () => {
    const id = await kept(says('x'.repeat(150_000)), rests);
    for (let turn = 0; turn < 12; turn++) {
      await goOn(id, says(`turn ${turn}`), rests);
      await fs.appendFile(journalOf(id), ''); // looked at by its stamp alone
    }
    await fs.utimes(journalOf(id), 1, 1);
    await store.list();
    assert.ok((await fs.stat(index())).size < 1_000_000);
    assert.deepEqual((await store.search('turn 11')).length, 1);
  });

  it('finds a very long run by its beginning and its end', async () => {
    const long = Array.from({ length: 400 }, (_, n) => answers(`part-${n} ${'y'.repeat(1000)}`));
    await kept(says('alpha'), ...long, says('omega'), rests);
    for (const word of ['alpha', 'part-3 ', 'part-399', 'omega']) assert.equal((await found(word)).length, 1, word);
    assert.ok((await fs.stat(index())).size < 250_000);
  });

  it('can be asked where nothing can be written', async () => {
    await flag();
    await fs.rm(index());
    await fs.mkdir(index()); // whoever writes there fails
    assert.deepEqual(await found('json'), ['Add a --json flag to the CLI.']);
    assert.equal(existsSync(path.join(index(), 'x')), false);
  });
});
