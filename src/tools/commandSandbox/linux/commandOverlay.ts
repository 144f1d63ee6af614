// @invariant sandboxed-changes-wait: What a sandboxed command writes reaches the open folders after its end, and protected files after an approval.
import { readdir } from 'node:fs/promises';
import * as paths from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyOverlay } from '../applyOverlay.ts';
import type { SandboxQuestions, SandboxReport } from '../commandSandbox.ts';
import { type OverlayLayers, protectedEntries, readOverlayChanges } from '../overlayChanges.ts';
import { toText } from '../rawPaths.ts';
import {
  createVisibleNames,
  isOverlayReleased,
  type OverlayFolders,
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

interface CommandLayers {
  folder: string;
  overlays: readonly OverlayFolders[];
  /** Time of the start in milliseconds, by the clock of the disk. */
  since: number;
  /** Removes the folder. The result of a command does not wait for it. */
  remove(folder: string): Promise<void>;
}

/**
 * @param targets absolute real paths, in the order of the overlays
 */
export function createCommandOverlay(
  programs: SandboxPrograms,
  { folder, overlays, since, remove }: CommandLayers,
  targets: readonly Pick<OverlayLayers, 'target' | 'within'>[],
  mayKeep: SandboxQuestions['mayKeep'],
): CommandOverlay {
  const layers = targets.map((one, at) => ({ ...one, index: at, upper: overlays[at]!.upper }));
  const isOnly = targets.filter(({ within }) => within === 'workspace').length === 1;
  const nameOf = ({ target, within }: OverlayLayers, path: string) =>
    isOnly && within === 'workspace' ? path : paths.join(target, path);

  return {
    mounts: targets.map(({ target }, at) => ({ shown: target, merged: overlays[at]!.merged })),
    async keep(ignored, signal) {
      try {
        const empty = await Promise.all(layers.map(async ({ upper }) => (await readdir(upper)).length === 0));
        const written = layers.filter((_, at) => !empty[at]);
        for (const { index } of written) await waitForRelease(programs, folder, index);
        const all = await Promise.all(
          written.map((one) => {
            const visibleNames = createVisibleNames(programs, folder, one.index);
            return readOverlayChanges(one, { visibleNames, ignored, signal });
          }),
        );
        const asked = written.flatMap((one, at) =>
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
        for (const [at, one] of written.entries()) {
          const { entries, failed } = all[at]!;
          const applied = await applyOverlay(one, entries, since, () => isAllowed);
          report.conflicts.push(...applied.conflicts.map((path) => nameOf(one, path)));
          report.special.push(...applied.special.map((path) => nameOf(one, path)));
          for (const { path, code } of [...failed, ...applied.failed])
            report.failed.push(`${nameOf(one, path)} (${code})`);
        }
        return report;
      } finally {
        void remove(folder);
      }
    },
    discard: () => remove(folder),
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
