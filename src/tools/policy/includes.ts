const [maxIncludeDepth, maxIncludedFiles] = [5, 30] as const;

/** Returns the paths included by a text (`@docs/style.md`) as spelled, without includes in code and in home folders. */
export function parseIncludePaths(text: string): string[] {
  const prose = text.replace(/^[ \t]*(```+|~~~+)[\s\S]*?(^[ \t]*\1|$(?![\s\S]))/gm, '').replace(/(`+)[^\n]*?\1/g, ' ');
  const found = [...prose.matchAll(/(?<!\S)@([^\s@`]+)/g)].map(([, path]) => path!.replace(/[.,;:!?)\]]+$/, ''));
  return [...new Set(found)].filter((path) => path !== '' && !path.startsWith('~'));
}

export const isOnlyIncludes = (text: string): boolean => text.replace(/(?<!\S)@\S+/g, '').trim() === '';

/**
 * Returns included files recursively, in order, without duplicates.
 * @param read resolves an include from its file; undefined if missing or not readable
 */
export async function collectIncludedFiles<File extends { path: string; text: string }>(
  file: File,
  read: (spelled: string, from: File) => Promise<File | undefined>,
): Promise<File[]> {
  const found = new Map([[file.path, file]]);
  let level = [file];
  for (let depth = 0; depth < maxIncludeDepth && level.length > 0; depth++) {
    const next: File[] = [];
    for (const from of level)
      for (const spelled of parseIncludePaths(from.text)) {
        if (found.size > maxIncludedFiles) break;
        const one = await read(spelled, from);
        if (!one || found.has(one.path)) continue;
        found.set(one.path, one);
        next.push(one);
      }
    level = next;
  }
  return [...found.values()].slice(1);
}
