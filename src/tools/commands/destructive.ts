import { homedir } from 'node:os';
import * as paths from 'node:path';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { quoteForMessage } from '../core/pathSyntax.ts';
import type { WorkspaceRoot } from '../core/workspace.ts';
import { unescapeShellWord } from '../shellSyntax/expandWord.ts';
import {
  commandProgramName,
  parseShellCommandSegments,
  type ShellCommandSegment,
  type ShellWord,
  unknownShellTextPlaceholder,
  workingFolderPlaceholder,
} from '../shellSyntax/shellWords.ts';
import {
  type CriticalPaths,
  collectCriticalPaths,
  isCriticalPath,
  resolveShellWordTargets,
  type ShellWordTargets,
} from './criticalPaths.ts';
import { isDiskDevice } from './devices.ts';
import { possibleWorkingFolders } from './workingFolders.ts';

// Irreversible effect of a command: refused without an approval request, or approved every time.
type Danger =
  | { effect: 'refuse'; why: string }
  /** `why`: a full sentence for the user. */
  | { effect: 'ask'; why: LocalizedMessage };

interface DestructiveContext {
  roots: readonly Pick<WorkspaceRoot, 'path'>[];
  folder: string;
  home?: string;
  platform?: string;
}

const maxLooks = 400;

/**
 * Finds irreversible destruction: of the system, the home folder, parents of open folders, a whole open folder or its Git history, or a
 * disk. Every word counts as a program with the following words as arguments, also inside of quotes and substitutions. Returns undefined if
 * nothing is found. A user who wants a refused command can run it in a terminal.
 */
export async function findIrreversibleDestruction(
  command: string,
  surroundings: DestructiveContext,
): Promise<Danger | undefined> {
  const { roots, folder, home = homedir(), platform = process.platform } = surroundings;
  const parts = parseShellCommandSegments(command, { home, platform });
  const everything = await collectCriticalPaths(
    home,
    roots.map(({ path }) => path),
    platform,
  );
  const targets = await possibleWorkingFolders(parts, folder, home, platform);
  let looks = 0;
  let doubt: Danger | undefined = inlineDeletion(command, parts) ?? withoutEnd(command);
  for (const [index, part] of parts.entries()) {
    const { folders, unclear } = targets(index);
    for (const from of folders) {
      const look = async (word: ShellWord): Promise<ShellWordTargets | undefined> => {
        looks += 1;
        return looks > maxLooks ? undefined : resolveShellWordTargets(word, from, platform);
      };
      for (const danger of await judgePart(part, { look, everything, unclear })) {
        if (danger.effect === 'refuse') return danger;
        doubt ??= danger;
      }
    }
  }
  return doubt;
}

interface Sight {
  /** Returns undefined for this and all later words after the limit: their targets are unknown. */
  look(word: ShellWord): Promise<ShellWordTargets | undefined>;
  everything: CriticalPaths;
  unclear: boolean;
}

async function judgePart(part: ShellCommandSegment, sight: Sight): Promise<Danger[]> {
  const dangers: (Danger | undefined)[] = [];
  for (const target of part.writes) dangers.push(await onDisk([target], sight));
  const programs = part.words.map(commandProgramName);
  const plain = part.words.map(unescapeShellWord);
  for (const [at, program] of programs.entries()) {
    const rest = { words: part.words.slice(at + 1), plain: plain.slice(at + 1), before: programs.slice(0, at) };
    dangers.push(await judge(program, rest, sight));
  }
  return dangers.filter((one) => one !== undefined);
}

const refused = (why: string): Danger => ({ effect: 'refuse', why });
const asked = (why: LocalizedMessage): Danger => ({ effect: 'ask', why });

interface Rest {
  words: readonly ShellWord[];
  plain: readonly string[];
  before: readonly string[];
}

