import type { Stats } from 'node:fs';
import { chmod, lstat, readdir } from 'node:fs/promises';
import type { LocalizedMessage } from '../../protocol/text/l10n.ts';
import { mapLimit } from '../../protocol/values/concurrency.ts';
import { openRegularFile } from '../sandbox/regularFile.ts';
import { isSafeGitHead, isSafeGitIndex } from './gitContents.ts';
import {
  type ChangeKind,
  isLastingObject,
  protectedChangeReason,
  repositoryReason,
  segmentsInGit,
} from './protectedChanges.ts';
import { joinRaw, type RawPath, toFilePath, toRawPath, toText } from './rawPaths.ts';

/** Overlay of one folder after a command: `upper` holds what the command wrote, `target` is the real folder. */
export interface OverlayLayers {
  upper: string;
  target: string;
  within: 'workspace' | 'git';
  /** Path of the target below its open folder; empty for the open folder itself. */
  segments: readonly string[];
}

/**
 * Entry that a command has written or removed. `isWhole`: a new folder without protected, linked or special files, which can be moved at
 * once. `isCopied`: a file with other names, or with permissions to run as another user, whose content is copied.
 */
export interface OverlayEntry {
  name: RawPath;
  /** Path below the target. */
  path: RawPath;
  kind: ChangeKind;
  mode: number;
  protectedReason?: LocalizedMessage;
  children?: OverlayEntry[];
  isWhole?: boolean;
  isCopied?: boolean;
  isUnread?: boolean;
}

/** `failed`: paths below the target that could not be read, with the code of the system. */
interface OverlayChanges {
  entries: OverlayEntry[];
  failed: FailedPath[];
}

export interface FailedPath {
  path: string;
  code: string;
}

/** Returns, for folders of the overlay (relative paths), the names that a command last saw in them. */
export type VisibleNames = (folders: readonly RawPath[]) => Promise<ReadonlyMap<RawPath, ReadonlySet<RawPath>>>;

interface OverlayReading {
  visibleNames: VisibleNames;
  /** Absolute paths that the command could not see, whose entries in the overlay are mount points. */
  ignored?: ReadonlySet<string>;
  signal?: AbortSignal;
}

interface Place {
  segments: readonly RawPath[];
  /** The path is in both layers. */
  isMerged: boolean;
  /** The folder is below a repository without the name `.git`. */
  inRepository: boolean;
}

/** Entries that are read at the same time in one folder. */
const maxAtOnce = 16;

/**
 * Returns what a command has changed in an overlay. The kernel marks a folder that was removed and created again in a way that Node cannot
 * read: `visibleNames` tells which names of the target the command no longer saw in a folder that both layers have. Rejects on abort.
 */
