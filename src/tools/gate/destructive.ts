import { posix } from 'node:path';
import { looseWords } from './commandLine.ts';

/**
 * What a command would destroy beyond repair: everything, a home, a disk, the whole workspace or its Git history. The text
 * is cut loosely, quotes and substitutions included, so that it is seen wherever it stands. Undefined: nothing of the kind. A
 * person who wants it can type it into a terminal.
 */
export function destruction(text: string): string | undefined {
  for (const tokens of looseWords(text)) {
    for (const [at, token] of tokens.entries()) {
      const why = judge(posix.basename(token).toLowerCase(), tokens.slice(at + 1));
      if (why) return why;
    }
  }
  return /:\s*\(\s*\)\s*\{.*:\s*\|\s*:/.test(text) ? 'it starts itself without end' : undefined;
}

function judge(program: string, rest: readonly string[]): string | undefined {
  const everything = rest.find((token) => isEverything(token));
  const recursive = rest.some((token) => /^-\w*[rR]|^--recursive$|^-recurse$/i.test(token));
  switch (program) {
    case 'rm':
      return everything && recursive ? `it deletes ${everything}` : undefined;
    case 'remove-item':
    case 'ri':
    case 'rd':
    case 'rmdir':
      return recursive && rest.some((token) => /^[a-z]:[\\/]?\*?$/i.test(token))
        ? 'it deletes a whole disk'
        : undefined;
    case 'find':
      return everything && rest.some((token) => token === '-delete' || token === '-exec') && !/^\./.test(everything)
        ? `it acts on all of ${everything}`
        : undefined;
    case 'chown':
    case 'chmod':
    case 'chgrp':
      return everything && recursive && !/^\./.test(everything)
        ? `it changes the rights of all of ${everything}`
        : undefined;
    case 'mv':
      return everything && !/^[.*]/.test(everything) ? `it moves ${everything} away` : undefined;
    case 'dd':
      return rest.some((token) => /^of=\/dev\/(?!null$|stdout$|stderr$)/.test(token))
        ? 'it overwrites a disk'
        : undefined;
    case 'shred':
    case 'wipefs':
    case 'mkswap':
      return rest.some((token) => token.startsWith('/dev/')) ? 'it overwrites a disk' : undefined;
    case 'kill':
      return rest.length > 1 && rest.at(-1) === '-1' ? 'it ends every process' : undefined;
    case 'shutdown':
    case 'reboot':
    case 'halt':
    case 'poweroff':
      return 'it switches the machine off';
    default:
      return /^mkfs(\.|$)/.test(program) ? 'it formats a disk' : undefined;
  }
}

/** The root, a folder in it, a home, the folder it runs in or the one above, Git's history. */
function isEverything(token: string): boolean {
  if (/^(~|\$HOME|\$\{HOME\}?)(\/\*?)?$/.test(token)) return true;
  if (token === '*') return true;
  const path = posix.normalize(token.replace(/\/?\*$/, '/')).replace(/(.)\/$/, '$1');
  return /^(\/|\/[^/]+|\.|\.\.|\.git)$/.test(path) && !/^\/tmp$/.test(path) && !token.startsWith('-');
}
