import * as paths from 'node:path';
import type { WorkspaceRoot } from '../../core/workspace.ts';
import { resolvePath } from '../../sandbox/paths.ts';
import { isKnown } from '../commandStep.ts';
import { programFolders } from '../readOnlyPrograms.ts';
import { builtTest, isBuiltTest, lookedAt } from './builtTests.ts';
import type { Installer } from './grantRow.ts';
import { type OnPath, onPath } from './programOnPath.ts';

/** The project's own copy of a tool, which may be any file. */
interface OwnCopy {
  /** Launcher or folder in front of its name: `npx `, `.venv/bin/`. */
  through: string;
  /** Those that may have put it there. */
  installers: readonly Installer[];
}

/**
 * Which one file of a project several launchers start: `npm`, of the nearest `node_modules/.bin`; `venv`, of `.venv/bin`; `uv`, the same,
 * which uv may install first. A rule is for the copy, whichever of its launchers starts it.
 */
export type Copy = 'npm' | 'venv' | 'uv';

/**
 * Returns the copies whose rules cover what is started through this, the one that a new rule is for first. Empty where a launcher may
 * start something else: `pnpm name` a script of that name, `bin/name` a file of the repository.
 */
export function copiesOf(through: string): readonly Copy[] {
  if (/^(npx |bunx |(npm|pnpm|yarn) exec |(\.\/)?node_modules\/\.bin\/)$/.test(through)) return ['npm'];
  if (/^(\.venv\/bin\/|(poetry|pdm) run )(python3? -m )?$/.test(through)) return ['venv', 'uv'];
  return /^uv run (python3? -m )?$/.test(through) ? ['uv'] : [];
}

/** A program, and where it comes from: the system, or the project's own files. */
interface Launched {
  words: string[];
  own?: OwnCopy;
  /** A version manager starts it, and the folder says which file that is. */
  shimmed?: true;
}

/**
 * The words of the program that a command starts, directly or through others (`npx jest`, `uv run pytest`, `.venv/bin/mypy`): one
 * that is there, so that nothing is fetched for it. Undefined when it is not there, or is anything else.
 * @param folder where it runs: absolute and real
 */
