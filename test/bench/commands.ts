// What a command that ends at once costs the extension host, with the processes of a desktop beside it, beside the same shell
// started by Node alone. Exits with 1 when other processes of the machine make it dearer.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { temporaryWorkspace } from '../support/workspace.ts';
import { conversation, data } from '../tools/conversation.ts';
import { compare, inMs, line } from './measure.ts';

const [commands, others] = [10, 300];
const workspace = await temporaryWorkspace({});
const talk = conversation(workspace);
async function ours(): Promise<void> {
  for (let at = 0; at < commands; at++) await data(talk.call('shell.run', { command: `echo ${at}` }));
}
async function raw(): Promise<void> {
  for (let at = 0; at < commands; at++) {
    const child = spawn('/bin/bash', ['-c', `echo ${at}`], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.resume();
    child.stderr.resume();
    await once(child, 'close');
  }
}

const idle: ChildProcess[] = [];
try {
  const few = await compare({ raw, ours }, 5);
  for (let at = 0; at < others; at++) idle.push(spawn('sleep', ['1000'], { stdio: 'ignore' }));
  const many = await compare({ raw, ours }, 5);
  for (const [name, { raw, ours }] of Object.entries({ 'a command': few, [`beside ${others} processes`]: many }) as [
    string,
    { raw: number; ours: number },
  ][]) {
    const own = (ours - raw) / commands;
    const dearer = own / ((few.ours! - few.raw!) / commands);
    line(
      name,
      { CPU: inMs(ours / commands), 'Node alone': inMs(raw / commands), more: `${dearer.toFixed(2)} ×` },
      dearer,
      1.5,
    );
  }
} finally {
  for (const child of idle) child.kill();
  workspace.cleanup();
}
process.exit();
