import type { CommandRuleKind } from '../../../protocol/content/rule.ts';
import type { WorkspaceRoot } from '../../core/workspace.ts';
import { isStaticShellWord } from '../commandStep.ts';
import type { GrantRow, GrantRowMatch } from './grantRow.ts';
import { matchGrantRow, parseGrantRowArguments } from './grantRow.ts';
import { binaryKindsOfLauncher, resolveLaunchedProgram } from './launchers.ts';
import {
  type AcceptedArgumentsLookup,
  allowsScriptArguments,
  type ProjectScriptCall,
  type ProjectScriptFile,
} from './scriptArguments.ts';
import { expandGrantRows } from './tableRows.ts';
import { grantTables } from './tables.ts';
import type { RequiredFileCheck } from './values.ts';

const versioned =
  /^(node|npm|docker|docker-compose|gh|go|cmake|ninja|kubectl|helm|yq|bash|zsh|sqlite3|ccache|npx|yarn|pnpm|bun|deno|tsc|eslint|prettier|jest|vitest|uv|poetry|ruff|mypy|pytest|black|ruby|bundle|bundler|gem|rails|rake|rspec|rubocop|gofmt|golangci-lint|cargo|rustc|rustup|rustfmt|kotlin|kotlinc|mvn|gradle|dotnet|php|composer|meson|clang-format|clang-tidy|cppcheck|gdb|lldb|valgrind|swift|dart|flutter|elixir|mix|erl|ghc|cabal|stack|zig|protoc|buf|conan|vcpkg|just|task|direnv|mise|asdf|alembic|nox|tox|pre-commit|gcovr|lcov|nx|turbo|vite|next|java_home|sqlc|air|delve|dlv)$/;

// Programs that read no file to print their version.
const versionOnly =
  /^(python|python3|python3\.\d+|pip3?|java|javac|make|gmake|gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ctest|perl|lua|aws|gcloud|az|jq|rg|fd|shellcheck|psql|mysql|redis-cli)$/;

const looksAtNothing = (program: string): boolean => versionOnly.test(program);

const asksVersion = (program: string, [option, ...more]: readonly string[]): boolean =>
  more.length === 0 &&
  (looksAtNothing(program) || versioned.test(program)) &&
  (option === '--version' ||
    (option === 'version' && /^(kubectl|helm|deno|gh|uv|zig|buf|golangci-lint|mise)$/.test(program)) ||
    (option === '-V' && /^(python3?|rustc|cargo|ruff|uv|rustup)$/.test(program)) ||
    (option === '-v' && /^(node|npm|npx|ruby|php|yarn|pnpm|bundle|gem|rails|mvn|gradle|perl|rubocop)$/.test(program)) ||
    (option === '-version' && /^(java|javac|kotlinc?)$/.test(program)));

/**
 * Returns disk checks for a command never observed; undefined if an approval is needed. The program may interpret words differently from
 * the row, so each word except option names must also be harmless as a path in the open folder.
 * @param args arguments after the row's command
 */
function unseenClaims(
  row: GrantRow,
  args: readonly string[],
  { claims, operands, values }: GrantRowMatch,
): RequiredFileCheck[] | undefined {
  // Words after `--` may be anything: settings, or arguments of a started program.
  if (args.includes('--') || ![...operands, ...values].every(isPlain)) return undefined;
  // A single word may be a subcommand, as in `git log`, so the word must be an existing file or folder.
  const isSpecific = row.command.includes(' ') || !/^(paths|files|names)$/.test(String(row.operands));
  const as = (word: string) => (isSpecific || !/^[a-z][\w-]*$/.test(word) ? 'read' : 'there');
  return [
    ...claims,
    ...operands.map((path): RequiredFileCheck => ({ path, as: as(path) })),
    ...values.map((path): RequiredFileCheck => ({ path, as: 'read' })),
  ];
}

// Tests for words without meaning as option, address, variable or argument list, and without an absolute path.
const isPlain = (word: string): boolean =>
  isStaticShellWord(word) &&
  /^[^-@~+!|<>/\\`$][^\\`$]*$/.test(word) &&
  !/^[^/]*:\d|:\/|(^|[/=,;:])\.\.([/,;:]|$)|[=,;:]\//.test(word);

