import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import * as paths from 'node:path';
import type { WorkspaceRoot } from '../../core/workspace.ts';
import { resolvePath, resolveWorkspaceRoots } from '../../sandbox/paths.ts';
import { isStaticShellWord } from '../commandStep.ts';
import { systemProgramFolders } from '../readOnlyPrograms.ts';
import type { PackageInstaller } from './grantRow.ts';

type OnPath =
  | {
      in: 'system';
      shimmed?: true;
    }
  | { in: 'project'; folder: string };

// Finds a program like a shell in `folder` (absolute and real). A missing program counts as a system program, because it cannot start.
export async function findProgramOnPath(
  program: string,
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<OnPath> {
  const open = (await resolveWorkspaceRoots(roots)).flatMap(({ path, realPath }) => [path, realPath]);
  const isOpen = (path: string) => open.some((root) => path === root || path.startsWith(`${root}/`));
  for (const entry of (process.env.PATH ?? '').split(paths.delimiter)) {
    const entryPath = paths.resolve(folder, entry);
    const file = paths.join(entryPath, program);
    if (!(await isExecutable(file))) continue;
    if (isOpen(entryPath)) return { in: 'project', folder: entryPath };
    const real = await realpath(file).catch(() => file);
    if (isOpen(real)) return { in: 'project', folder: paths.dirname(real) };
    return { in: 'system', ...(/(^|\/)\.?shims$/.test(entryPath) && { shimmed: true }) };
  }
  return { in: 'system' };
}

const isExecutable = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );

const builtTest = 'build/…test';

