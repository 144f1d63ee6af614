import { readdir, stat } from 'node:fs/promises';
import * as paths from 'node:path';
import { onAbort, raceWithAbort } from '../../../protocol/values/abort.ts';
import { createConcurrencyLimiter } from '../../../protocol/values/concurrency.ts';
import type { SandboxAvailability } from '../../core/commandSandbox.ts';
import { ToolError } from '../../core/tool.ts';
import { findAllowableFolder } from '../allowedFolders.ts';
import { cacheVariables } from '../cacheVariables.ts';
import type { CommandLimits } from '../commandLimits.ts';
import type { CommandSandbox, SandboxedCommand, SandboxedCommandRequest } from '../commandSandbox.ts';
import { createConnectionAnswers } from '../connectionAnswers.ts';
import { removeCommandFolder } from './commandFolder.ts';
import { createCommandOverlay } from './commandOverlay.ts';
import { createCommandPlans, runtimeFolder } from './commandPlan.ts';
import { readDiskClock } from './diskClock.ts';
import { removeLeftovers } from './leftovers.ts';
import { createLimitedCommands } from './limits/limitedCommands.ts';
import type { PreparedStart } from './preparedStart.ts';
import { createRunNetworks } from './runNetworks.ts';
import { createStartStock } from './startStock.ts';
import { findSandboxPrograms, testSandbox } from './testSandbox.ts';

export interface LinuxSandboxOptions {
  /** Folder for overlays, caches and temporary files, absolute, on a disk that supports overlays. */
  store: string;
  /** Path of the built forwarder, `sandboxForwarder.cjs`. */
  forwarder: string;
  home: string;
  /** Folders that no command may read, absolute: storage of the editor and of its extensions. */
  hidden: readonly string[];
  /** Open folders for the test of the window, absolute and real. */
  folders(): Promise<readonly string[]>;
  log?(text: string): void;
  /** Limits in place of those of the machine. */
  limits?: Partial<CommandLimits>;
}

/**
 * Sandbox of Linux. Bubblewrap confines a command to namespaces of its own, without capabilities; the open folders are overlays, so that
 * what a command writes is aside until it has ended.
 */
