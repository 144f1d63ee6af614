// @invariant sandboxed-changes-wait: What a sandboxed command writes reaches the open folders after its end, and protected files after an approval.
import { execFile } from 'node:child_process';
import { lstat, readdir, rm } from 'node:fs/promises';
import * as paths from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyOverlay } from '../applyOverlay.ts';
import type { SandboxQuestions, SandboxReport } from '../commandSandbox.ts';
import { type OverlayLayers, protectedEntries, readOverlayChanges } from '../overlayChanges.ts';
import { toText } from '../rawPaths.ts';
import {
  createOverlayFolders,
  createVisibleNames,
  isOverlayReleased,
  type SandboxPrograms,
} from './overlayNamespace.ts';

type OverlayReport = Pick<SandboxReport, 'discarded' | 'conflicts' | 'special' | 'failed'>;

/** Overlays of one command, over folders of the workspace and Git folders outside of it. */
interface CommandOverlay {
  mounts: { shown: string; merged: string }[];
  /** @param ignored absolute paths that the command could not see */
  keep(ignored: ReadonlySet<string>, signal?: AbortSignal): Promise<OverlayReport>;
  discard(): Promise<void>;
}

/**
 * @param folder new empty folder for the layers
 * @param targets absolute real paths
 * @param added for targets, folders whose contents the command sees in addition
 */
export async function createCommandOverlay(
  programs: SandboxPrograms,
  folder: string,
  targets: readonly Pick<OverlayLayers, 'target' | 'within'>[],
  added: ReadonlyMap<string, string>,
  mayKeep: SandboxQuestions['mayKeep'],
): Promise<CommandOverlay> {
  const created = await createOverlayFolders(
    folder,
    targets.map(({ target }) => target),
    added,
  );
  const { ctimeMs: since } = await lstat(folder);
  const layers = targets.map((one, at) => ({ ...one, upper: created[at]!.upper }));
  const isOnly = targets.filter(({ within }) => within === 'workspace').length === 1;
  const nameOf = ({ target, within }: OverlayLayers, path: string) =>
    isOnly && within === 'workspace' ? path : paths.join(target, path);

  return {
    mounts: targets.map(({ target }, at) => ({ shown: target, merged: created[at]!.merged })),
    async keep(ignored, signal) {
      try {
        for (const [at, { upper }] of layers.entries())
          if ((await readdir(upper)).length > 0) await waitForRelease(programs, folder, at);
        const all = await Promise.all(
          layers.map((one, at) => {
            const visibleNames = createVisibleNames(programs, folder, at);
            return readOverlayChanges(one, { visibleNames, ignored, signal });
          }),
        );
        const asked = layers.flatMap((one, at) =>
          protectedEntries(all[at]!.entries).map((entry) => ({
            path: nameOf(one, toText(entry.path)),
            reason: entry.protectedReason!,
          })),
        );
        const isAllowed = asked.length === 0 || (await mayKeep(asked));
        signal?.throwIfAborted();
        const report: OverlayReport = {
          discarded: isAllowed ? [] : asked.map(({ path }) => path),
          conflicts: [],
          special: [],
          failed: [],
        };
        for (const [at, one] of layers.entries()) {
          const { entries, failed } = all[at]!;
          const applied = await applyOverlay(one, entries, since, () => isAllowed);
          report.conflicts.push(...applied.conflicts.map((path) => nameOf(one, path)));
          report.special.push(...applied.special.map((path) => nameOf(one, path)));
          for (const { path, code } of [...failed, ...applied.failed])
            report.failed.push(`${nameOf(one, path)} (${code})`);
        }
        return report;
      } finally {
        await removeCommandFolder(folder);
      }
    },
    discard: () => removeCommandFolder(folder),
  };
}

/** Milliseconds for which another command may use files of a command that has ended. */
const maxReleaseWait = 2000;

async function waitForRelease(programs: SandboxPrograms, folder: string, index: number): Promise<void> {
  const deadline = Date.now() + maxReleaseWait;
  for (let wait = 2; !(await isOverlayReleased(programs, folder, index)); wait *= 2) {
    if (Date.now() > deadline) throw new Error('another command still uses files of this one');
    await sleep(wait);
  }
}

/** Removes the folder of a command whose processes have ended. The kernel and the command may have left folders without permissions. */
export async function removeCommandFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(async () => {
    // Programs that go from folder to folder know no longest path.
    await run('chmod', ['-R', 'u+rwx', folder]);
    await run('rm', ['-rf', folder]);
  });
}

const run = (program: string, args: readonly string[]): Promise<void> =>
  new Promise((resolve) => {
    execFile(program, args, () => resolve()); // what is left is removed in the next window
  });
