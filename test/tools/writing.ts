/**
 * A Towpath that is killed while it writes: `node writing.ts <what> <step> <before|half>`. Says its workspace's folder and kills
 * itself right before the step (counted from 1 over everything that changes something there), or when half of it is written
 * (counted over what writes bytes). Says `done` when there was no such step.
 */
import fs, { writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { undoable } from '../../src/runs/undo.ts';
import { Conversation } from '../engine/conversation.ts';
import { temporaryWorkspace } from '../support/workspace.ts';
import { type Writing, writings } from './writings.ts';

const [, , what, step, how] = process.argv;
const { files, calls, undo, inPlace, prepare }: Writing = writings[what!]!;
const talk = new Conversation(await temporaryWorkspace(files), [
  ...calls.map((one) => ({ calls: [one] })),
  { text: '' },
]);
prepare?.((name) => `${talk.workspace.root}/${name}`);
writeSync(1, `${talk.workspace.root}\n`);
await watchSteps();
let armed = !undo;
await talk.start();
armed = true;
if (undo) {
  const toolCallIds = undoable(await talk.kept(), 'run').slice(-1);
  await talk.engine.undo(talk.runId, { toolCallIds }, talk.workspace, async () => 'all');
}
writeSync(1, 'done\n');
process.exit();

async function watchSteps(): Promise<void> {
  const { promises } = fs;
  const ours = new WeakSet<FileHandle>();
  const isOurs = (path: unknown) =>
    /^\/proc\/self\/fd\//.test(String(path)) || String(path).startsWith(talk.workspace.root);
  let count = 0;
  const next = (half?: () => void) => {
    if (!armed || (how === 'half' && !half) || ++count !== Number(step)) return;
    if (how === 'half') half!();
    process.kill(process.pid, 'SIGKILL');
  };
  const { open } = promises;
  const changesSomething = (flags: unknown) =>
    typeof flags === 'number' ? (flags & 3) !== 0 : flags !== undefined && flags !== 'r';
  const probe = await open(process.argv[1]!);
  const prototype = Object.getPrototypeOf(probe);
  await probe.close();
  promises.open = async (path, flags, mode) => {
    if (isOurs(path) && changesSomething(flags)) next();
    const handle = await open(path, flags, mode);
    if (isOurs(path)) ours.add(handle);
    return handle;
  };
  for (const name of ['link', 'rename', 'rm', 'unlink', 'symlink'] as const) {
    const real = promises[name] as (...args: unknown[]) => Promise<void>;
    Object.assign(promises, {
      [name]: (...args: unknown[]) => {
        if (args.slice(0, 2).some(isOurs)) next();
        if (inPlace && name === 'rename' && args.every(isOurs))
          return Promise.reject(Object.assign(new Error('busy'), { code: 'EBUSY' }));
        return real(...args);
      },
    });
  }
  for (const name of ['writeFile', 'write', 'truncate', 'sync', 'chmod', 'chown']) {
    const real = prototype[name];
    prototype[name] = function (this: FileHandle, bytes: unknown, ...rest: unknown[]) {
      const half = () => {
        const some = (bytes as Buffer).subarray(0, (bytes as Buffer).length / 2);
        fs.writeSync(this.fd, some, 0, some.length, name === 'write' ? (rest[2] as number) : null);
      };
      if (ours.has(this)) next(bytes instanceof Uint8Array ? half : undefined);
      return real.call(this, bytes, ...rest);
    };
  }
  syncBuiltinESMExports();
}
