// @invariant sandboxed-changes-wait: What a sandboxed command writes reaches the open folders after its end, and protected files after an approval.
import { readdir, realpath } from 'node:fs/promises';
import * as paths from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyOverlay } from '../applyOverlay.ts';
import type { SandboxQuestions, SandboxReport } from '../commandSandbox.ts';
import { type OverlayEntry, type OverlayLayers, protectedEntries, readOverlayChanges } from '../overlayChanges.ts';
import { toText } from '../rawPaths.ts';
import {
  createVisibleNames,
  isOverlayReleased,
  type OverlayFolders,
  type SandboxPrograms,
} from './overlayNamespace.ts';

type OverlayReport = Pick<SandboxReport, 'discarded' | 'conflicts' | 'special' | 'failed' | 'changed'>;

/** Folder that gets an overlay; `shownAs` stands for it at the beginning of paths, instead of its real path. */
export interface OverlayTarget extends Omit<OverlayLayers, 'upper'> {
  shownAs?: string;
}

/** Overlays of one command, over folders of the workspace and Git folders outside of it. */
interface CommandOverlay {
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

/** Returns where overlays are mounted, and where commands see them. */
export const mountsOf = (
  targets: readonly OverlayTarget[],
  overlays: readonly OverlayFolders[],
): { shown: string; merged: string }[] =>
  targets.map(({ target }, at) => ({ shown: target, merged: overlays[at]!.merged }));

/**
 * @param targets absolute real paths, in the order of the overlays
 */
export function createCommandOverlay(
  programs: SandboxPrograms,
  { folder, overlays, since, remove }: CommandLayers,
  targets: readonly OverlayTarget[],
  mayKeep: SandboxQuestions['mayKeep'],
): CommandOverlay {
  const layers = targets.map((one, at) => ({ ...one, index: at, upper: overlays[at]!.upper }));
  const nameOf = ({ target, shownAs }: OverlayTarget, path: string) => paths.join(shownAs ?? target, path);

  return {
    async keep(ignored, signal) {
      try {
        const empty = await Promise.all(layers.map(async ({ upper }) => (await readdir(upper)).length === 0));
        const written = layers.filter((_, at) => !empty[at]);
        const lost = await findLostFolders(written);
        for (const one of written) if (!lost.has(one)) await waitForRelease(programs, folder, one.index);
        const all = await Promise.all(
          written.map((one) => {
            const visibleNames = createVisibleNames(programs, folder, one.index);
            return lost.has(one) ? lostChanges : readOverlayChanges(one, { visibleNames, ignored, signal });
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
          changed: 0,
        };
        const gone = await findLostFolders(written); // the answer may have taken long
        for (const [at, one] of written.entries()) {
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
        void remove(folder);
      }
    },
    discard: () => remove(folder),
  };
}

/** Folders that are gone by now, or behind a link that has taken the place of a folder above: nothing is applied to them. */
async function findLostFolders<Target extends OverlayTarget>(targets: readonly Target[]): Promise<Set<Target>> {
  const lost = await Promise.all(
    targets.map(async (one) => {
      const real = await realpath(one.target).catch(() => undefined);
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
