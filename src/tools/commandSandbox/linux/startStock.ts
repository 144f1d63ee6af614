import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import * as paths from 'node:path';
import { removeCommandFolder } from './commandFolder.ts';
import type { SandboxPrograms } from './overlayNamespace.ts';
import { type PreparedStart, prepareStart, type StartLocation } from './preparedStart.ts';

/** Milliseconds for which a start waits for a command. */
const maxAge = 60_000;
const maxWaiting = 4;

interface WaitingStart {
  state: LocationState;
  start: Promise<PreparedStart>;
  expiry: NodeJS.Timeout;
}

interface LocationState {
  namespace: number;
  facts: string;
}

/** Prepares starts of commands: most of what a sandbox costs is then done before a command comes. */
export function createStartStock(store: string) {
  const waiting: WaitingStart[] = [];
  const removing = new Set<Promise<void>>();
  let isClosed = false;

  return {
    /** Returns a start that was prepared for the same location, or a new one. */
    async take(programs: SandboxPrograms, location: StartLocation): Promise<PreparedStart> {
      const state = await stateOf(location);
      const found = waiting.find((one) => isSame(one.state, state));
      // A folder was replaced, or something was mounted: another start for this network is out of date.
      for (const one of waiting.filter(({ state: other }) => other.namespace === state.namespace))
        if (one !== found) drop(one);
      if (found) {
        forget(found);
        const start = await found.start.catch(() => undefined);
        if (start?.isAlive()) return start;
        discard(found.start);
      }
      return create(programs, location);
    },
    /** Prepares a start for a next command at the same location. Never rejects. */
    async prepare(programs: SandboxPrograms, location: StartLocation): Promise<void> {
      const state = await stateOf(location).catch(() => undefined);
      if (isClosed || state === undefined || waiting.some((one) => isSame(one.state, state))) return;
      const start = create(programs, location);
      const own: WaitingStart = { state, start, expiry: setTimeout(() => drop(own), maxAge).unref() };
      start.catch(() => forget(own));
      waiting.push(own);
      if (waiting.length > maxWaiting) drop(waiting[0]!);
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

  function create(programs: SandboxPrograms, location: StartLocation): Promise<PreparedStart> {
    return prepareStart(programs, paths.join(store, `${process.pid}-${randomUUID().slice(0, 8)}`), location);
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

/** State of a location that a prepared start must still have: the same folders, and the same mounts of the machine. */
async function stateOf({ namespace, targets, layers, filter, hasInput }: StartLocation): Promise<LocationState> {
  const [mounts, ...folders] = await Promise.all([
    readFile('/proc/self/mountinfo', 'latin1'),
    ...targets.map(async (path) => {
      const { dev, ino } = await stat(path, { bigint: true });
      return [path, String(dev), String(ino), layers.get(path)];
    }),
  ]);
  return { namespace, facts: JSON.stringify([folders, filter, hasInput, mounts]) };
}

const isSame = (one: LocationState, other: LocationState): boolean =>
  one.namespace === other.namespace && one.facts === other.facts;
