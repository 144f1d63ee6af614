import { cannotBeUndone } from '../../policy/irreversibleVerbs.ts';

/** Options of a command: letters and long names, alone and with a value. */
interface CommandOptions {
  flags: ReadonlySet<string>;
  valued: ReadonlySet<string>;
}

const options = (flags: string, valued = ''): CommandOptions => ({
  flags: new Set(flags.split(' ')),
  valued: new Set(valued.split(' ')),
});

// Only what is listed is covered: many other options and commands reach folders or programs of this machine.
const queries = new Set(
  'ps ls list images logs inspect top port stats version info events diff history search wait df'.split(' '),
);
const queryOption =
  /^(?:-[aqfnlst]+|--(?:all|quiet|filter|format|no-trunc|last|latest|size|follow|tail|since|until|timestamps|details|no-stream|type|digests|services|orphans|status|no-color|no-log-prefix|json)(?:=.*)?)$/;
const running = options(
  'i t d T rm init interactive tty detach read-only no-TTY no-deps service-ports build quiet-pull',
  'e u w p l m h v env user workdir publish label memory hostname volume name entrypoint expose cpus platform pull network tmpfs shm-size index',
);
const work: Readonly<Record<string, CommandOptions>> = {
  run: running,
  create: running,
  exec: running,
  build: options(
    'q quiet no-cache load with-dependencies pull',
    't f tag target build-arg progress platform file', // a file with instructions runs in containers
  ),
  pull: options('q a quiet all-tags ignore-buildable include-deps', 'platform policy'),
  tag: options(''),
  start: options('a i attach interactive wait'),
  stop: options('', 't time timeout'),
  restart: options('no-deps', 't time timeout'),
  pause: options(''),
  unpause: options(''),
  up: options(
    'd detach wait build no-build no-deps no-recreate force-recreate no-start no-color no-log-prefix timestamps quiet-pull abort-on-container-exit remove-orphans',
    't timeout scale pull attach exit-code-from wait-timeout',
  ),
  down: options('remove-orphans', 't timeout'),
};
const composeOptions = options('', 'f p file project-name profile ansi progress');
const runsInContainer = new Set(['run', 'create', 'exec']);
const groups = new Set(['container', 'image', 'system']);

// In databases, `\d` describes a table. `-d` starts a container in the background, and `--rm` removes what the command has created.
const harmlessWords = /(?<![^\s'"])(?:-d|--rm|\\+d[\w+]*)(?![^\s'"])/g;

/**
 * Tests for a command of Docker, Podman or Compose that reaches nothing of this machine but its containers, and removes or publishes nothing.
 * @param program its name @param words the words after it, all known
 */
export function isContainerWork(program: string, words: readonly string[]): boolean {
  if (cannotBeUndone(words.join(' ').replaceAll(harmlessWords, ''))) return false;
  const isCompose = program.endsWith('-compose') || words[0] === 'compose';
  if (!isCompose) return isWork(groups.has(words[0]!) ? words.slice(1) : words, false);
  const composed = operandsOf(program.endsWith('-compose') ? words : words.slice(1), composeOptions, true);
  return composed !== undefined && isWork(composed, true);
}

function isWork([command = '', ...rest]: readonly string[], isCompose: boolean): boolean {
  if ((command === 'volume' || command === 'network') && !isCompose) return isQuery(rest);
  if (isCompose && command === 'config')
    return rest.every((word) => /^--(?:quiet|services|images|volumes)$/.test(word));
  if (queries.has(command)) return isQuery([command, ...rest]);
  if (!Object.hasOwn(work, command)) return false;
  const operands = operandsOf(rest, work[command]!, runsInContainer.has(command));
  if (operands === undefined) return false;
  // The context of a build is sent as a whole.
  return command !== 'build' || isCompose || (operands.length === 1 && /^\.\/?$/.test(operands[0]!));
}

const isQuery = ([command = '', ...rest]: readonly string[]): boolean =>
  queries.has(command) && rest.every((word) => !word.startsWith('-') || queryOption.test(word));

/** Returns the words that are no options; undefined if an option is not covered. `endsAtFirst`: options end at the first of them. */
function operandsOf(
  words: readonly string[],
  { flags, valued }: CommandOptions,
  endsAtFirst: boolean,
): string[] | undefined {
  const operands: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    if (!word.startsWith('-')) {
      if (endsAtFirst) return words.slice(at);
      operands.push(word);
      continue;
    }
    const [, long, ofLong] = /^--([a-zA-Z][\w-]*)(?:=(.*))?$/s.exec(word) ?? [];
    const [, letters = '', rest = ''] = /^-([a-zA-Z]+)(.*)$/s.exec(word) ?? [];
    const first = [...letters].findIndex((letter) => !flags.has(letter));
    if (long !== undefined ? flags.has(long) && ofLong === undefined : letters !== '' && first < 0 && rest === '')
      continue;
    const name = long ?? letters[first];
    if (name === undefined || !valued.has(name)) return undefined;
    const attached = long === undefined ? `${letters.slice(first + 1)}${rest}`.replace(/^=/, '') : ofLong;
    const value = attached || words[++at];
    if (value === undefined || !isCoveredValue(name, value)) return undefined;
  }
  return operands;
}

function isCoveredValue(name: string, value: string): boolean {
  if (name === 'v' || name === 'volume') return /^[a-zA-Z][\w.-]*:\/[^:]*(?::ro)?$/.test(value); // a volume by its name
  if (name === 'network') return /^[\w.-]+$/.test(value) && value !== 'host';
  if (name === 'file' || name === 'f')
    return /^(?:\.\/)?(?:(?:docker-)?compose[\w.-]*\.ya?ml|[\w.-]*[Dd]ockerfile[\w.-]*)$/.test(value);
  return true;
}
