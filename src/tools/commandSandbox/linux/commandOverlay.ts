// @invariant sandboxed-changes-wait: What a sandboxed command writes reaches the open folders after its end, and protected files after an approval.
import { execFile } from 'node:child_process';
import { lstat, readdir, realpath, rm } from 'node:fs/promises';
import * as paths from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyOverlay } from '../applyOverlay.ts';
import type { SandboxQuestions, SandboxReport } from '../commandSandbox.ts';
import { type OverlayEntry, type OverlayLayers, protectedEntries, readOverlayChanges } from '../overlayChanges.ts';
import { toText } from '../rawPaths.ts';
import {
  createOverlayFolders,
  createVisibleNames,
  isOverlayReleased,
  type SandboxPrograms,
} from './overlayNamespace.ts';

type OverlayReport = Pick<SandboxReport, 'discarded' | 'conflicts' | 'special' | 'failed' | 'changed'>;

/**
 * Folder that gets an overlay; `shownAs` stands for it at the beginning of paths, instead of its real path. `isOutside`: an allowed folder
 * outside of the workspace.
 */
export interface OverlayTarget extends Omit<OverlayLayers, 'upper'> {
  shownAs?: string;
  isOutside?: true;
}

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
 */
export async function createCommandOverlay(
  programs: SandboxPrograms,
  folder: string,
  targets: readonly OverlayTarget[],
  mayKeep: SandboxQuestions['mayKeep'],
): Promise<CommandOverlay> {
  const created = await createOverlayFolders(
    folder,
    targets.map(({ target }) => target),
  );
  const { ctimeMs: since } = await lstat(folder);
  const layers = targets.map((one, at) => ({ ...one, upper: created[at]!.upper }));
  const nameOf = ({ target, shownAs }: OverlayTarget, path: string) => paths.join(shownAs ?? target, path);

  return {
    mounts: targets.map(({ target }, at) => ({ shown: target, merged: created[at]!.merged })),
    async keep(ignored, signal) {
      try {
        const lost = await findLostFolders(layers);
        for (const [at, one] of layers.entries())
          if (!lost.has(one) && (await readdir(one.upper)).length > 0) await waitForRelease(programs, folder, at);
        const all = await Promise.all(
          layers.map((one, at) => {
            const visibleNames = createVisibleNames(programs, folder, at);
            return lost.has(one) ? lostChanges : readOverlayChanges(one, { visibleNames, ignored, signal });
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
          changed: 0,
        };
        const gone = await findLostFolders(layers); // the answer may have taken long
        for (const [at, one] of layers.entries()) {
          const { entries, failed } = gone.has(one) ? lostChanges : all[at]!;
          report.changed += countFiles(entries, isAllowed);
          const applied = gone.has(one) ? lostChanges : await applyOverlay(one, entries, since, () => isAllowed);
          report.conflicts.push(...applied.conflicts.map((path) => nameOf(one, path)));
          report.special.push(...applied.special.map((path) => nameOf(one, path)));
          for (const { path, code } of new Set([...failed, ...applied.failed]))
            report.failed.push(`${nameOf(one, path)} (${code})`);
        }
        report.changed -= report.conflicts.length + report.special.length + report.failed.length;
        return { ...report, changed: Math.max(0, report.changed) };
      } finally {
        await removeCommandFolder(folder);
      }
    },
    discard: () => removeCommandFolder(folder),
  };
}

/** Allowed folders that are gone by now, or a link: nothing is applied to them. */
async function findLostFolders<Target extends OverlayTarget>(targets: readonly Target[]): Promise<Set<Target>> {
  const lost = await Promise.all(
    targets.map(async (one) => {
      const real = one.isOutside ? await realpath(one.target).catch(() => undefined) : one.target;
      return real === one.target ? [] : [one];
    }),
  );
  return new Set(lost.flat());
}

const lostChanges = { entries: [], conflicts: [], special: [], failed: [{ path: '', code: 'ENOENT' }] };

const countFiles = (entries: readonly OverlayEntry[], isAllowed: boolean): number =>
  entries
    .filter(({ protectedReason }) => isAllowed || !protectedReason)
    .reduce((sum, { kind, children }) => sum + (kind === 'folder' ? countFiles(children ?? [], isAllowed) : 1), 0);

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