async function judge(program: string, rest: Rest, sight: Sight): Promise<Danger | undefined> {
  const { words, plain, before } = rest;
  if (program.includes(unknownShellTextPlaceholder)) {
    const worst = await judge('rm', rest, sight); // the unknown program may be `rm`
    return worst?.effect === 'refuse' ? worst : undefined;
  }
  const operands = words.filter((_, at) => !plain[at]!.startsWith('-'));
  if (deleting.has(program)) return deletion(rest, operands, sight);
  if (changesRights.has(program)) {
    if (!plain.some((word) => /^-\w*R|^--r/.test(word))) return undefined;
    const found = await firstOf(operands, sight, (path) => !sight.everything.open.has(path));
    return found.path === undefined ? undefined : refused(`it changes the rights of all of ${found.path}`);
  }
  if (diskPrograms.test(program)) {
    if (/^mk(e2)?fs/.test(program)) return refused('it formats a disk');
    return plain.some((word) => /^(-l|--list|-I|print)$/.test(word)) ? undefined : onDisk(operands, sight);
  }
  switch (program) {
    case 'find':
      return judgeFind(words, plain, sight);
    case 'mv':
    case 'move-item': {
      const target = plain.some((word) => /^(-t|--target-directory)/.test(word));
      const found = await firstOf(target ? operands : operands.slice(0, -1), sight);
      if (found.path !== undefined) return refused(`it moves ${found.path} away`);
      return onDisk(operands.slice(-1), sight);
    }
    case 'rsync': {
      const found = plain.some((word) => /^--del/.test(word)) ? await firstOf(operands.slice(-1), sight) : {};
      return found.path === undefined ? undefined : refused(`it deletes what is in ${found.path}`);
    }
    case 'cp':
    case 'install':
      return onDisk(operands.slice(-1), sight);
    case 'tee':
    case 'truncate':
      return onDisk(operands, sight);
    case 'dd':
      return onDisk(
        words.filter((word) => word.startsWith('of=')).map((word) => word.slice(3)),
        sight,
      );
    case 'git':
      return plain.includes('clean') ? judgeClean(words, sight) : undefined;
    case 'kill':
      return plain.length > 1 && plain.at(-1) === '-1' ? refused('it ends every process') : undefined;
    case 'killall':
    case 'killall5':
    case 'pkill':
    case 'skill': {
      const names = plain.filter((word) => !word.startsWith('-'));
      const isAny = names.length === 0 || names.some((name) => /^[.*^$]*$/.test(name));
      return isAny && !plain.some((word) => /^(-l|--list|--version|--help)$/.test(word))
        ? asked(message('It stops processes that it does not name.'))
        : undefined;
    }
    case 'systemctl':
    case 'loginctl':
      return plain.some((word) => turnsOff.test(word)) ? asked(message('It shuts the machine down.')) : undefined;
    case 'init':
    case 'telinit':
      return /^[06]$/.test(plain[0] ?? '') ? asked(message('It shuts the machine down.')) : undefined;
    case 'format':
      return sight.everything.platform === 'win32' && /^[a-z]:/i.test(plain[0] ?? '')
        ? refused('it formats a disk')
        : undefined;
    case 'clear-disk':
    case 'format-volume':
      return refused('it formats a disk');
    default:
      return /^(shutdown|reboot|halt|poweroff)$/.test(program) && !before.some((one) => /ctl$/.test(one))
        ? refused('it switches the machine off')
        : undefined;
  }
}

const set = (names: string) => new Set(names.split(' '));
const deleting = set('rm unlink shred srm wipe remove-item ri rd rmdir del erase');
const changesRights = set('chmod chown chgrp chattr setfacl');
const turnsOff = /^(poweroff|reboot|halt|kexec|suspend|hibernate)$/;
const diskPrograms =
  /^(mk(e2|nt|dos|exfat|ud)?fs(\.|$)|mkswap|newfs|wipefs|blkdiscard|[cs]?fdisk|[cs]?gdisk|parted|badblocks|hdparm|nvme|sg_format|[pvl]v(create|remove)|vg(create|remove)|cryptsetup|zpool|mdadm|diskutil|nwipe)/;
const argumentProviders = set('xargs parallel fd fdfind');

async function deletion(
  { plain, before }: Rest,
  operands: readonly ShellWord[],
  sight: Sight,
): Promise<Danger | undefined> {
  const recursive = plain.some((word) => /^-\w*[rR]|^--r|^\/s$/i.test(word));
  const found = await firstOf(operands, sight);
  if (found.path !== undefined && recursive) return refused(`it deletes ${found.path}`);
  const disk = await onDisk(operands, sight);
  if (disk) return disk;
  if (before.some((one) => argumentProviders.has(one))) return asked(message('It deletes what another command names.'));
  const relative = operands.some((word) => !paths.isAbsolute(unescapeShellWord(word)));
  return found.unclear || (sight.unclear && relative)
    ? asked(message('Could not determine what it deletes.'))
    : undefined;
}

async function firstOf(
  words: readonly ShellWord[],
  { look, everything }: Sight,
  matters: (path: string) => boolean = () => true,
): Promise<{ path?: string; unclear?: boolean }> {
  let unclear = false;
  for (const word of words) {
    const pointed = await look(word);
    if (!pointed) return { unclear: true };
    const path = [...pointed.paths, ...pointed.contents].find((one) => isCriticalPath(one, everything) && matters(one));
    // Reports the spelling; the target of a link must stay hidden.
    if (path !== undefined)
      return { path: quoteForMessage(unescapeShellWord(word).replaceAll(workingFolderPlaceholder, '$PWD')) };
    unclear ||= pointed.unclear;
  }
  return { unclear };
}

