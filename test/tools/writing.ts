/**
 * A Towpath that stops for good while it writes, at a step counted from 1 over everything that changes something in its
 * workspace: right before it, or (`half`, counted over what writes bytes) when half of it is written.
 * `node writing.ts <what> <before|half> <step>` kills itself there. `node writing.ts <what>` does so at each step, one workspace
 * after the other, and is not killed: what wants to change a stopped workspace waits for ever, so it stands as a kill leaves it.
 * Says of each, as a line of JSON, where it is and how it ended.
 */
import fs, { writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { undoableCallIds } from '../../src/runs/undoSteps.ts';
import { Conversation } from '../engine/conversation.ts';
import { temporaryWorkspace } from '../support/workspace.ts';
import { type Writing, writings } from './writings.ts';

export interface Stopped {
  folder: string;
  how: How;
  step: number;
  /** There was no such step: all was written. */
  done: boolean;
}

type How = 'before' | 'half';

/** What happens in one workspace. */
interface Watched {
  root: string;
  how: How;
  step: number;
  /** Steps count from now on. */
  armed: boolean;
  count: number;
  stopped: boolean;
  stop(): void;
}

const [, , what, onlyHow, onlyStep] = process.argv;
const { files, calls, undo, inPlace, prepare }: Writing = writings[what!]!;
const watched: Watched[] = [];
/** Of a workspace that stopped, and they are kept: one that is forgotten would be closed. */
const handles = new Map<FileHandle, Watched>();
const never = new Promise<never>(() => {});

await watchSteps();
if (onlyHow) await write(onlyHow as How, Number(onlyStep));
else
  for (const how of ['before', 'half'] as const)
    for (let step = 1, done = false; !done; step++) done = await write(how, step);
process.exit();

/** Gives whether there was no such step. */
async function write(how: How, step: number): Promise<boolean> {
  const script = [...calls.map((one) => ({ calls: [one] })), { text: '' }];
  const talk = new Conversation(await temporaryWorkspace(files), script);
  const { root } = talk.workspace;
  prepare?.((name) => `${root}/${name}`);
  const tell = (done: boolean) => {
    const stopped: Stopped = { folder: root, how, step, done };
    writeSync(1, `${JSON.stringify(stopped)}\n`);
    return done;
  };
  let one: Watched;
  const stopped = new Promise<boolean>((resolve) => {
    const stop = () => {
      tell(false);
      if (onlyHow) process.kill(process.pid, 'SIGKILL');
      resolve(false);
    };
    one = { root, how, step, armed: !undo, count: 0, stopped: false, stop };
    watched.push(one);
  });
  const work = async () => {
    await talk.start();
    one.armed = true;
    if (undo) {
      const toolCallIds = undoableCallIds(await talk.kept(), 'run').slice(-1);
      await talk.engine.undo(talk.runId, { toolCallIds }, talk.workspace, async () => 'all');
    }
    return tell(true);
  };
  return Promise.race([stopped, work()]);
}

/** Whose file it is; what is reached through an open folder is of that folder's workspace. */
function workspaceOf(path: unknown): Watched | undefined {
  const text = String(path);
  const held = /^\/proc\/self\/fd\/\d+/.exec(text)?.[0];
  const real = held ? fs.readlinkSync(held) : text;
  return watched.find(({ root }) => real.startsWith(root));
}

/** Whether the workspace stops here, or has stopped before. */
function stops(one: Watched | undefined, half?: () => void): boolean {
  if (!one || one.stopped) return one?.stopped ?? false;
  if (!one.armed || (one.how === 'half' && !half) || ++one.count !== one.step) return false;
  if (one.how === 'half') half!();
  one.stopped = true;
  one.stop();
  return true;
}

async function watchSteps(): Promise<void> {
  const { promises } = fs;
  const { open } = promises;
  const changesSomething = (flags: unknown) =>
    typeof flags === 'number' ? (flags & 3) !== 0 : flags !== undefined && flags !== 'r';
  const probe = await open(process.argv[1]!);
  const prototype = Object.getPrototypeOf(probe);
  await probe.close();
  promises.open = async (path, flags, mode) => {
    const one = workspaceOf(path);
    if (changesSomething(flags) && stops(one)) return never;
    const handle = await open(path, flags, mode);
    if (one) handles.set(handle, one);
    return handle;
  };
  for (const name of ['link', 'rename', 'rm', 'unlink', 'symlink'] as const) {
    const real = promises[name] as (...args: unknown[]) => Promise<void>;
    Object.assign(promises, {
      [name]: (...args: unknown[]) => {
        const ours = args.slice(0, 2).map(workspaceOf);
        if (stops(ours[0] ?? ours[1])) return never;
        if (inPlace && name === 'rename' && ours.every(Boolean))
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
      if (stops(handles.get(this), bytes instanceof Uint8Array ? half : undefined)) return never;
      return real.call(this, bytes, ...rest);
    };
  }
  syncBuiltinESMExports();
}
