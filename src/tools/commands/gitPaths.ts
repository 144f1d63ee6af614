import { secretFileNameGlobs, secretFileReason, secretFolders } from '../policy/secretFiles.ts';
import { expandBraces } from '../shellSyntax/expandWord.ts';

/**
 * Returns the paths that a word lets Git read, as Git globs: for `HEAD~2:src/a.ts`, both sides of a range, `:0:src/a.ts` (a stage of the
 * index) and pathspecs. Empty for an exclusion. Undefined if only Git can tell, or for root-relative forms (`:/x`).
 */
export function pathsInGitArgument(word: string): string[] | undefined {
  const magic = /^:\(([a-z,:]*)\)(.*)$/s.exec(word);
  if (magic) {
    const [, magicWord, path] = magic as unknown as [string, string, string];
    const kinds = magicWord.split(',').filter(Boolean);
    if (!kinds.every((kind) => /^(glob|icase|literal|exclude)$/.test(kind))) return undefined;
    return kinds.includes('exclude') ? [] : [path];
  }
  if (/^:[!^]/.test(word)) return [];
  if (/^:[^\w.-]/.test(word)) return undefined;
  const sides = word.split(/\.{2,3}(?=.)/).filter((side) => side !== word && side.includes(':'));
  return [word, ...sides].map((side) => side.replace(/^[^:/]*:(?!\/)/, '').replace(/^[0-3]:/, ''));
}

/** Tests if a path of `pathsInGitArgument` selects files with secrets, on disk or in a commit, rather than files of any kind. */
export function gitPathSelectsSecrets(path: string): boolean {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (secretFileReason(names.map((name) => name.replace(/\\(.)/g, '$1')))) return true;
  const at = path.search(/[*?[\\]/);
  if (at < 0) return false;
  const folder = path.slice(0, path.lastIndexOf('/', at) + 1);
  const form = formOf(path);
  if (!form) return true;
  const matches = (name: string) => [name, folder + name, `x/${name}`].some((one) => form.test(one));
  return examples.some((name) => matches(name) && !ordinaryBeside(name).some(matches));
}

const examples: readonly string[] = [
  ...secretFileNameGlobs
    .flatMap((glob) => expandBraces(glob) ?? [])
    .map((glob) => glob.replace(/\[(.)[^\]]*\]/g, '$1').replace(/\*/g, 'x')),
  ...[...secretFolders].map((folder) => `${folder}/x`),
];

// Similar names without secrets: a glob that also matches these selects files of any kind.
const ordinaryBeside = (name: string): string[] => {
  const ending = /\.\w+$/.exec(name.slice(1))?.[0] ?? '';
  return ['other', `other${ending}`, ...(name.startsWith('.') ? [`.other${ending}`] : [])].filter(
    (one) => !secretFileReason([one]),
  );
};

// Limit of stars: the duration of a match grows exponentially.
const maxStars = 4;

/**
 * Compiles a Git glob: `*` also crosses `/`, a folder includes its contents, case is ignored. Undefined for other text or too many stars.
 */
function formOf(glob: string): RegExp | undefined {
  if ((glob.match(/\*+/g)?.length ?? 0) > maxStars) return undefined;
  const source = glob.replace(
    /\\(.)|(\*+)|(\?)|\[([!^]?)([^\]]+)\]|([.+^$(){}|[\]\\])/gs,
    (_, plain, stars, any, not, set, odd) => {
      if (stars) return '.*';
      if (any) return '.';
      if (set) return `[${not ? '^' : ''}${set.replace(/[\\\]^]/g, '\\$&')}]`;
      return `\\${plain ?? odd}`.replace(/^\\([\w\s])/, '$1');
    },
  );
  try {
    return new RegExp(`^${source}(/.*)?$`, 'is');
  } catch {
    return undefined;
  }
}
