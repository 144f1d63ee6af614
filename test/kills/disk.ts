import childProcess, { type SpawnOptions } from 'node:child_process';
import fs, { rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';

export const faults = ['ENOSPC', 'EIO', 'EROFS', 'EMFILE'] as const;
export type Fault = (typeof faults)[number];

/** What happens at one operation on the disk: the process is killed, the operation fails, or the store is gone. */
export interface Harm {
  /** Counted from 1. */
  at: number;
  how: 'before' | 'half' | 'after' | 'gone' | Fault;
  /** That disk fails from there on: the one with the store, or the one with the workspace. */
  forGood?: boolean;
}

/** Whether an operation, by its name, can be cut in the middle: the others are done or not. */
export const canBeHalf = (operation: string): boolean => /^(write|append)/.test(operation);

export const isOfStore = (operation: string): boolean => / store\//.test(operation);

/** Whether a disk fails so at this operation. */
export function canFail(operation: string, fault: Fault): boolean {
  if (fault === 'EMFILE') return /^(open|writeFile|appendFile|copyFile) /.test(operation);
  if (fault === 'ENOSPC') return /^(open|write|append|mkdir|link|symlink|copyFile|datasync|sync)/.test(operation);
  return true;
}

type Method = (this: unknown, ...args: unknown[]) => Promise<unknown>;
type Methods = Record<string, Method>;

/** The changing functions of `fs.promises`, and which argument is the path that is changed. */
const ofPaths: Record<string, number> = {
  open: 0,
  writeFile: 0,
  appendFile: 0,
  copyFile: 1,
  rename: 1,
  link: 1,
  symlink: 1,
  unlink: 0,
  rm: 0,
  rmdir: 0,
  mkdir: 0,
  chmod: 0,
  truncate: 0,
};
/** The same of the synchronous functions, as the recording of commands calls them in its worker. */
const ofPathsSync: Record<string, number> = { openSync: 0, renameSync: 1, mkdirSync: 0, rmSync: 0 };
const ofDescriptors = ['writeSync', 'fsyncSync'];
const ofHandles = ['write', 'writev', 'writeFile', 'appendFile', 'truncate', 'datasync', 'sync', 'chmod'];

/**
 * From now on every operation of this process that changes something in `folder` is counted, and comes to its harm when its
 * number has come. `heard` is told right before. Gives the names of the operations, as they come. With `started`, which gives the
 * options of a program, the starts of programs and the synchronous calls count, too.
 */
export async function harmDisk(
  folder: string,
  harm: Harm | undefined,
  heard: (operation: string) => void,
  started?: (options: SpawnOptions) => SpawnOptions,
) {
  const operations: string[] = [];
  const promises = fs.promises as unknown as Methods;
  const paths = new WeakMap<object, string>();
  const isOurs = (file: string) => file.startsWith(folder + path.sep) || file.startsWith('/proc/self/fd/');
  const nameOf = (file: string) => (isOurs(file) ? path.relative(folder, file).replace(/^(\.\.\/)+/, '') : undefined);

  /** Counts an operation. Gives how it goes on, after which nothing comes if the process is killed, or throws the fault of the disk. */
  const count = (name: string): 'whole' | 'half' | 'killed' | 'last' => {
    const at = operations.push(name);
    const isNow = at === harm?.at;
    const failsAgain = harm?.forGood && at > harm.at && isOfStore(name) === isOfStore(operations[harm.at - 1]!);
    if (!harm || !(isNow || failsAgain)) return 'whole';
    const { how } = harm;
    if (isNow) heard(name);
    if (how === 'gone') rmSync(path.join(folder, 'store'), { recursive: true, force: true });
    if (how === 'half' && canBeHalf(name)) return 'half';
    if (how === 'before' || how === 'half') return 'killed';
    if (how === 'after') return 'last';
    if (how === 'gone' || !canFail(name, how)) return 'whole';
    throw Object.assign(new Error(`${how}: as the test wants it`), { code: how, syscall: name.split(' ')[0] });
  };
  const die = () => process.kill(process.pid, 'SIGKILL');
  const operate = async (name: string, whole: () => Promise<unknown>, half: () => Promise<unknown>) => {
    const way = count(name);
    if (way === 'whole') return whole();
    if (way === 'half') await half();
    if (way === 'last') await whole();
    die();
    return new Promise(() => {});
  };
  const operateSync = (name: string, whole: () => unknown, half: () => unknown) => {
    const way = count(name);
    if (way === 'whole') return whole();
    if (way === 'half') half();
    if (way === 'last') whole();
    die();
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); // until the signal is there
  };

  for (const [method, index] of Object.entries(ofPaths)) {
    const original = promises[method]!;
    promises[method] = async function (...args) {
      const file = String(args[index]);
      const name = nameOf(file);
      const whole = () => original.apply(this, args);
      const isReading = method === 'open' && !isWriting(args[1]);
      const result =
        name === undefined || isReading
          ? await whole()
          : await operate(`${method} ${name}`, whole, () => original.apply(this, [args[0], halfOf(args[1]), args[2]]));
      if (method === 'open' && name !== undefined) paths.set(result as object, name);
      return result;
    };
  }
  if (started) {
    const synchronous = fs as unknown as Record<string, (...args: unknown[]) => unknown>;
    const descriptors = new Map<unknown, string>();
    for (const [method, index] of Object.entries(ofPathsSync)) {
      const original = synchronous[method]!;
      synchronous[method] = (...args) => {
        const name = nameOf(String(args[index]));
        const whole = () => original(...args);
        const isReading = method === 'openSync' && !isWriting(args[1]);
        if (name === undefined || isReading) return whole();
        const result = operateSync(`${method} ${name}`, whole, () => original(args[0], halfOf(args[1]), args[2]));
        if (method === 'openSync') descriptors.set(result, name);
        return result;
      };
    }
    for (const method of ofDescriptors) {
      const original = synchronous[method]!;
      synchronous[method] = (...args) => {
        const name = descriptors.get(args[0]);
        const whole = () => original(...args);
        if (name === undefined) return whole();
        return operateSync(`${method} ${name}`, whole, () => original(args[0], halfOf(args[1])));
      };
    }
    const { closeSync } = fs;
    synchronous.closeSync = (...args) => {
      descriptors.delete(args[0]);
      return closeSync(...(args as [number]));
    };
    const spawning = childProcess as unknown as Record<'spawn', (...args: unknown[]) => unknown>;
    const { spawn } = spawning;
    spawning.spawn = (program, args, options) => {
      const start = () => spawn(program, args, started(options as SpawnOptions));
      return operateSync(`spawn ${programOf(String(program), args as string[])}`, start, start);
    };
  }
  const handle = await fs.promises.open(process.execPath);
  const prototype = Object.getPrototypeOf(handle) as Methods;
  await handle.close();
  for (const method of ofHandles) {
    const original = prototype[method]!;
    prototype[method] = async function (...args) {
      const name = paths.get(this as object);
      const whole = () => original.apply(this, args);
      if (name === undefined) return whole();
      const halved =
        method === 'write' && typeof args[2] === 'number'
          ? [args[0], args[1], args[2] >> 1, args[3]]
          : [halfOf(args[0]), ...args.slice(1)]; // where it is written stays
      return operate(`${method} ${name}`, whole, () => original.apply(this, halved));
    };
  }
  syncBuiltinESMExports();
  return operations;
}

/** `git update-ref`, or the program alone. */
const programOf = (program: string, args: readonly string[]): string =>
  [path.basename(program), ...(args[args.indexOf('-C') + 2]?.match(/^[a-z]\S*$/) ?? [])].join(' ');

/** The first half of what is written; of anything else, itself. */
const halfOf = (data: unknown): unknown =>
  typeof data === 'string' || data instanceof Uint8Array ? data.slice(0, data.length >> 1) : data;

function isWriting(flags: unknown): boolean {
  if (typeof flags === 'number') return (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) !== 0;
  return typeof flags === 'string' && /[wa+]/.test(flags);
}