/**
 * All commands with grants wider than the exact words. Deliberately absent: interpreters, launchers, programs that send, fetch, copy or
 * pack, and commands that delete, move, publish or push.
 */
export const commandGrantRows: readonly GrantRow[] = grantTables.flatMap(expandGrantRows);

const byProgram = new Map<string, GrantRow[]>();
for (const row of commandGrantRows) {
  const [program] = row.command.split(' ') as [string];
  const those = byProgram.get(program);
  if (those) those.push(row);
  else byProgram.set(program, [row]);
}

/**
 * Tests for kinds of commands that run no code of the open folder. Programs with such a row load no code from the folder, and no
 * configuration that can name code.
 * @invariant kinds-without-project-code: A command of the kinds `looks` and `asks` starts nothing that lies in the open folder.
 */
const runsNoCode = (kind: CommandRuleKind): boolean => kind === 'looks' || kind === 'asks';

/**
 * Row that covers a command, and the disk checks to make before the command counts as harmless. `command` is the row's command after the
 * launcher of a project copy.
 */
interface CommandGrantMatch {
  command: string;
  kind: CommandRuleKind;
  copies?: string[];
  claims: RequiredFileCheck[];
  home?: GrantRow['home'];
}

/** Returns the row that covers a command in `folder` (absolute and real); undefined if there is none. */
export async function findGrantRow(
  words: readonly string[],
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<CommandGrantMatch | undefined> {
  const found = await resolveLaunchedProgram(words, folder, roots);
  if (!found) return undefined;
  const { words: meant, own, shimmed } = found;
  const { through = '', installers = [] } = own ?? {};
  const copies = binaryKindsOfLauncher(through);
  const covered = (
    command: string,
    kind: CommandRuleKind,
    claims: RequiredFileCheck[],
    home?: GrantRow['home'],
  ): CommandGrantMatch => ({
    ...(copies.length > 0 && { copies: copies.map((copy) => `${copy}: ${command}`) }),
    command: through + command,
    kind: (shimmed || own) && runsNoCode(kind) ? 'loads' : kind,
    claims,
    ...(home && { home }),
  });
  const [program, ...args] = meant as [string, ...string[]];
  const ofProgram = byProgram.get(program) ?? [];
  const candidates = ofProgram.filter(
    ({ installedBy }) => !own || installedBy?.some((one) => installers.includes(one)),
  );
  if (asksVersion(program, args) && (!own || candidates.length > 0)) {
    const looks = looksAtNothing(program) || ofProgram.some(({ kind }) => runsNoCode(kind));
    return covered(`${program} --version`, looks ? 'looks' : 'loads', []);
  }
  for (const row of candidates) {
    const begun = parseGrantRowArguments(row, meant);
    const fit = begun && matchGrantRow(row, begun.args, begun);
    if (
      fit &&
      row.scripts &&
      !(await allowsScriptArguments(scriptCall(row.scripts, row, meant, fit), folder, roots, takes))
    )
      continue;
    const claims = fit && (row.unseen ? unseenClaims(row, begun.args, fit) : fit.claims);
    if (claims) return covered(row.command, row.kind, claims, row.home);
  }
  return undefined;
}

const choosesPackages = /^(-ws?|-F|-r|--(workspaces?|filter|recursive|include-workspace-root))(=|$)|^-[wF]./;

function scriptCall(
  file: ProjectScriptFile,
  { operands }: GrantRow,
  words: readonly string[],
  fit: GrantRowMatch,
): ProjectScriptCall {
  const isNamed = operands === 'scripts';
  const [first = 'test', ...others] = isNamed ? fit.operands : ['test', ...fit.operands];
  const end = words.indexOf('--');
  const own = end < 0 ? words : words.slice(0, end);
  return {
    file,
    name: first,
    operands: [...others, ...fit.rest],
    elsewhere: own.some((word) => choosesPackages.test(word)),
  };
}

function takes(program: string): ReturnType<AcceptedArgumentsLookup> {
  const rows = byProgram.get(program);
  const types = rows?.flatMap(({ operands = [] }) => operands) ?? [];
  if (types.length > 0 && types.every((type) => /^(tests|collected|modules)$/.test(type))) return 'tests';
  return rows && 'any';
}
