/** How deep files may include each other, and how many one file may bring along. */
const [maxIncludeDepth, maxIncludedFiles] = [5, 30] as const;

/** The paths that a text includes (`@docs/style.md`), as they are spelled: what stands in code is none. Nothing of a home folder is. */
export function includesIn(text: string): string[] {
  const prose = text.replace(/^[ \t]*(```+|~~~+)[\s\S]*?(^[ \t]*\1|$(?![\s\S]))/gm, '').replace(/(`+)[^\n]*?\1/g, ' ');
  const found = [...prose.matchAll(/(?<!\S)@([^\s@`]+)/g)].map(([, path]) => path!.replace(/[.,;:!?)\]]+$/, ''));
  return [...new Set(found)].filter((path) => path !== '' && !path.startsWith('~'));
}

/** Nothing but what it includes stands in it. */
export const isOnlyIncludes = (text: string): boolean => text.replace(/(?<!\S)@\S+/g, '').trim() === '';

/**
 * The files that a file includes, and those that they include, in order, each once.
 * @param read resolves an include from the file it stands in; undefined: there is none, or none that may be read
 */
export async function included<File extends { path: string; text: string }>(
  file: File,
  read: (spelled: string, from: File) => Promise<File | undefined>,
): Promise<File[]> {
  const found = new Map([[file.path, file]]);
  let level = [file];
  for (let depth = 0; depth < maxIncludeDepth && level.length > 0; depth++) {
    const next: File[] = [];
    for (const from of level)
      for (const spelled of includesIn(from.text)) {
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