async function onDisk(words: readonly ShellWord[], { look }: Sight): Promise<Danger | undefined> {
  for (const word of words) {
    const pointed = await look(word);
    if (!pointed) return undefined;
    for (const path of pointed.paths)
      if (await isDiskDevice(path)) return refused(`it overwrites ${quoteForMessage(unescapeShellWord(word))}, a disk`);
  }
  return undefined;
}

const acts = /^-(delete|exec|execdir|ok|okdir)$/;
const narrows =
  /^-(i?name|i?path|i?wholename|i?regex|i?lname|[acm](time|min)|size|empty|newer\w*|user|group|perm|links|inum|samefile)$/;
const readsOnly = set(
  'grep egrep fgrep rg ls cat head tail wc stat file du md5sum sha1sum sha256sum basename dirname echo printf test',
);

async function judgeFind(
  words: readonly ShellWord[],
  plain: readonly string[],
  sight: Sight,
): Promise<Danger | undefined> {
  const begin = plain.findIndex((word) => /^[-(!]/.test(word) && !/^-[HLPDO]/.test(word));
  const action = plain.findIndex((word) => acts.test(word));
  if (action < 0) return undefined;
  const executed = commandProgramName(words[action + 1] ?? '');
  const deletes = plain[action] === '-delete' || deleting.has(executed);
  if (plain[action] !== '-delete' && readsOnly.has(executed)) return undefined;
  const targets = words.slice(0, begin).filter((word) => !word.startsWith('-'));
  const isNarrow = plain.some(
    (word, at) =>
      narrows.test(word) && !/^(!|-not)$/.test(plain[at - 1] ?? '') && !/^[*.?/]*$/.test(plain[at + 1] ?? ''),
  );
  const found = await firstOf(
    targets.length > 0 ? targets : ['.'],
    sight,
    (path) => !sight.everything.open.has(path) || (deletes && !isNarrow),
  );
  if (found.path !== undefined) return refused(`it acts on all of ${found.path}`);
  return deletes && (found.unclear || (sight.unclear && targets.every((one) => !paths.isAbsolute(one))))
    ? asked(message('Could not determine what it deletes.'))
    : undefined;
}

// Checks `git clean`: outside of the open folders, the deleted files were never committed in this project.
async function judgeClean(words: readonly ShellWord[], sight: Sight): Promise<Danger | undefined> {
  const open = [...sight.everything.open];
  for (const word of words) {
    if (/^-/.test(word) || /^(clean|x)$/.test(word)) continue;
    const pointed = await sight.look(word);
    const isOpen = (path: string) => open.some((folder) => path === folder || path.startsWith(folder + paths.sep));
    if (!pointed || pointed.unclear || !pointed.paths.every(isOpen))
      return asked(message('It deletes files outside the open folders.'));
  }
  return undefined;
}

const interpreters =
  /^(perl|ruby|python[\d.]*|pypy3?|node|nodejs|deno|bun|php|lua[\d.]*|rscript|julia|osascript|[gmn]?awk|tclsh|groovy|raku|swift)$/;
const deletesInCode =
  /\b(unlink|rm|rmdir|rmtree|removedirs|remove_tree|remove_dir_all|remove_file|rimraf|emptyDir|remove)(Sync)?\s*[(;"'$]|\b(unlink|rmtree|rmdir)\s*$|\bFileUtils\.rm|\b(File|Dir)\.(delete|rmdir|unlink)|\.unlink\b|shutil\.|(system|exec|spawn|popen|call|run)\w*\s*\(?.{0,40}\brm\b/m;

function inlineDeletion(command: string, parts: readonly ShellCommandSegment[]): Danger | undefined {
  const inline = parts.some(({ words }) => words.some((word) => interpreters.test(commandProgramName(word))));
  return inline && deletesInCode.test(command)
    ? asked(message('It deletes files with a program of its own.'))
    : undefined;
}

function withoutEnd(command: string): Danger | undefined {
  for (const [, name, body] of command.matchAll(/([\w:.@-]+)\s*\(\s*\)\s*\{([^}]*)\}?/g)) {
    const calls = body!.split(/[\s|&;]+/).filter((word) => word === name).length;
    if (calls > 0 && /[|&]/.test(body!)) return asked(message('It starts itself endlessly.'));
  }
  return undefined;
}
