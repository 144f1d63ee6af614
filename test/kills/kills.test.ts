import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Message } from '../../src/protocol/content/messages.ts';
import type { StoredEvent } from '../../src/protocol/run/events.ts';
import { type CallState, newRun, type Run } from '../../src/protocol/run/run.ts';
import { RunStore } from '../../src/runs/store.ts';
import { tries } from '../support/tries.ts';
import { caseOf, nameOf, Stage } from './case.ts';
import { CommandWitness } from './commandInvariants.ts';
import { CommandStage, commandCaseOf, nameOfCommand } from './commands.ts';
import { saidWrong, Witness } from './invariants.ts';
import { MemoryStage, memoryCaseOf, nameOfMemory } from './memory.ts';
import { approvals, diskFaults, type Operations, points, said } from './parts.ts';
import { lastWords, steps } from './script.ts';
import { nameOfTasks, TaskStage, taskCaseOf } from './tasks.ts';

/** The whole of it is `npm run kills`. */
// Holds record-before-effect.
describe('a window that is killed', () => {
  let stage: Stage;
  let operations: Operations;
  before(async () => {
    stage = await Stage.open();
    operations = await stage.allOperations();
  });
  after(() => stage.close());
  it('anywhere: nothing is half, lost, done twice or told wrong, and the run goes on', async () => {
    const cases = points(operations).filter((_, index) => index % 340 === 0);
    for (const one of cases) {
      const { name, breaches } = await stage.play(one);
      assert.deepEqual([name, breaches], [name, []]);
    }
  });

  it('in an undo: the next one finishes, and says nothing that is not so', async () => {
    const undos = points(operations).filter(({ job }) => job === 'undo');
    const wanted = tries(3, 60);
    for (const one of undos.filter((_, index) => index % Math.ceil(undos.length / wanted) === 1)) {
      const { name, breaches } = await stage.play(one);
      assert.deepEqual([name, breaches], [name, []]);
    }
  });

  it('while a person speaks: what waits is given once, as they want it in the end, or never', async () => {
    const cases = said(operations).filter((_, index) => index % 340 === 85);
    for (const one of cases) {
      const { name, breaches } = await stage.play(one);
      assert.deepEqual([name, breaches], [name, []]);
    }
  });

  it('while an approval waits: it is asked again before the model is, and done once', async () => {
    for (const one of approvals(7, 6).slice(0, tries(2, 6))) {
      const { name, breaches } = await stage.play(one);
      assert.deepEqual([name, breaches], [name, []]);
    }
  });

  it('or whose disk fails: the same', async () => {
    const cases = diskFaults(operations).filter((_, index) => index % 340 === 0);
    for (const one of cases) {
      const { name, breaches } = await stage.play(one);
      assert.deepEqual([name, breaches], [name, []]);
    }
  });
});

describe('a local model that is killed', () => {
  let stage: MemoryStage;
  before(async () => {
    stage = await MemoryStage.open();
  });
  after(() => stage.close());

  const names = ['memory/model/remembers/0ms', 'memory/editor/grows/5ms', 'memory/model/saves/0ms', 'memory/3:half'];
  for (const name of names.slice(0, tries(2, 4)))
    it(`${name}: what it had read is whole, or is not believed`, async () => {
      assert.deepEqual((await stage.play(memoryCaseOf(name))).breaches, []);
    });

  it('is known again by its name', () => {
    for (const name of names) assert.equal(nameOfMemory(memoryCaseOf(name)), name);
  });
});

describe('a window that is killed with tasks at work', () => {
  let stage: TaskStage;
  before(async () => {
    stage = await TaskStage.open();
  });
  after(() => stage.close());

  it('anywhere: each goes on where it was, nothing is done twice, and each result returns once', async () => {
    const points = await stage.points();
    const wanted = tries(4, 60);
    for (const one of points.filter((_, index) => index % Math.ceil(points.length / wanted) === 0)) {
      const { name, breaches } = await stage.play(one);
      assert.deepEqual([name, breaches], [name, []]);
    }
  });

  it('is known again by its name', async () => {
    for (const one of await stage.doubles(1, 10)) assert.deepEqual(taskCaseOf(nameOfTasks(one)), one);
  });
});

describe('a window that is killed at a command', () => {
  let stage: CommandStage;
  before(async function () {
    if (process.platform === 'win32') return this.skip();
    stage = await CommandStage.open();
  });
  after(() => stage?.close());

  const names = ['dirty/2/undo/70:half', 'dirty/0/run/step9+', 'dirty/1/run/90:before', 'dirty/2/run/step60'];
  for (const name of names.slice(0, tries(3, 4)).map((one) => `commands/${one}`))
    it(`${name}: no byte is lost, and Undo puts all of it back`, async () => {
      assert.deepEqual((await stage.play(commandCaseOf(name))).breaches, []);
    });

  it('is known again by its name', () => {
    for (const one of [...stage.drawn(1, 30), ...names.map((name) => commandCaseOf(`commands/${name}`))])
      assert.deepEqual(commandCaseOf(nameOfCommand(one)), one);
  });
});

