/**
 * Read-only program with the options known to be harmless: an absent option needs an approval. Option values are numbers or text, never
 * paths. Deliberately absent: options with paths (`grep -f`), options that write (`sort -o`), start a program (`rg --pre`), follow links or
 * never end (`tail -f`), and options with an optional value (`diff --unified`), because the next word is a file.
 *
 * `flags` and `values` are short options without and with a value; `long` options are separated by blanks, with a trailing `=` for a value.
 */
export interface ReadOnlyProgram {
  flags?: string;
  values?: string;
  long?: string;
  /**
   * Meaning of operands. `pattern`: the first is a pattern unless `-e` is present, the others are paths. `most` is their maximum: a second
   * operand of `uniq` is an output file.
   */
  operands:
    | 'none'
    | 'text'
    | 'format'
    | 'names'
    | 'seconds'
    | 'paths'
    | 'files'
    | 'pattern'
    | 'date'
    | 'sed'
    | 'awk'
    | 'jq'
    | 'test'
    | 'streams'
    | 'find';
  most?: number;
}

/** A Map, because `constructor` is not a program. */
export const readOnlyPrograms: ReadonlyMap<string, ReadOnlyProgram> = new Map<string, ReadOnlyProgram>([
  ['[', { operands: 'test' }],
  ['arch', { operands: 'none' }],
  ['awk', { values: 'Fv', operands: 'awk' }],
  ['b2sum', { flags: 'bt', operands: 'files' }],
  ['base64', { flags: 'di', values: 'w', long: 'decode wrap=', operands: 'files', most: 1 }],
  ['basename', { flags: 'az', values: 's', operands: 'text' }],
  ['cat', { flags: 'AbeEnstTuv', long: 'number show-all show-ends show-tabs squeeze-blank', operands: 'paths' }],
  ['c++filt', { flags: 'npt', operands: 'none' }],
  ['cksum', { operands: 'files' }],
  ['column', { flags: 't', values: 'sNc', operands: 'paths' }],
  ['cmp', { flags: 'bls', values: 'n', operands: 'files', most: 2 }],
  ['comm', { flags: '123', operands: 'files', most: 2 }],
  ['cut', { flags: 's', values: 'bcdf', long: 'complement delimiter= fields=', operands: 'paths' }],
  ['date', { flags: 'uR', values: 'd', long: 'utc universal date=', operands: 'date', most: 1 }],
  [
    'diff',
    { flags: 'bBiqsuwy', values: 'UC', long: 'brief side-by-side ignore-all-space', operands: 'files', most: 2 },
  ],
  ['df', { flags: 'hkPT', operands: 'paths' }],
  ['dirname', { flags: 'z', operands: 'text' }],
  ['du', { flags: 'abchkmsx', values: 'd', long: 'human-readable summarize all max-depth=', operands: 'paths' }],
  ['echo', { operands: 'text' }],
  ['false', { operands: 'text' }],
  ['expand', { values: 't', operands: 'paths' }],
  ['file', { flags: 'bi', long: 'brief mime mime-type', operands: 'paths' }],
  ['find', { operands: 'find' }],
  ['fold', { flags: 'bs', values: 'w', operands: 'paths' }],
  ['git', { long: 'version', operands: 'none' }],
  [
    'grep',
    {
      flags: 'aEFGPHhiIlLnoqsvwxcrz',
      values: 'eABCm',
      long: 'ignore-case line-number count files-with-matches files-without-match invert-match word-regexp only-matching extended-regexp fixed-strings quiet no-messages regexp= context= after-context= before-context= max-count= recursive include= exclude= exclude-dir= color= no-filename with-filename perl-regexp basic-regexp',
      operands: 'pattern',
    },
  ],
  ['head', { flags: 'qv', values: 'nc', long: 'lines= bytes= quiet', operands: 'paths' }],
  ['hexdump', { flags: 'Cbcdox', values: 'ns', operands: 'paths' }],
  ['groups', { operands: 'none' }],
  ['hostname', { operands: 'none' }],
  ['iconv', { flags: 'cs', values: 'ft', long: 'from-code= to-code=', operands: 'files' }],
  ['id', { flags: 'unGgr', operands: 'none' }],
  [
    'jq',
    {
      flags: 'rcsneSMCja',
      long: 'raw-output compact-output slurp null-input exit-status sort-keys monochrome-output join-output raw-input tab',
      operands: 'jq',
    },
  ],
  [
    'ls',
    {
      flags: 'aAlhrRtSFdinp1sgGoXvk',
      long: 'all almost-all human-readable recursive reverse size directory classify color= group-directories-first sort= time-style= full-time',
      operands: 'paths',
    },
  ],
  ['md5sum', { flags: 'bt', operands: 'files' }],
  ['nl', { flags: 'p', values: 'bdfhilnsvw', operands: 'paths' }],
  ['node', { flags: 'v', long: 'version', operands: 'none' }],
  ['nm', { flags: 'ACDgnpruaS', long: 'demangle defined-only extern-only dynamic undefined-only', operands: 'files' }],
  ['nproc', { operands: 'none' }],
  [
    'objdump',
    { flags: 'dhtTxfCrps', values: 'jM', long: 'disassemble no-show-raw-insn demangle section=', operands: 'files' },
  ],
  ['od', { flags: 'abcdfilosxv', values: 'AjNt', operands: 'paths' }],
  ['paste', { flags: 's', values: 'd', operands: 'paths' }],
  ['printf', { operands: 'format' }],
  ['pwd', { flags: 'LP', operands: 'none' }],
  ['readelf', { flags: 'ahlSsdrnVW', long: 'wide', operands: 'files' }],
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
  ['seq', { flags: 'w', values: 'sf', operands: 'names' }],
  ['sha1sum', { flags: 'bt', operands: 'files' }],
  ['sha512sum', { flags: 'bt', operands: 'files' }],
  ['sha256sum', { flags: 'bt', operands: 'files' }],
  ['size', { flags: 'ABt', operands: 'files' }],
  ['sleep', { operands: 'seconds' }],
  [
    'sort',
    {
      flags: 'bcdfgiMhnrRsuVz',
      values: 'kt',
      long: 'reverse numeric-sort unique human-numeric-sort version-sort key= field-separator=',
      operands: 'files',
    },
  ],
  ['stat', { flags: 't', values: 'c', long: 'format= terse', operands: 'paths' }],
  ['tac', { flags: 'br', values: 's', operands: 'paths' }],
  ['strings', { values: 'n', operands: 'files' }],
  ['tail', { flags: 'qv', values: 'nc', long: 'lines= bytes= quiet', operands: 'paths' }],
  ['test', { operands: 'test' }],
  ['tee', { operands: 'streams' }],
  ['tr', { flags: 'cCdst', operands: 'text', most: 2 }],
  [
    'tree',
    {
      flags: 'adifFpsuhDCnSQ',
      values: 'LIP',
      long: 'dirsfirst noreport du filesfirst prune gitignore',
      operands: 'paths',
    },
  ],
  ['true', { operands: 'text' }],
  ['uname', { flags: 'asnrvmpio', long: 'all', operands: 'none' }],
  ['uniq', { flags: 'cdiDu', values: 'fsw', long: 'count repeated unique ignore-case', operands: 'files', most: 1 }],
  ['uptime', { flags: 'p', operands: 'none' }],
  ['wc', { flags: 'clmLw', long: 'bytes chars lines words', operands: 'paths' }],
  ['which', { flags: 'a', operands: 'names' }],
  ['whoami', { operands: 'none' }],
  // A second file is an output file.
  ['xxd', { flags: 'bpui', values: 'lsgc', operands: 'files', most: 1 }],
]);

/** Folders for programs, independent of the editor's PATH. */
export const systemProgramFolders = ['/usr/bin', '/bin', '/usr/local/bin'];

export const readOnlyFindArguments = new Set(
  '-name= -iname= -path= -ipath= -wholename= -regex= -iregex= -regextype= -type= -maxdepth= -mindepth= -size= -mtime= -mmin= -empty -print -print0 -prune -xdev -not -and -or -a -o ! ( )'.split(
    ' ',
  ),
);