export function createLinuxSandbox(options: LinuxSandboxOptions): CommandSandbox {
  const { store } = options;
  let tested: Promise<SandboxAvailability> | undefined;
  let isTested = false;
  let networks: ReturnType<typeof createRunNetworks> | undefined;
  let swept: Promise<void> | undefined;
  let limitCommand: ReturnType<typeof createLimitedCommands> | undefined;
  const plans = createCommandPlans(options);
  const starts = createStartStock(paths.join(store, 'commands'));
  // Changes of two commands are judged one after the other: each sees what the other one has added.
  const inTurn = createTurns();

  return {
    availability,
    async begin(request) {
      const available = await availability();
      isTested = true;
      if (!available.isAvailable) throw new ToolError('TOOL_EXEC_FAILED', 'The sandbox is not available.');
      return prepareAgain(request).catch((error: Error) => {
        throw setUpError(error);
      });
    },
    allowableFolder: async (path, folders) => findAllowableFolder(path, await plans.surroundings(folders)),
    async close() {
      await starts.close();
      await networks?.close();
    },
  };

  function availability(): Promise<SandboxAvailability> {
    tested ??= testSandbox(options, prepareAgain);
    return tested;
  }

  /** A file or socket that goes away while it is about to be hidden makes the first try fail. */
  function prepareAgain(request: SandboxedCommandRequest): Promise<SandboxedCommand> {
    return prepare(request).catch(() => prepare(request));
  }

  async function prepare(request: SandboxedCommandRequest): Promise<SandboxedCommand> {
    const { runId, folder, isLive = false, questions } = request;
    const programs = await findSandboxPrograms();
    networks ??= createRunNetworks({ bwrap: programs.bwrap, forwarder: options.forwarder, log: options.log });
    const connections = createConnectionAnswers(questions.mayConnect);
    await sweepOnce();
    limitCommand ??= createLimitedCommands({ folder: store, shell: programs.sh, limits: options.limits });
    const limited = await limitCommand();
    const network = await networks.join(runId, connections.answer).catch(async (error) => {
      await limited.remove();
      throw error;
    });
    let started: PreparedStart | undefined;
    try {
      const [since, plan] = await Promise.all([readDiskClock(store), plans.planFor(request, network.pid)]);
      const start = await starts.take(programs, plan);
      started = start;
      const { pid, processes } = start;
      const [first] = await Promise.all([processes.first(), network.services]);
      const overlay = createCommandOverlay(
        programs,
        { ...start, since, remove: starts.remove },
        plan.overlays,
        (changes) =>
          questions.mayKeep(changes).then((isKept) => {
            if (isKept) plans.forgetPaths(); // packages may have been installed
            return isKept;
          }),
      );
      let isOver = false;
      return {
        spawn(program, environment) {
          try {
            for (const one of [pid, first]) if (one !== undefined) limited.enter(one);
            const child = start.run({ program, environment, folder, writable: plan.writable });
            limited.started(processes.first(), () => void processes.end());
            return child;
          } catch (error) {
            throw setUpError(error as Error);
          }
        },
        ...(start.terminal && { terminal: start.terminal }),
        exceededLimit: limited.exceeded,
        network,
        environment: {
          ...network.environment,
          ...cacheVariables(plan.caches, { ...process.env, ...network.environment }),
          ...temporaryVariables,
        },
        async keep(signal) {
          isOver = true;
          network.release();
          limited.end();
          await processes.end();
          await limited.remove();
          const report = await inTurn(() => overlay.keep(plan.unseen, signal), signal);
          if (isTested && !isLive)
            // the test has no next command
            void starts.prepare(programs, network.pid, () => plans.planFor(request, network.pid));
          return {
            ...report,
            blocked: connections.blocked(),
            isWritable: (path) => isBelowAny(path, plan.writable, plan.readOnly),
          };
        },
        async discard() {
          if (isOver) return;
          isOver = true;
          network.release();
          limited.end();
          await start.end();
          await processes.end();
          await limited.remove();
          await overlay.discard();
        },
      };
    } catch (error) {
      network.release();
      await started?.end();
      await limited.remove();
      if (started) await removeCommandFolder(started.folder);
      throw error;
    }
  }

  /** Removes what commands of ended windows have left. Nothing of it was kept. */
  function sweepOnce(): Promise<void> {
    swept ??= (async () => {
      await removeOldFolders(paths.join(store, 'tmp'));
      await removeOldFolders(paths.join(store, 'layers'));
      await removeLeftovers(paths.join(store, 'commands'));
    })();
    return swept;
  }
}

const setUpError = (error: Error): ToolError =>
  error instanceof ToolError
    ? error
    : new ToolError('TOOL_EXEC_FAILED', `The sandbox could not be set up: ${error.message}`);

/** Tests if the nearest of the folders above a path is one of the first ones. */
function isBelowAny(path: string, folders: readonly string[], others: readonly string[]): boolean {
  const nearest = (all: readonly string[]) =>
    Math.max(-1, ...all.filter((one) => path === one || path.startsWith(`${one}/`)).map((one) => one.length));
  return nearest(folders) > nearest(others);
}

/** Variables of folders for temporary files and sockets: the user's may name ones that are read-only or hidden. */
const temporaryVariables = {
  ...Object.fromEntries(['TMPDIR', 'TMP', 'TEMP', 'TMUX_TMPDIR'].map((name) => [name, '/tmp'])),
  ...Object.fromEntries(['XDG_RUNTIME_DIR', 'SCREENDIR'].map((name) => [name, `/tmp/${runtimeFolder}`])),
};

/** Milliseconds after their last use until the temporary files of a run, and layers, are removed. */
const maxTemporaryAge = 7 * 24 * 3_600_000;

async function removeOldFolders(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch((): string[] => [])) {
    const folder = paths.join(parent, name);
    const stats = await stat(folder).catch(() => undefined);
    if (stats && Date.now() - stats.mtimeMs > maxTemporaryAge) await removeCommandFolder(folder);
  }
}

/** Runs work one after the other. Work that waits for its turn ends on abort, and is called all the same, to clean up. */
function createTurns() {
  const limit = createConcurrencyLimiter(1);
  return async <Value>(work: () => Promise<Value>, signal?: AbortSignal): Promise<Value> => {
    let hasBegun = false;
    const waiting = new AbortController();
    const stopListening = onAbort(signal, (reason) => !hasBegun && waiting.abort(reason));
    const done = limit(() => {
      hasBegun = true;
      return work();
    });
    return raceWithAbort(done, waiting.signal).finally(stopListening);
  };
}
