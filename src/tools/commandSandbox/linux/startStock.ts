import { randomUUID } from 'node:crypto';
import { lstat, readFile } from 'node:fs/promises';
import * as paths from 'node:path';
import { removeCommandFolder } from './commandFolder.ts';
import type { SandboxPrograms } from './overlayNamespace.ts';
import { type PreparedStart, prepareStart, type StartPlan } from './preparedStart.ts';

/** Milliseconds for which a start waits for a command. */
const maxAge = 60_000;
const maxWaiting = 4;

interface WaitingStart {
  state: PlanState;
  start: Promise<PreparedStart>;
  expiry: NodeJS.Timeout;
}

interface PlanState {
  namespace: number;
  facts: string;
}

/** Prepares starts of commands: most of what a sandbox costs is then done before a command comes. */
export function createStartStock(store: string) {
  const waiting: WaitingStart[] = [];
  const preparing = new Map<number, Promise<void>>();
  const removing = new Set<Promise<void>>();
  let isClosed = false;

  return {
    /** Returns a start that was prepared for the same plan, or a new one. Its mounts are there. */
    async take(programs: SandboxPrograms, plan: StartPlan): Promise<PreparedStart> {
      await preparing.get(plan.namespace);
      const state = await stateOf(plan);
      const found = waiting.find((one) => isSame(one.state, state));
      // A folder was replaced, or something was mounted: another start for this network is out of date.
      for (const one of waiting.filter(({ state: other }) => other.namespace === state.namespace))
        if (one !== found) drop(one);
      if (found) {
        forget(found);
        const start = await found.start.catch(() => undefined);
        if (start?.isAlive() && (await isReady(start))) return start;
        discard(found.start);
      }
      const created = create(programs, plan);
      const start = await created;
      await start.ready().catch((error) => {
        discard(created);
        throw error;
      });
      return start;
    },
    /** Prepares a start for the next command in a namespace. A command that comes meanwhile waits for it. Never rejects. */
    prepare(programs: SandboxPrograms, namespace: number, planNext: () => Promise<StartPlan>): Promise<void> {
      const prepareOne = async () => {
        const plan = await planNext();
        const state = await stateOf(plan);
        if (isClosed || waiting.some((one) => isSame(one.state, state))) return;
        const start = create(programs, plan);
        const own: WaitingStart = { state, start, expiry: setTimeout(() => drop(own), maxAge).unref() };
        start.catch(() => forget(own));
        waiting.push(own);
        if (waiting.length > maxWaiting) drop(waiting[0]!);
      };
      const own = prepareOne()
        .catch(() => undefined) // the next command tries again
        .finally(() => preparing.get(namespace) === own && preparing.delete(namespace));
      preparing.set(namespace, own);
      return own;
    },
    /** Removes the folder of a start that has ended. Never rejects. */
    remove: (folder: string): Promise<void> => track(removeCommandFolder(folder)),
    /** Ends the starts that wait. Resolves when all folders are removed. */
    async close(): Promise<void> {
      isClosed = true;
      for (const one of [...waiting]) drop(one);
      await Promise.all(removing);
    },
  };

  function create(programs: SandboxPrograms, plan: StartPlan): Promise<PreparedStart> {
    return prepareStart(programs, paths.join(store, `${process.pid}-${randomUUID().slice(0, 8)}`), plan);
  }

  function forget(one: WaitingStart): void {
    clearTimeout(one.expiry);
    const at = waiting.indexOf(one);
    if (at >= 0) waiting.splice(at, 1);
  }

  function drop(one: WaitingStart): void {
    forget(one);
    discard(one.start);
  }

  function discard(start: Promise<PreparedStart>): void {
    const end = async (one: PreparedStart) => {
      await one.end();
      await removeCommandFolder(one.folder);
    };
    void track(start.then(end));
  }

  function track(work: Promise<void>): Promise<void> {
    const done = work.catch(() => undefined);
    removing.add(done);
    return done.finally(() => removing.delete(done));
  }
}

/**
 * State of a plan that a prepared start must still have: the same folders and mount points, and the same mounts of the machine. An overlay
 * goes on showing what was at the path of a mount point when it was mounted, so that the folders above count, too.
 */
async function stateOf({
  namespace,
  targets,
  layers,
  filter,
  hasInput,
  hasTerminal,
  options,
  mountPoints,
}: StartPlan): Promise<PlanState> {
  const words = options(targets.map((_, at) => ({ upper: `/${at}`, merged: `/${at}` })));
  const used = new Set(words);
  const points = mountPoints.filter((path) => used.has(path));
  const above = points.flatMap((path) => targets.flatMap((target) => foldersBetween(target, path)));
  const [mounts, ...identities] = await Promise.all([
    readFile('/proc/self/mountinfo', 'latin1'),
    ...[...new Set([...targets, ...above, ...points])].map(identityOf),
  ]);
  const added = targets.map((target) => layers.get(target));
  return { namespace, facts: JSON.stringify([identities, added, filter, hasInput, hasTerminal, words, mounts]) };
}

function foldersBetween(target: string, path: string): string[] {
  const folders: string[] = [];
  for (let at = paths.dirname(path); at.startsWith(`${target}/`); at = paths.dirname(at)) folders.push(at);
  return folders;
}

/** Facts that only one file has: its number is soon given to another one. */
async function identityOf(path: string): Promise<string[]> {
  const stats = await lstat(path, { bigint: true }).catch(() => undefined);
  return stats ? [path, ...[stats.dev, stats.ino, stats.birthtimeNs].map(String)] : [path];
}

const isReady = (start: PreparedStart): Promise<boolean> =>
  start.ready().then(
    () => true,
    () => false,
  );

const isSame = (one: PlanState, other: PlanState): boolean =>
  one.namespace === other.namespace && one.facts === other.facts;
