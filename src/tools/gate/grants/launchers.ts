import * as paths from 'node:path';
import type { WorkspaceRoot } from '../../workspace.ts';
import { resolvePath } from '../paths.ts';
import { programFolders } from '../readOnlyPrograms.ts';
import { builtTest, isBuiltTest, lookedAt } from './builtTests.ts';

/** A program, and where it comes from: the system, what a package manager has installed for the project, or its own files. */
export interface Launched {
  words: string[];
  by?: 'installed' | 'project';
}

/**
 * The words of the program that others start for it (`npx jest`, `uv run pytest`, `./gradlew`, `.venv/bin/mypy`): only programs that
 * the project has, so that nothing is fetched for it. Undefined where it is not there, or is anything else.
 * @param folder where it runs: absolute and real
 */
export async function launched(
  words: readonly string[],
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<Launched | undefined> {
  const inside = inContainer(words);
  if (inside) return { words: inside };
  const tests = isBuiltTest(words[0]!) ? words : lookedAt(words);
  if (tests)
    return (await isFile(paths.resolve(folder, tests[0]!), roots))
      ? { words: [builtTest, ...tests.slice(1)] }
      : undefined;
  let rest = [...words];
  let by: Launched['by'];
  for (let depth = 0; depth < 4; depth++) {
    const [program = '', ...args] = rest;
    if (program.includes('/')) {
      const name = await named(program, folder, roots);
      if (name === undefined) return undefined;
      const inner = start([name, ...args]);
      if (inner && isModule(name, args) && !(await isInstalledModule(inner[0]!, folder, roots))) return undefined;
      if (/^(\.\.?\/)*((vendor\/)?bin\/|gradlew|mvnw)/.test(program)) by = 'project';
      return { words: inner ?? [name, ...args], ...(by && { by }) };
    }
    const inner = start(rest);
    if (inner === undefined) return { words: rest, ...(by && { by }) };
    if (fromNode.has(program)) {
      const isThere = await hasNodeProgram(inner[0]!, folder, roots);
      // Without `exec` a script of that name goes before the program.
      const bare = scriptsFirst.has(program) && args[0] !== 'exec';
      if (!isThere) return bare ? { words: rest, ...(by && { by }) } : undefined;
      by = bare ? 'project' : 'installed';
    }
    if (isModule(program, args) && !(await isInstalledModule(inner[0]!, folder, roots))) return undefined;
    rest = inner;
  }
  return undefined;
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

const fromNode = new Set(['npx', 'npm', 'pnpm', 'yarn', 'bunx']);
const scriptsFirst = new Set(['pnpm', 'yarn']);
/** What stands between them and the program, and changes nothing about it. */
const harmless = new Set(
  '--no-install --no --offline --frozen --locked --no-sync -q --quiet --silent -s --no-progress --'.split(' '),
);

const isModule = (program: string, [option]: readonly string[]): boolean =>
  /^python3?$/.test(program) && option === '-m';

/** Tools for Python that are started as modules. One of that name in the folder, where Python looks first, is another program. */
async function isInstalledModule(name: string, folder: string, roots: readonly WorkspaceRoot[]): Promise<boolean> {
  if (!pythonModules.has(name)) return false;
  for (const file of [name, `${name}.py`]) if (await isThere(paths.join(folder, file), roots)) return false;
  return true;
}
const pythonModules = new Set(
  (
    'pytest unittest mypy ruff black isort flake8 pylint coverage pip alembic pyright yamllint codespell djlint sqlfluff json.tool ' +
    'py_compile compileall tabnanny bandit vulture radon pydocstyle pycodestyle pip_audit pipdeptree nox tox sphinx mkdocs flask django'
  ).split(' '),
);

/** What a starter starts; undefined: it is none, or is told more than to start it. */
function start([program, ...args]: readonly string[]): string[] | undefined {
  const behind = (words: readonly string[]) => {
    const at = words.findIndex((word) => !harmless.has(word));
    return at >= 0 && /^[\w.-][\w./-]*$/.test(words[at]!) && !words[at]!.startsWith('-') ? words.slice(at) : undefined;
  };
  switch (program) {
    case 'npx':
    case 'bunx':
      return behind(args);
    case 'pnpm':
    case 'yarn':
      return behind(args[0] === 'exec' ? args.slice(1) : args);
    case 'npm':
    case 'bundle':
      return args[0] === 'exec' ? behind(args.slice(1)) : undefined;
    case 'uv':
    case 'poetry':
    case 'pdm':
    case 'pipenv':
    case 'rye':
      return args[0] === 'run' ? behind(args.slice(1)) : undefined;
    case 'python':
    case 'python3':
      if (args[0] === '-m' && args[1] !== undefined) return behind(args.slice(1));
      return args[0] === 'manage.py' ? [...args] : undefined;
    case 'php':
      return args[0] === 'artisan' ? [...args] : undefined;
    case 'docker-compose':
      return ['docker', 'compose', ...args];
    case 'pip3':
      return ['pip', ...args];
    case 'gradlew':
      return ['gradle', ...args];
    case 'mvnw':
      return ['mvn', ...args];
    default:
      return undefined;
  }
}

/** A program by its path: the system's, or one of the places where a project has its own. */
async function named(program: string, folder: string, roots: readonly WorkspaceRoot[]): Promise<string | undefined> {
  const { dir, base } = paths.posix.parse(program);
  if (programFolders.includes(dir)) return base;
  const own = /^(\.\/)?(node_modules\/\.|\.?venv\/|vendor\/|)bin\/[\w.-]+$|^(\.\/|(\.\.\/)+)?(gradlew|mvnw)$/;
  if (!own.test(program)) return undefined;
  return (await isFile(paths.resolve(folder, program), roots)) ? base : undefined;
}

async function hasNodeProgram(name: string, folder: string, roots: readonly WorkspaceRoot[]): Promise<boolean> {
  for (let place = folder; ; place = paths.dirname(place)) {
    if (await isFile(paths.join(place, 'node_modules', '.bin', name), roots)) return true;
    if (roots.some(({ path }) => path === place) || paths.dirname(place) === place) return false;
  }
}

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