const isBuiltTest = (program: string): boolean =>
  /^(\.\/)?((_?build|builddir|out|cmake-build)[\w-]*|target\/(debug|release)(\/deps)?|zig-out\/bin|\.build\/(debug|release)|bazel-bin)\/([\w+-][\w.+-]*\/)*[\w.+-]*(test|spec|bench|fuzz)[\w.+-]*$/i.test(
    program,
  ) && !/(^|[/._-])(deploy|publish|install|release-)/i.test(program.replace(/^(\.\/)?target\/release\//, ''));

const suppressions = /^--suppressions=(?!\/|.*\.\.)[\w./-]+$/;
const valgrind =
  /^(-q|-v|--(quiet|verbose|error-exitcode=\d+|leak-check=(full|yes|no|summary)|show-leak-kinds=[\w,]+|track-origins=(yes|no)|tool=(memcheck|helgrind|drd)|num-callers=\d+|errors-for-leak-kinds=[\w,]+|trace-children=(yes|no)))$/;
const debugged =
  /^(run|r|where|(bt|backtrace)( \d+| full)?|info (locals|args|registers|threads|frame)|thread apply all bt( full| \d+)?|frame \d+|up|down|quit|set pagination off)$/;

// Returns the test program inspected by a debugger or a profiler; undefined if the tool has further arguments.
function lookedAt([program, ...args]: readonly string[]): string[] | undefined {
  let at = 0;
  if (program === 'valgrind') while (valgrind.test(args[at] ?? '') || suppressions.test(args[at] ?? '')) at += 1;
  else if (program === 'perf' && args[0] === 'stat') {
    at = 1;
    while (/^-(e|r)$/.test(args[at] ?? '') && /^[a-z0-9][\w:,-]*$/.test(args[at + 1] ?? '')) at += 2;
    if (args[at] === '--') at += 1;
  } else if (program === 'gdb' && /^--?batch$/m.test(args.join('\n'))) {
    for (; at < args.length && !/^--?args$/.test(args[at]!); at++) {
      if (/^--?(q|quiet|batch|nx|n)$/.test(args[at]!)) continue;
      if (/^--?(ex)$/.test(args[at]!) && debugged.test(args[at + 1] ?? '')) at += 1;
      else return undefined;
    }
    at += 1;
  } else return undefined;
  return isBuiltTest(args[at] ?? '') ? args.slice(at) : undefined;
}

/**
 * Project's own copy of a tool, which may be any file. `through` is the launcher or folder before the name: `npx `, `.venv/bin/`.
 * `installers` are the package managers that may have installed the copy.
 */
interface OwnCopy {
  through: string;
  installers: readonly PackageInstaller[];
}

/**
 * File of a project that several launchers start: `npm` in the nearest `node_modules/.bin`; `venv` in `.venv/bin`; `uv` the same, but uv
 * may install first. A rule applies to the copy, for any of its launchers.
 */
type ProjectBinaryKind = 'npm' | 'venv' | 'uv';

/**
 * Returns the copies whose rules cover a launcher; a new rule uses the first. Empty if a launcher may start something else: `pnpm name` a
 * script, `bin/name` a file of the repository.
 */
export function binaryKindsOfLauncher(through: string): readonly ProjectBinaryKind[] {
  if (/^(npx |bunx |(npm|pnpm|yarn) exec |(\.\/)?node_modules\/\.bin\/)$/.test(through)) return ['npm'];
  if (/^(\.venv\/bin\/|(poetry|pdm) run )(python3? -m )?$/.test(through)) return ['venv', 'uv'];
  return /^uv run (python3? -m )?$/.test(through) ? ['uv'] : [];
}

interface Launched {
  words: string[];
  own?: OwnCopy;
  /** A version manager starts the program, and the folder determines the version. */
  shimmed?: true;
}

/**
 * Returns the words of the installed program that a command starts, directly or through launchers (`npx jest`, `uv run pytest`,
 * `.venv/bin/mypy`). Undefined if not installed (a launcher could download the program) or unknown.
 * @param folder working folder, absolute and real
 */
export async function resolveLaunchedProgram(
  words: readonly string[],
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<Launched | undefined> {
  const inside = inContainer(words);
  if (inside) return fromPath(inside, folder, roots);
  const tests = isBuiltTest(words[0]!) ? words : lookedAt(words);
  if (tests)
    return (await isFile(paths.resolve(folder, tests[0]!), roots))
      ? { words: [builtTest, ...tests.slice(1)] }
      : undefined;
  let rest = [...words];
  let own: OwnCopy | undefined;
  const found = (launched: Launched | undefined): Launched | undefined =>
    launched && { ...launched, ...(own && { own: launched.own ? joined(own, launched.own) : own }) };
  for (let depth = 0; depth < 4; depth++) {
    const [program = '', ...args] = rest;
    if (program.includes('/')) {
      const named = await byPath(program, folder, roots);
      if (named === undefined) return undefined;
      if (named.own) own = joined(own, named.own);
      rest = [named.name, ...args];
      if (!startsOthers(rest)) return found({ words: rest });
    }
    const script = scriptOf(rest);
    if (script) return found(await withOrigin(script, rest[0]!, own, folder, roots));
    const launcher = launcherOf(rest);
    if (!launcher) return found(own ? { words: rest } : await fromPath(rest, folder, roots));
    if (!own && !(await isOfSystem(rest[0]!, folder, roots))) return undefined;
    const inner = startedBy(rest.slice(launcher.words.length));
    if (inner === undefined || !(await launcher.has(inner[0]!, folder, roots)))
      return launcher.scripts ? found(await fromPath(rest, folder, roots)) : undefined;
    if (launcher.secondShell && !inner.every(isQuotable)) return undefined;
    own = joined(own, { through: `${launcher.words.join(' ')} `, installers: [launcher.installer] });
    rest = inner;
  }
  return undefined;
}

const isQuotable = (word: string): boolean => isStaticShellWord(word) && !/[$`\\"\n\r]/.test(word);

const joined = (outer: OwnCopy | undefined, inner: OwnCopy): OwnCopy =>
  outer
    ? {
        through: outer.through.endsWith('/')
          ? `${outer.through}${inner.through}`
          : `${outer.through}${inner.through}`.replace(/ +/g, ' '),
        installers: inner.installers.filter((one) => outer.installers.includes(one)),
      }
    : inner;

async function fromPath(
  words: readonly string[],
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<Launched | undefined> {
  const found = await findProgramOnPath(words[0]!, folder, roots);
  return launchedFrom([...words], found);
}

function launchedFrom(words: string[], found: OnPath): Launched | undefined {
  if (found.in === 'system') return { words, ...(found.shimmed && { shimmed: true }) };
  const own = ownFolder(found.folder);
  return own && { words, own };
}

const isOfSystem = async (program: string, folder: string, roots: readonly WorkspaceRoot[]): Promise<boolean> =>
  (await findProgramOnPath(program, folder, roots)).in === 'system';

async function withOrigin(
  words: string[],
  interpreter: string,
  own: OwnCopy | undefined,
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<Launched | undefined> {
  return own || (await isOfSystem(interpreter, folder, roots)) ? { words } : undefined;
}

function inContainer([program, ...args]: readonly string[]): string[] | undefined {
  const words = program === 'docker-compose' ? ['docker', 'compose', ...args] : [program, ...args];
  if (words.slice(0, 3).join(' ') !== 'docker compose exec') return undefined;
  const rest = words.slice(3).filter((word, at, all) => word !== '-T' || all.slice(0, at).some((one) => one !== '-T'));
  return /^[a-z]\w*([-.]\w+)*$/i.test(rest[0] ?? '') && rest.length > 1
    ? ['docker', 'compose', 'exec', ...rest.slice(1)].map((word) => word!)
    : undefined;
}

interface Launcher {
  words: readonly string[];
  installer: PackageInstaller;
  /** A script with the same name takes precedence, and without either the word is another command. */
  scripts?: true;
  /** Some versions pass arguments to a shell between double quotes; a script of the project may do so in any version. */
  secondShell?: true;
  has(name: string, folder: string, roots: readonly WorkspaceRoot[]): Promise<boolean>;
}

const around =
  (...files: string[]) =>
  async (name: string, folder: string, roots: readonly WorkspaceRoot[]): Promise<boolean> => {
    for (let ancestor = folder; ; ancestor = paths.dirname(ancestor)) {
      for (const file of files) if (await isFile(paths.join(ancestor, file.replace('*', name)), roots)) return true;
      if (roots.some(({ path }) => path === ancestor) || paths.dirname(ancestor) === ancestor) return false;
    }
  };

const inNode = around('node_modules/.bin/*');
const inEnvironment = around('.venv/bin/*', 'venv/bin/*');

const launchers: readonly Launcher[] = [
  ...['pnpm exec', 'yarn exec', 'bunx'].map(
    (words): Launcher => ({ words: words.split(' '), installer: 'npm', has: inNode }),
  ),
  ...['npm exec', 'npx'].map(
    (words): Launcher => ({ words: words.split(' '), installer: 'npm', secondShell: true, has: inNode }),
  ),
  ...['pnpm', 'yarn'].map(
    (word): Launcher => ({ words: [word], installer: 'npm', scripts: true, secondShell: true, has: inNode }),
  ),
  ...['uv run', 'poetry run'].map(
    (words): Launcher => ({ words: words.split(' '), installer: 'pip', has: inEnvironment }),
  ),
  ...['pdm run', 'pipenv run', 'rye run'].map(
    (words): Launcher => ({ words: words.split(' '), installer: 'pip', secondShell: true, has: inEnvironment }),
  ),
  ...['python', 'python3'].map((word): Launcher => ({ words: [word, '-m'], installer: 'pip', has: isInstalledModule })),
  { words: ['bundle', 'exec'], installer: 'gem', has: around('Gemfile') },
];

const launcherOf = (words: readonly string[]): Launcher | undefined =>
  launchers.find((launcher) => launcher.words.every((word, at) => words[at] === word));

const harmless = new Set(
  '--no-install --no --offline --frozen --locked --no-sync -q --quiet --silent -s --no-progress --'.split(' '),
);

function startedBy(words: readonly string[]): string[] | undefined {
  const at = words.findIndex((word) => !harmless.has(word));
  return at >= 0 && /^\w[\w.-]*$/.test(words[at]!) ? words.slice(at) : undefined;
}

// Tests for Python tools started as modules. A module of the same name in the folder would take precedence.
async function isInstalledModule(name: string, folder: string, roots: readonly WorkspaceRoot[]): Promise<boolean> {
  if (!pythonModules.has(name)) return false;
  for (const file of [name, `${name}.py`]) if (await exists(paths.join(folder, file), roots)) return false;
  return true;
}
const pythonModules = new Set(
  (
    'pytest unittest mypy ruff black isort flake8 pylint coverage alembic pyright yamllint codespell djlint sqlfluff ' +
    'py_compile compileall tabnanny bandit vulture radon pydocstyle pycodestyle nox tox sphinx mkdocs flask django'
  ).split(' '),
);

function scriptOf([program, ...args]: readonly string[]): string[] | undefined {
  switch (program) {
    case 'python':
    case 'python3':
      return args[0] === 'manage.py' ? [...args] : undefined;
    case 'php':
      return args[0] === 'artisan' ? [...args] : undefined;
    case 'docker-compose':
      return ['docker', 'compose', ...args];
    case 'pip3':
      return ['pip', ...args];
    default:
      return undefined;
  }
}

const startsOthers = (words: readonly string[]): boolean =>
  scriptOf(words) !== undefined || launcherOf(words) !== undefined;

async function byPath(
  program: string,
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<{ name: string; own?: OwnCopy } | undefined> {
  const { dir, base } = paths.posix.parse(program);
  if (systemProgramFolders.includes(dir)) return { name: base };
  const wrapped = /^(?:\.\/|(?:\.\.\/)+)?(gradlew|mvnw)$/.exec(program)?.[1];
  const own = /^(\.\/)?[\w.]/.test(program) ? ownFolder(dir.replace(/^\.\//, '')) : undefined;
  const isOwn = own !== undefined && /^[\w.-]+$/.test(base) && ownPath.test(dir);
  if ((!wrapped && !isOwn) || !(await isFile(paths.resolve(folder, program), roots))) return undefined;
  return wrapped ? { name: wrappers.get(wrapped)! } : { name: base, own: own! };
}

const wrappers = new Map([
  ['gradlew', 'gradle'],
  ['mvnw', 'mvn'],
]);

const ownPath = /^(\.\/)?(node_modules\/\.|\.?venv\/|vendor\/|)bin$/;

function ownFolder(folder: string): OwnCopy | undefined {
  const found = /(?:^|\/)(node_modules\/\.bin|\.?venv\/bin|vendor\/bin|bin)$/.exec(folder)?.[1];
  const installers = found === undefined ? undefined : installersOf(found);
  return installers && { through: `${found}/`, installers };
}

const installersOf = (folder: string): readonly PackageInstaller[] => {
  if (folder.startsWith('node_modules')) return ['npm'];
  if (folder.includes('venv')) return ['pip'];
  return folder.startsWith('vendor') ? ['composer'] : ['gem', 'composer'];
};

const exists = (path: string, roots: readonly WorkspaceRoot[]): Promise<boolean> =>
  resolvePath(roots, path, 'rename').then(
    () => true,
    ({ code }) => code !== 'ENOENT',
  );

// Tests if the file exists; links may lead anywhere, because package managers create them.
const isFile = (path: string, roots: readonly WorkspaceRoot[]): Promise<boolean> =>
  resolvePath(roots, path, 'rename').then(
    ({ kind }) => kind === 'file' || kind === 'link',
    () => false,
  );
