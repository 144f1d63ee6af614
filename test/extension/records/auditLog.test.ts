import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AuditLog } from '../../../src/extension/records/auditLog.ts';
import { RunStore } from '../../../src/runs/store.ts';
import { Conversation } from '../../engine/conversation.ts';
import { eventually } from '../../support/eventually.ts';
import { call } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';

const key = 'a-key-of-nobody-1234';
const secretWords = 'the plan of the century';
type Line = Record<string, unknown>;

/** The engine's store, watched by an audit, as `composeStorage` does it. */
class Audited extends Conversation {
  audit!: AuditLog;
  override readonly store: RunStore = new RunStore(this.folder, Date.now, 'here', (event) => this.audit.keep(event));
}

describe('the audit', () => {
  let talk: Audited;
  let folder: string;
  const made: string[] = [];
  const options = () => ({
    folder: () => folder,
    secrets: async () => [key],
    roots: () => [talk.workspace.root],
    about: { towpath: '1' },
  });
  const files = () => readdirSync(folder).map((name) => path.join(folder, name));
  const linesOf = (file: string) =>
    readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
  const lines = () => files().flatMap(linesOf);

  beforeEach(async () => {
    const place = mkdtempSync(path.join(tmpdir(), 'audit-'));
    made.push(place);
    folder = path.join(place, 'audit');
    talk = new Audited(await temporaryWorkspace({ 'a.txt': `one ${secretWords}\n` }), [
      { text: secretWords, calls: [call('fs.read', { path: 'a.txt' }, 'r')] },
      {
        calls: [
          call('fs.write', { path: 'b.txt', content: secretWords }, 'w'),
          call('shell.run', { command: `echo ${key}; exit 3` }, 's'),
        ],
      },
      { text: secretWords },
    ]);
    talk.build();
    talk.audit = new AuditLog(options());
    talk.told = (event) => talk.audit.onEvent(event);
  });
  afterEach(() => talk.end());
  after(() => {
    for (const place of made) rmSync(place, { recursive: true, force: true });
  });

  it('has each question, answer, effect and model call of a run, and no word of it', async () => {
    talk.answers = [{ decision: 'allow' }, { decision: 'deny', words: secretWords }];
    assert.equal((await talk.start(secretWords)).phase, 'WaitingUser');
    const text = readFileSync(files()[0]!, 'utf8');
    assert.ok(!text.match(/century|nobody/), text);
    const [begin, ...told] = lines();
    assert.equal(begin!.kind, 'begin');
    assert.equal(begin!.process, process.pid);
    const short = told.map(({ kind, status, tool, decision, what }) =>
      [kind, status, tool, decision, what].filter(Boolean).join(' '),
    );
    const isRead = (line: string) => line.includes('fs.read'); // begins while the model still writes
    assert.deepEqual(
      short.filter((line) => !isRead(line)),
      `run begins
run at-work
model-call begins
model-call counted
model-call answered
model-call begins
model-call counted
model-call answered
question Create b.txt
question Run a command
answer fs.write allow
answer shell.run deny
effect begins fs.write
effect done fs.write
effect failed shell.run
model-call begins
model-call counted
model-call answered
run rests`.split('\n'),
    );
    assert.deepEqual(short.filter(isRead), ['effect begins fs.read', 'effect done fs.read']);
    const { run } = told[0]!;
    assert.ok(told.every((line) => line.run === run && typeof line.at === 'string'));
  });

  it('asks no setting for a piece of a stream, of which there are thousands', () => {
    let asked = 0;
    const folder = () => {
      asked++;
      return '';
    };
    const audit = new AuditLog({ ...options(), folder });
    const place = { runId: talk.runId, seq: 1, at: 1 };
    audit.onEvent({ ...place, type: 'chunk', content: 'tick ' });
    audit.onEvent({ ...place, type: 'tool-output', toolCallId: 's', text: 'tock ' });
    audit.onEvent({ ...place, type: 'progress', text: 'Reading' });
    assert.equal(asked, 0);
  });

  it('of two windows at once: each in a file of its own, every line whole', async () => {
    const other = new AuditLog(options());
    const asks = (audit: AuditLog, nth: number) =>
      audit.call(`commit-${nth}`, { adapter: undefined as never, id: 'm/x' }, async () => ({
        success: true,
        attempts: 1,
        delayMs: 0,
      }));
    await Promise.all([...Array(20).keys()].flatMap((nth) => [asks(talk.audit, nth), asks(other, nth)]));
    assert.equal(files().length, 2);
    for (const file of files()) assert.equal(linesOf(file).length, 41);
  });

  const troubles: [name: string, spoil: () => void, says: RegExp][] = [
    ['a file is in its place', () => appendFileSync(folder, ''), /it is not a folder/],
    [
      'it is not an absolute path',
      () => {
        folder = 'audit';
      },
      /not an absolute path/,
    ],
    [
      'it is within what runs change',
      () => {
        folder = path.join(talk.workspace.root, 'audit');
      },
      /in an open folder/,
    ],
    ['it leads there', () => symlinkSync(talk.workspace.root, folder), /in an open folder/],
    [
      'the folder above is not there',
      () => {
        folder = path.join(folder, 'not', 'there');
      },
      /it does not exist/,
    ],
  ];
  for (const [name, spoil, says] of troubles)
    it(`stops the run before it asks anybody when ${name}`, async () => {
      spoil();
      const { phase, error } = await talk.start('hi');
      assert.equal(phase, 'Failed');
      assert.equal(error?.code, 'STORE_AUDIT');
      assert.match(error!.message, says);
      assert.match(error!.message, /towpath\.audit\.folder/);
      assert.equal(talk.client.requests.length, 0);
    });

  it('does nothing that it cannot write down, and goes on once it can', async () => {
    talk.told = (event) => {
      talk.audit.onEvent(event);
      if (event.type === 'question') for (const file of files()) appendFileSync(file, 'scribble\n');
    };
    const { error } = await talk.start('hi');
    assert.equal(error?.code, 'STORE_AUDIT');
    assert.match(error!.message, /another program changed its file/);
    assert.equal(talk.file('b.txt'), undefined, 'nothing was written');
    talk.told = (event) => talk.audit.onEvent(event);
    const rested = await talk.engine.continue({ runId: talk.runId });
    assert.equal(rested.phase, 'WaitingUser');
    assert.equal(files().length, 2, 'what was scribbled in is left as it is');
  });

  it('stops a run when its file is taken away', async () => {
    talk.told = (event) => {
      talk.audit.onEvent(event);
      if (event.type === 'request') rmSync(folder, { recursive: true, force: true });
    };
    const { error } = await talk.start('hi');
    assert.equal(error?.code, 'STORE_AUDIT');
  });

  it('writes nothing when it does not know which keys must not be there', async () => {
    talk.audit = new AuditLog({ ...options(), secrets: () => Promise.reject(new Error('locked')) });
    const { error } = await talk.start('hi');
    assert.match(error!.message, /the stored keys, which must not be in it, cannot be read/);
  });

  it('is not there unless it is asked for', async () => {
    folder = '';
    assert.equal((await talk.start('hi')).phase, 'WaitingUser');
  });

  it('lets no commit message go out unseen', async () => {
    mkdirSync(folder);
    appendFileSync(path.join(path.dirname(folder), 'x'), '');
    folder = path.join(path.dirname(folder), 'x');
    let asked = false;
    const ask = async () => {
      asked = true;
      return { success: true, attempts: 1, delayMs: 0 };
    };
    await assert.rejects(talk.audit.call('commit-message', { adapter: undefined as never, id: 'm/x' }, ask), /audit/);
    assert.equal(asked, false);
  });

  it('records a sign-in, which belongs to no run', async () => {
    const entry = {
      kind: 'effect',
      of: 'sign-in',
      status: 'signed-in',
      server: 'tracker',
      host: 'tracker.example',
    } as const;
    talk.audit.note(entry);
    await eventually('the line is written', () => existsSync(folder) && lines().some(({ of }) => of === 'sign-in'));
    const { kind, of, status, server, host, run } = lines().find(({ of }) => of === 'sign-in')!;
    assert.deepEqual({ kind, of, status, server, host, run }, { ...entry, run: undefined });
  });

  it('is for the person alone', async () => {
    await talk.start('hi');
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    for (const file of files()) assert.equal(statSync(file).mode & 0o777, 0o600);
  });
});
