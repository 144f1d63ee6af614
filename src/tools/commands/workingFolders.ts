import {
  commandProgramName,
  type ShellCommandSegment,
  unknownShellTextPlaceholder,
} from '../shellSyntax/shellWords.ts';
import { resolveShellWordTargets } from './criticalPaths.ts';

const maxFolders = 8;

interface PartFolders {
  folders: string[];
  unclear: boolean;
}

/** Returns the possible working folders of each part. After `&&` the change of folder succeeded; otherwise the success is unknown. */
export async function possibleWorkingFolders(
  parts: readonly ShellCommandSegment[],
  folder: string,
  home: string,
  platform: string,
): Promise<(index: number) => PartFolders> {
  const seen = new Set([folder]);
  const own: PartFolders[] = [];
  let now = [folder];
  let unclear = false;
  for (const part of parts) {
    if (part.operator !== '&&' && part.operator !== '') now = [...seen];
    const given = part.words.filter((_, at) => /^(-C|--chdir|--directory)$/.test(part.words[at - 1] ?? ''));
    const names = part.words.map(commandProgramName);
    const at = names.findIndex((name) => /^(cd|pushd|chdir|set-location|sl)$/.test(name));
    const target = part.words.slice(at + 1).find((word) => !/^-./.test(word));
    const moves = at >= 0 && at <= 1 ? [target ?? home] : [];
    const led: string[] = [];
    for (const from of now.slice(0, seen.size > maxFolders ? 0 : maxFolders))
      for (const word of [...moves, ...given]) {
        const pointed = await resolveShellWordTargets(word, from, platform);
        unclear ||= pointed.unclear || word.includes(unknownShellTextPlaceholder) || word === '-';
        led.push(...pointed.paths);
      }
    own.push({ folders: [...new Set([...now, ...(given.length > 0 ? led : [])])], unclear });
    for (const one of led) seen.add(one);
    if (moves.length > 0 && led.length > 0) now = [...new Set(led)];
  }
  const cut = (all: readonly string[]) => ({ folders: all.slice(0, maxFolders), unclear: seen.size > maxFolders });
  return (index) => {
    const one = parts[index]!.nested ? cut([...seen]) : cut(own[index]!.folders);
    return { folders: one.folders, unclear: one.unclear || (parts[index]!.nested ? unclear : own[index]!.unclear) };
  };
}
