// @invariant sandboxed-changes-wait: What a sandboxed command writes reaches the open folders after its end, and protected files after an approval.
import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import * as paths from 'node:path';
import { applyOverlay } from '../applyOverlay.ts';
import type { SandboxQuestions, SandboxReport } from '../commandSandbox.ts';
import { type OverlayLayers, protectedEntries, readOverlayChanges } from '../overlayChanges.ts';
import { toText } from '../rawPaths.ts';
import { createOverlayFolders, createVisibleNames, type SandboxPrograms } from './overlayNamespace.ts';

type OverlayReport = Pick<SandboxReport, 'discarded' | 'conflicts' | 'special' | 'failed'>;

/** Overlays of one command, over folders of the workspace and Git folders outside of it. */
interface CommandOverlay {
  mounts: { shown: string; merged: string }[];
  /** @param ignored absolute paths that the command could not see */
  keep(ignored: ReadonlySet<string>): Promise<OverlayReport>;
  discard(): Promise<void>;
}

/**
 * @param folder new empty folder for the layers
 * @param targets absolute real paths
 */
export async function createCommandOverlay(
  programs: SandboxPrograms,
  folder: string,
  targets: readonly Pick<OverlayLayers, 'target' | 'within'>[],
  mayKeep: SandboxQuestions['mayKeep'],
): Promise<CommandOverlay> {
  const created = await createOverlayFolders(
    folder,
    targets.map(({ target }) => target),
  );
  const { ctimeMs: since } = await lstat(folder);
  const layers = targets.map((one, at) => ({ ...one, upper: created[at]!.upper }));
  const isOnly = targets.filter(({ within }) => within === 'workspace').length === 1;
  const nameOf = ({ target, within }: OverlayLayers, path: string) =>
    isOnly && within === 'workspace' ? path : paths.join(target, path);

  return {
    mounts: targets.map(({ target }, at) => ({ shown: target, merged: created[at]!.merged })),
    async keep(ignored) {
      try {
        const all = await Promise.all(
          layers.map((one, at) => readOverlayChanges(one, createVisibleNames(programs, folder, at), ignored)),
        );
        const asked = layers.flatMap((one, at) =>
          protectedEntries(all[at]!).map((entry) => ({
            path: nameOf(one, toText(entry.path)),
            reason: entry.protectedReason!,
          })),
        );
        const isAllowed = asked.length === 0 || (await mayKeep(asked));
        const report: OverlayReport = {
          discarded: isAllowed ? [] : asked.map(({ path }) => path),
          conflicts: [],
          special: [],
          failed: [],
        };
        for (const [at, one] of layers.entries()) {
          const applied = await applyOverlay(one, all[at]!, since, () => isAllowed);
          report.conflicts.push(...applied.conflicts.map((path) => nameOf(one, path)));
          report.special.push(...applied.special.map((path) => nameOf(one, path)));
          report.failed.push(...applied.failed.map(({ path, code }) => `${nameOf(one, path)} (${code})`));
        }
        return report;
      } finally {
        await removeCommandFolder(folder);
      }
    },
    discard: () => removeCommandFolder(folder),
  };
}

/** Removes the folder of a command whose processes have ended. The kernel and the command may have left folders without permissions. */
export async function removeCommandFolder(folder: string): Promise<void> {
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  await remove().catch(async () => {
    await openFolders(folder);
    await remove().catch(() => undefined); // removed with the leftovers of the next window
  });
}

async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700).catch(() => undefined);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await openFolders(paths.join(folder, entry.name));
}