describe('who looks at a killed command', () => {
  let folder: string;
  let witness: CommandWitness;
  const write = (name: string, content: string) => writeFileSync(path.join(folder, name), content);
  const seen = () => [...new Set(witness.breaches.map(({ invariant }) => invariant))];
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'towpath-witness-'));
    mkdirSync(path.join(folder, 'ws'));
    write('ws/a.txt', 'a');
    witness = new CommandWitness(folder);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('notices a change that is not in the record', () => {
    witness.afterBlow(false);
    assert.deepEqual(seen(), []);
    write('ws/a.txt', 'b');
    witness.afterBlow(false);
    assert.deepEqual(seen(), ['K3']);
  });

  /** The end of a run whose only call is recorded so, and whose Undo does nothing. */
  const atRest = async (call: Partial<CallState>) => {
    const state: CallState = { status: 'done', startedAt: 1, ok: false, code: 'TOOL_INTERRUPTED', ...call };
    const result = { toolCallId: 'one', content: 'It may have had its effect.', error: 'TOOL_INTERRUPTED' };
    const messages: Message[] = [
      { role: 'tool', content: '', toolResults: [result] },
      { role: 'assistant', content: lastWords },
    ];
    const run: Run = { ...newRun('run-1'), messages, calls: { one: state } };
    const store = new RunStore(path.join(folder, 'store'));
    const undo = async () => ({ left: [] });
    await witness.atRest({ store, run: async () => run, read: async () => run, undo }, 'run');
    return seen();
  };

  it('notices what was lost, and what is not named or said to be the command’s alone', async () => {
    rmSync(path.join(folder, 'ws/a.txt'));
    const changes = [{ path: 'a.txt', before: '1', after: null }];
    assert.deepEqual(await atRest({}), ['compared', 'undo', 'bytes']);
    witness = Object.assign(witness, { breaches: [] });
    assert.deepEqual(await atRest({ changes }), ['sameTime', 'undo', 'bytes', 'reasons']);
  });

  it('notices nothing where nothing happened', async () => {
    assert.deepEqual(await atRest({}), []);
  });
});

describe('who looks at a killed window', () => {
  let folder: string;
  let witness: Witness;
  const write = (file: string, content: string | Buffer) => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), content);
  };
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'towpath-witness-'));
    for (const { files } of steps)
      for (const [file, { before }] of Object.entries(files)) if (before) write(`ws/${file}`, before);
    witness = new Witness(folder, caseOf('work'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const seen = () => [...new Set(witness.breaches.map(({ invariant }) => invariant))];

  it('finds nothing where nothing happened', async () => {
    await witness.afterBlow([], { at: 1, how: 'before' });
    assert.deepEqual(seen(), []);
  });

  it('notices an event that was told and is not in the record', async () => {
    const told = { type: 'title', title: 'A', runId: 'run-1', seq: 1, at: 1 } as const;
    await witness.afterBlow([{ told }], { at: 1, how: 'before' });
    assert.deepEqual(seen(), ['K1']);
  });

  it('notices a change that is not in the record, and half a file', async () => {
    write('ws/plain.txt', steps.find(({ name }) => name === 'edit')!.files['plain.txt']!.after!);
    await witness.afterBlow([], { at: 1, how: 'before' });
    assert.deepEqual(seen(), ['K3']);
    write('ws/wide.txt', '');
    await witness.afterBlow([], { at: 1, how: 'before' });
    assert.deepEqual(seen(), ['K3', 'torn']);
  });

  it('notices a command that ran twice', async () => {
    write('ws/ran.txt', 'once\nonce\n');
    await witness.afterBlow([], { at: 1, how: 'before' });
    assert.ok(seen().includes('K2'));
  });

  it('notices what was taken back and said all the same, what was said twice, in old words, or never', async () => {
    const queued = (seq: number, text: string) => ({ type: 'queued', text, seq }) as const;
    const given = (seq: number, queued: number, content: string) =>
      ({ type: 'message', message: { role: 'user', content }, queued, seq }) as const;
    const cases: [events: object[], breaches: string[]][] = [
      [[queued(1, 'a'), given(2, 1, 'a')], []],
      [[queued(1, 'a'), { type: 'queued-change', queued: 1, text: 'b', when: 'done', seq: 2 }, given(3, 1, 'b')], []],
      [[queued(1, 'a'), { type: 'queued-remove', queued: 1, seq: 2 }], []],
      [
        [queued(1, 'a'), { type: 'queued-remove', queued: 1, seq: 2 }, given(3, 1, 'a')],
        ['“a” was taken back, and is said'],
      ],
      [[queued(1, 'a'), given(2, 1, 'a'), given(3, 1, 'a')], ['“a” is said 2 times']],
      [
        [queued(1, 'a'), { type: 'queued-change', queued: 1, text: 'b', when: 'done', seq: 2 }, given(3, 1, 'a')],
        ['“b” is said as “a”'],
      ],
      [[queued(1, 'a')], ['“a” is never said']],
    ];
    for (const [events, breaches] of cases)
      assert.deepEqual(
        saidWrong(events.map((event) => ({ runId: 'run-1', at: 1, ...event })) as StoredEvent[]),
        breaches,
      );
  });

  it('knows a case again by its name', () => {
    for (const name of ['work/37:half', 'undo/3:after', 'work/7:EIO!', 'say/4:after', 'work/9:gone/250ms', 'work/48kb'])
      assert.equal(nameOf(caseOf(name)), name);
  });
});
