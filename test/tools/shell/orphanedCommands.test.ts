import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { RecordedCommandLine } from '../../../src/protocol/content/commandRecord.ts';
import { commandMarkerVariable } from '../../../src/tools/shell/environment.ts';
import { OrphanedCommands, processIdentity } from '../../../src/tools/shell/orphanedCommands.ts';
import { readProcessTable } from '../../../src/tools/shell/processTable.ts';
import { eventually } from '../../support/eventually.ts';

const commandOf = (line: string): RecordedCommandLine => ({ line, folder: '/w', marker: randomUUID() });

describe('a command that was left', () => {
  const children: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of children.splice(0)) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  }); // biome-ignore format: short
  /** As `shell.run` starts it, but for the output. */
  const run = async ({ line, marker }: RecordedCommandLine) => {
    const env = { PATH: process.env.PATH, [commandMarkerVariable]: marker };
    const child = spawn('/bin/sh', ['-c', line], { env, detached: true, stdio: 'ignore' });
    children.push(child);
    await once(child, 'spawn');
    return { child, identity: await processIdentity(child.pid!) };
  };
  const call = { runId: 'run-1', toolCallId: 'c1' };

  before(function () {
    if (process.platform !== 'linux') this.skip(); // elsewhere nothing carries its mark where one can see it
  });

  it('is found by its mark alone, when its process was not yet on record, and by its process when it has taken the mark off', async () => {
    const marked = commandOf('exec sleep 60');
    const { child } = await run(marked);
    const left = new OrphanedCommands();
    const has = ({ pid }: ChildProcess, found: string[] = []) => found.length === 1 && found[0]!.endsWith(` (${pid})`);
    assert.ok(has(child, await left.look({ ...call, command: marked })));

    const bare = commandOf('exec env -i sleep 60');
    const other = await run(bare);
    await eventually('it has taken it off', async () => (await left.look({ ...call, command: bare }))?.length === 0);
    assert.ok(has(other.child, await left.look({ ...call, command: bare, process: other.identity })));
  });

  it('is not taken for another process that has its number, nor after the machine was started again', async () => {
    const command = commandOf('true');
    const { identity } = await run(commandOf('exec env -i sleep 60'));
    const left = new OrphanedCommands();
    const look = (process: object) => left.look({ ...call, command, process: { ...identity!, ...process } });
    assert.deepEqual([await look({ began: '1' }), await look({ boot: 'another' })], [[], []]);
  });

  it('is ended whole: its children, what ignores being asked, and what left its group', async () => {
    const command = commandOf("trap '' TERM; (setsid sleep 60 &); sleep 60 & wait; sleep 60");
    const { identity } = await run(command);
    const left = new OrphanedCommands();
    const known = { ...call, command, process: identity };
    await eventually('all of it runs', async () => (await left.look(known))!.length >= 3);
    assert.deepEqual(await left.end(known), []);
    assert.deepEqual(await left.atWork(), []);
  });

  it('does not hold the editor that it has started, in which we are', async () => {
    const command = commandOf('');
    const script = `
      const { OrphanedCommands } = await import('./src/tools/shell/orphanedCommands.ts');
      console.log(JSON.stringify(await new OrphanedCommands().look(${JSON.stringify({ ...call, command })})));`;
    const env = { ...process.env, [commandMarkerVariable]: command.marker };
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], { env });
    children.push(child);
    let said = '';
    child.stdout.on('data', (text) => {
      said += text;
    });
    await once(child, 'close');
    assert.equal(said, '[]\n');
  });

  it('is the same command whatever its blanks, and only in the same folder', async () => {
    const command = commandOf('sleep   61 ');
    await run(command);
    const left = new OrphanedCommands();
    await left.look({ ...call, command });
    const twins = await Promise.all([
      left.twinOf('sleep 61', '/w'),
      left.twinOf('sleep 61', '/other'),
      left.twinOf('sleep 62', '/w'),
    ]);
    assert.deepEqual(twins.map((twin) => twin?.command.line), ['sleep   61 ', undefined, undefined]); // biome-ignore format: short
  });

  it('the table of another system tells the same of a process, where there is a ps', async () => {
    const table = await readProcessTable('darwin').catch(() => undefined);
    if (!table) return; // there is none here
    const [ours, own] = [table.get(process.pid), (await readProcessTable()).get(process.pid)];
    assert.deepEqual([ours?.parent, ours?.group], [own?.parent, own?.group]);
    assert.match(ours!.began, /^\w+ \w+ +\d+ [\d:]+ \d{4}$/);
  });
});
