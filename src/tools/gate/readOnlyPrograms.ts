/**
 * Programs that only read, with the options of each that are known to do no more: an option that is not here is asked
 * about. Values of options are numbers or text, never paths: options with paths (`grep -f`) are left out on purpose, and so
 * is everything that writes (`sort -o`), starts a program (`rg --pre`), follows links or does not end (`tail -f`). An option
 * whose value may be left out (`diff --unified`) is no option here: what stands behind it is a file to the program.
 */
export interface ReadOnlyProgram {
  /** Letters of options without a value. */
  flags?: string;
  /** Letters of options with one. */
  values?: string;
  /** Long options, blank-separated; those with a value end in `=`. */
  long?: string;
  /** What the words that are no options are. `pattern`: the first is a pattern unless `-e` gave one, the rest are paths. */
  operands: 'none' | 'text' | 'paths' | 'files' | 'pattern' | 'date' | 'sed' | 'find';
  /** The most operands; a second one of `uniq` is a file it writes. */
  most?: number;
}

/** A Map: `constructor` is not a program. */
export const readOnlyPrograms: ReadonlyMap<string, ReadOnlyProgram> = new Map<string, ReadOnlyProgram>([
  ['basename', { flags: 'az', values: 's', operands: 'text' }],
  ['cat', { flags: 'AbeEnstTuv', long: 'number show-all show-ends show-tabs squeeze-blank', operands: 'paths' }],
  ['cmp', { flags: 'bls', values: 'n', operands: 'files', most: 2 }],
  ['comm', { flags: '123', operands: 'files', most: 2 }],
  ['cut', { flags: 's', values: 'bcdf', long: 'complement delimiter= fields=', operands: 'paths' }],
  ['date', { flags: 'uR', values: 'd', long: 'utc universal date=', operands: 'date', most: 1 }],
  ['diff', { flags: 'bBiqsuwy', values: 'UC', long: 'brief side-by-side', operands: 'files', most: 2 }],
  ['dirname', { flags: 'z', operands: 'text' }],
  ['du', { flags: 'abchkmsx', values: 'd', long: 'human-readable summarize all max-depth=', operands: 'paths' }],
  ['echo', { operands: 'text' }],
  ['false', { operands: 'text' }],
  ['find', { operands: 'find' }],
  ['fold', { flags: 'bs', values: 'w', operands: 'paths' }],
  ['git', { long: 'version', operands: 'none' }],
  [
    'grep',
    {
      flags: 'EFGPHhiIlLnoqsvwxc',
      values: 'eABCm',
      long: 'ignore-case line-number count files-with-matches files-without-match invert-match word-regexp only-matching extended-regexp fixed-strings quiet no-messages regexp= context= after-context= before-context= max-count=',
      operands: 'pattern',
    },
  ],
  ['head', { flags: 'qv', values: 'nc', long: 'lines= bytes= quiet', operands: 'paths' }],
  [
    'ls',
    {
      flags: 'aAlhrRtSFdinp1sgGoX',
      long: 'all almost-all human-readable recursive reverse size directory classify',
      operands: 'paths',
    },
  ],
  ['md5sum', { flags: 'bt', operands: 'files' }],
  ['nl', { flags: 'p', values: 'bdfhilnsvw', operands: 'paths' }],
  ['node', { flags: 'v', long: 'version', operands: 'none' }],
  ['od', { flags: 'abcdfilosxv', values: 'AjNt', operands: 'paths' }],
  ['pwd', { flags: 'LP', operands: 'none' }],
  ['realpath', { flags: 'emqsz', operands: 'paths' }],
  ['rev', { operands: 'paths' }],
  [
    'rg',
    {
      flags: 'nNiSsvwxFclIHopU',
      values: 'egtTABCmM',
      long: 'ignore-case smart-case line-number count files-with-matches invert-match word-regexp fixed-strings only-matching files glob= type= type-not= context= after-context= before-context= max-count= max-columns= regexp=',
      operands: 'pattern',
    },
  ],
  ['sed', { flags: 'nEr', operands: 'sed' }],
  ['sha256sum', { flags: 'bt', operands: 'files' }],
  ['sort', { flags: 'bcdfgiMhnrRsuVz', values: 'kt', operands: 'files' }],
  ['stat', { flags: 't', values: 'c', long: 'format= terse', operands: 'paths' }],
  ['tac', { flags: 'br', values: 's', operands: 'paths' }],
  ['tail', { flags: 'qv', values: 'nc', long: 'lines= bytes= quiet', operands: 'paths' }],
  ['tr', { flags: 'cCdst', operands: 'text', most: 2 }],
  ['true', { operands: 'text' }],
  ['uname', { flags: 'asnrvmpio', long: 'all', operands: 'none' }],
  ['uniq', { flags: 'cdiDu', values: 'fsw', long: 'count repeated unique ignore-case', operands: 'files', most: 1 }],
  ['wc', { flags: 'clmLw', long: 'bytes chars lines words', operands: 'paths' }],
]);

/** Where programs are taken from, whatever the editor's own PATH says. */
export const programFolders = ['/usr/bin', '/bin', '/usr/local/bin'];

/** What may follow the places that `find` looks in; those that end in `=` take a value. */
export const findWords = new Set(
  '-name= -iname= -path= -ipath= -type= -maxdepth= -mindepth= -size= -mtime= -mmin= -empty -print -not -and -or -a -o ! ( )'.split(
    ' ',
  ),
);