export async function launched(
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

/** Text for a shell between double quotes. */
const isQuotable = (word: string): boolean => isKnown(word) && !/[$`\\"\n\r]/.test(word);

/** A copy that is started through two: `.venv/bin/` and `python -m `. */
const joined = (outer: OwnCopy | undefined, inner: OwnCopy): OwnCopy =>
  outer
    ? {
        through: outer.through.endsWith('/')
          ? `${outer.through}${inner.through}`
          : `${outer.through}${inner.through}`.replace(/ +/g, ' '),
        installers: inner.installers.filter((one) => outer.installers.includes(one)),
      }
    : inner;

/** A program by its name alone: the first of that name on the path, which may be the project's own. */
async function fromPath(
  words: readonly string[],
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<Launched | undefined> {
  const found = await onPath(words[0]!, folder, roots);
  return placed([...words], found);
}

function placed(words: string[], found: OnPath): Launched | undefined {
  if (found.in === 'system') return { words, ...(found.shimmed && { shimmed: true }) };
  const own = ownFolder(found.folder);
  return own && { words, own };
}

const isOfSystem = async (program: string, folder: string, roots: readonly WorkspaceRoot[]): Promise<boolean> =>
  (await onPath(program, folder, roots)).in === 'system';

/** `manage.py` and `artisan` are the project's own code, whatever starts them. */
async function withOrigin(
  words: string[],
  interpreter: string,
  own: OwnCopy | undefined,
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<Launched | undefined> {
  return own || (await isOfSystem(interpreter, folder, roots)) ? { words } : undefined;
}

/** A program in a container of the project: without what says which. The containers of others are another thing. */
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
  installer: Installer;
  /** A script of that name goes before the program, and without either it is another command. */
  scripts?: true;
  /** Some versions hand arguments to a shell, each between double quotes; a script of the project may do so for any version. */
  secondShell?: true;
  /** The project has the program. */
  has(name: string, folder: string, roots: readonly WorkspaceRoot[]): Promise<boolean>;
}

const around =
  (...files: string[]) =>
  async (name: string, folder: string, roots: readonly WorkspaceRoot[]): Promise<boolean> => {
    for (let place = folder; ; place = paths.dirname(place)) {
      for (const file of files) if (await isFile(paths.join(place, file.replace('*', name)), roots)) return true;
      if (roots.some(({ path }) => path === place) || paths.dirname(place) === place) return false;
    }
  };

const inNode = around('node_modules/.bin/*');
const inEnvironment = around('.venv/bin/*', 'venv/bin/*');

/** Longer ones first. */
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

/** What stands between them and the program, and changes nothing about it. */
const harmless = new Set(
  '--no-install --no --offline --frozen --locked --no-sync -q --quiet --silent -s --no-progress --'.split(' '),
);

/** The words of the program, behind options that change nothing; undefined: its name may be anything. */
function startedBy(words: readonly string[]): string[] | undefined {
  const at = words.findIndex((word) => !harmless.has(word));
  return at >= 0 && /^\w[\w.-]*$/.test(words[at]!) ? words.slice(at) : undefined;
}

/** Tools for Python that are started as modules. One of that name in the folder, where Python looks first, is another program. */
async function isInstalledModule(name: string, folder: string, roots: readonly WorkspaceRoot[]): Promise<boolean> {
  if (!pythonModules.has(name)) return false;
  for (const file of [name, `${name}.py`]) if (await isThere(paths.join(folder, file), roots)) return false;
  return true;
}
const pythonModules = new Set(
  (
    'pytest unittest mypy ruff black isort flake8 pylint coverage alembic pyright yamllint codespell djlint sqlfluff ' +
    'py_compile compileall tabnanny bandit vulture radon pydocstyle pycodestyle nox tox sphinx mkdocs flask django'
  ).split(' '),
);

/** Other names of a program, and the scripts that an interpreter is given. */
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

/** A program by its path: the system's, one that the project has installed, or the wrapper that runs its build. */
async function byPath(
  program: string,
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<{ name: string; own?: OwnCopy } | undefined> {
  const { dir, base } = paths.posix.parse(program);
  if (programFolders.includes(dir)) return { name: base };
  const wrapped = /^(?:\.\/|(?:\.\.\/)+)?(gradlew|mvnw)$/.exec(program)?.[1];
  const own = /^(\.\/)?[\w.]/.test(program) ? ownFolder(dir.replace(/^\.\//, '')) : undefined;
  const isOwn = own !== undefined && /^[\w.-]+$/.test(base) && ownPath.test(dir);
  if ((!wrapped && !isOwn) || !(await isFile(paths.resolve(folder, program), roots))) return undefined;
  return wrapped ? { name: wrappers.get(wrapped)! } : { name: base, own: own! };
}

/** They run the project's build, as the program does from wherever it is: both run the code of the folder. */
const wrappers = new Map([
  ['gradlew', 'gradle'],
  ['mvnw', 'mvn'],
]);

const ownPath = /^(\.\/)?(node_modules\/\.|\.?venv\/|vendor\/|)bin$/;

/** The copy in a folder in which a package manager puts programs; undefined for other folders. */
function ownFolder(folder: string): OwnCopy | undefined {
  const found = /(?:^|\/)(node_modules\/\.bin|\.?venv\/bin|vendor\/bin|bin)$/.exec(folder)?.[1];
  const installers = found === undefined ? undefined : installersOf(found);
  return installers && { through: `${found}/`, installers };
}

const installersOf = (folder: string): readonly Installer[] => {
  if (folder.startsWith('node_modules')) return ['npm'];
  if (folder.includes('venv')) return ['pip'];
  return folder.startsWith('vendor') ? ['composer'] : ['gem', 'composer'];
};

const isThere = (path: string, roots: readonly WorkspaceRoot[]): Promise<boolean> =>
  resolvePath(roots, path, 'rename').then(
    () => true,
    ({ code }) => code !== 'ENOENT',
  );

/** It is there; a link may lead anywhere, as package managers set them. */
const isFile = (path: string, roots: readonly WorkspaceRoot[]): Promise<boolean> =>
  resolvePath(roots, path, 'rename').then(
    ({ kind }) => kind === 'file' || kind === 'link',
    () => false,
  );