export async function readOverlayChanges(
  { upper, target, within, segments: above }: OverlayLayers,
  { visibleNames, ignored = new Set(), signal }: OverlayReading,
): Promise<OverlayChanges> {
  const [own, real] = [toRawPath(upper), toRawPath(target)];
  const failed: FailedPath[] = [];
  const partial: { folder: RawPath; entries: OverlayEntry[]; hidden: RawPath[]; inRepository: boolean }[] = [];
  const { dev } = await lstat(target);
  const entries = await readFolder({ segments: [], isMerged: true, inRepository: false });
  const shown = partial.length === 0 ? new Map() : await visibleNames(partial.map(({ folder }) => folder));
  for (const { folder, entries, hidden, inRepository } of partial) {
    const names = shown.get(folder) as ReadonlySet<RawPath> | undefined;
    for (const name of hidden)
      if (names && !names.has(name)) entries.push(await removal([...folder.split('/'), name], inRepository));
  }
  return { entries, failed };

  async function readFolder({ segments, isMerged, inRepository }: Place): Promise<OverlayEntry[]> {
    signal?.throwIfAborted();
    const written = await readNames(joinRaw(own, ...segments));
    const below = isMerged ? await readNames(joinRaw(real, ...segments)).catch(() => []) : [];
    const isRepository = inRepository || completesRepository([...written, ...below], segments);
    const existing = new Set(below);
    const read = async (name: RawPath): Promise<OverlayEntry[]> => {
      const path = [...segments, name];
      if (ignored.has(toText(joinRaw(real, ...path)))) return [];
      try {
        const entry = await readEntry({ segments: path, isMerged: existing.has(name), inRepository: isRepository });
        return isLeftoverLock(entry) || (entry.protectedReason && (await isUnchanged(entry))) ? [] : [entry];
      } catch (error) {
        signal?.throwIfAborted();
        failed.push({ path: shortened(toText(path.join('/'))), code: codeOf(error) });
        return [{ name, path: path.join('/'), kind: 'special', mode: 0, isUnread: true }]; // what is in it is not known
      }
    };
    const entries = (await mapLimit(written, maxAtOnce, read)).flat();
    const names = new Set(written);
    const hidden = below.filter((name) => !names.has(name));
    // The open folder itself cannot have been removed.
    if (hidden.length > 0 && segments.length > 0 && (await isOnSameDisk(segments)))
      partial.push({ folder: segments.join('/'), entries, hidden, inRepository: isRepository });
    return entries;
  }

  async function readEntry({ segments, isMerged, inRepository }: Place): Promise<OverlayEntry> {
    const stats = await lstat(toFilePath(joinRaw(own, ...segments)));
    const before = isMerged ? await statsOrMissing(joinRaw(real, ...segments)) : undefined;
    if (stats.isCharacterDevice() && stats.rdev === 0) return removal(segments, inRepository);
    const mode = stats.mode & 0o777;
    const named = { name: segments.at(-1)!, path: segments.join('/'), mode };
    const isSameFolder = stats.isDirectory() && before?.isDirectory() === true;
    const replaced = !isSameFolder && before?.isDirectory() ? await reasonBelow(segments, inRepository) : undefined;
    const kind = kindOf(stats);
    if (kind === 'folder') {
      await openFolder(joinRaw(own, ...segments), mode);
      const isProtected = isSameFolder ? undefined : (reasonOf(segments, inRepository, kind) ?? replaced);
      const children = await readFolder({ segments, isMerged: isSameFolder, inRepository });
      const isWhole = !before && !isProtected && children.every(isPlain);
      return { ...named, kind, children, isWhole, ...(isProtected && { protectedReason: isProtected }) };
    }
    const isEmpty = kind === 'file' && stats.size === 0 && (before?.size ?? 0) === 0;
    const reason =
      reasonOf(segments, inRepository, kind, isEmpty) ??
      replaced ??
      (await contentReason(segments, kind, before !== undefined));
    const isCopied = kind === 'file' && (stats.nlink > 1 || (stats.mode & 0o6000) !== 0);
    return { ...named, kind, ...(isCopied && { isCopied }), ...(reason && { protectedReason: reason }) };
  }

  async function removal(segments: readonly RawPath[], inRepository: boolean): Promise<OverlayEntry> {
    const named = { name: segments.at(-1)!, path: segments.join('/'), kind: 'removed' as const, mode: 0 };
    const reason =
      reasonOf(segments, inRepository, 'removed', await hasNoContent(segments)) ??
      (await reasonBelow(segments, inRepository));
    return { ...named, ...(reason && { protectedReason: reason }) };
  }

  /** Returns the reason of anything protected in a real folder that goes away. */
  async function reasonBelow(
    segments: readonly RawPath[],
    inRepository: boolean,
  ): Promise<LocalizedMessage | undefined> {
    signal?.throwIfAborted();
    const folder = toFilePath(joinRaw(real, ...segments));
    const entries = await readdir(folder, { encoding: 'latin1', withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = [...segments, entry.name];
      const reason =
        reasonOf(path, inRepository, 'removed', await hasNoContent(path)) ??
        (entry.isDirectory() ? await reasonBelow(path, inRepository) : undefined);
      if (reason) return reason;
    }
    return undefined;
  }

  function reasonOf(
    segments: readonly RawPath[],
    inRepository: boolean,
    kind: ChangeKind,
    isWithoutContent = kind === 'folder',
  ): LocalizedMessage | undefined {
    if (inRepository) return repositoryReason;
    const names = [...above, ...segments.map(toText)];
    if (within === 'workspace' && names.at(-1) === '.git') return repositoryReason;
    return protectedChangeReason(names, within, kind, isWithoutContent);
  }

  /** Returns the reason if a file of Git has a content that Git itself does not write. */
  async function contentReason(
    segments: readonly RawPath[],
    kind: ChangeKind,
    exists: boolean,
  ): Promise<LocalizedMessage | undefined> {
    const inGit = segmentsInGit(segments.map(toText), within);
    if (kind !== 'file' || inGit === undefined || inGit.length === 0) return undefined;
    if (isLastingObject(inGit)) return exists ? repositoryReason : undefined; // asked about unless it is unchanged
    if (/^(?:refs|logs|objects)$/.test(inGit[0]!)) return undefined;
    const file = joinRaw(own, ...segments);
    const name = inGit.at(-1);
    const isSafe =
      name === 'index'
        ? await isSafeGitIndex(toText(joinRaw(real, ...segments.slice(0, -1))), toText(file))
        : name !== 'HEAD' || inGit.at(-2) === 'logs' || isSafeGitHead(String(await readContent(file)));
    return isSafe ? undefined : repositoryReason;
  }

  /** Tests for a real folder, whose entries are looked at by themselves, or an empty file. */
  async function hasNoContent(segments: readonly RawPath[]): Promise<boolean> {
    const stats = await statsOrMissing(joinRaw(real, ...segments));
    return stats?.isDirectory() === true || (stats?.isFile() === true && stats.size === 0);
  }

  // A lock belongs to a process, and all processes of the command have ended.
  function isLeftoverLock({ path, kind }: OverlayEntry): boolean {
    return kind === 'file' && path.endsWith('.lock') && segmentsInGit(toText(path).split('/'), within) !== undefined;
  }

  // Git takes a folder with these names for a repository, and runs programs that its configuration names.
  function completesRepository(names: readonly RawPath[], segments: readonly RawPath[]): boolean {
    if (within === 'git' || segments.some((segment) => segment.toLowerCase() === '.git')) return false;
    const all = new Set(names.map((name) => name.toLowerCase()));
    return all.has('head') && (all.has('commondir') || (all.has('objects') && all.has('refs')));
  }

  /** Tests for a file with the content and the permissions that it had: programs write settings again without a change. */
  async function isUnchanged({ path, kind, mode }: OverlayEntry): Promise<boolean> {
    if (kind !== 'file') return false;
    const before = await statsOrMissing(joinRaw(real, path));
    if (!before?.isFile() || (before.mode & 0o777) !== mode || before.size > maxComparedBytes) return false;
    const [now, earlier] = await Promise.all([own, real].map((root) => readContent(joinRaw(root, path))));
    return now !== undefined && earlier !== undefined && now.equals(earlier);
  }

  async function isOnSameDisk(segments: readonly RawPath[]): Promise<boolean> {
    const stats = await statsOrMissing(joinRaw(real, ...segments));
    return stats?.dev === dev; // what is mounted in the folder is not in the overlay
  }
}

const maxComparedBytes = 1_000_000;

async function readContent(path: RawPath): Promise<Buffer | undefined> {
  const { handle } = await openRegularFile(toFilePath(path)).catch(() => ({ handle: undefined }));
  try {
    return await handle?.readFile();
  } catch {
    return undefined;
  } finally {
    await handle?.close();
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);

const maxShownPath = 200;
const shortened = (path: string): string => (path.length > maxShownPath ? `${path.slice(0, maxShownPath)}…` : path);

const readNames = async (folder: RawPath): Promise<RawPath[]> => readdir(toFilePath(folder), 'latin1');

const statsOrMissing = (path: RawPath): Promise<Stats | undefined> => lstat(toFilePath(path)).catch(() => undefined);

/** The command may have taken the permissions of a folder in the upper layer. */
async function openFolder(path: RawPath, mode: number): Promise<void> {
  if ((mode & 0o700) !== 0o700) await chmod(toFilePath(path), mode | 0o700);
}

const kindOf = (stats: Stats): ChangeKind =>
  stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : stats.isSymbolicLink() ? 'link' : 'special';

const isPlain = ({ kind, mode, protectedReason, isCopied, isWhole }: OverlayEntry): boolean =>
  !protectedReason &&
  !isCopied &&
  (kind === 'folder' ? isWhole === true && (mode & 0o700) === 0o700 : kind === 'file' || kind === 'link');

/** Returns the protected entries; a protected folder that is new or removed stands for what is below. */
export const protectedEntries = (entries: readonly OverlayEntry[]): OverlayEntry[] =>
  entries.flatMap((entry) => (entry.protectedReason ? [entry] : protectedEntries(entry.children ?? [])));
