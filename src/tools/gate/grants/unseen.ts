import { isKnown } from '../step.ts';
import type { Fit, Row } from './row.ts';
import type { Claim } from './values.ts';

/**
 * Programs and commands of the table that nobody has watched while they ran: `npm run bench -- grants` needs them installed. What the
 * table says of them was read in their documentation, so less of it holds (`unseenClaims`). All others were run by it, and did nothing
 * that their row does not say; one that is added stands here until it was.
 */
export const unseen: readonly string[] = [
  'actionlint',
  'artisan',
  'brakeman',
  'brew',
  'build/…test',
  'bundle-audit',
  'cfn-lint',
  'checkov',
  'clang++-18',
  'clang-format-17',
  'clang-format-18',
  'clj-kondo',
  'cljfmt',
  'conda',
  'csharpier',
  'dart',
  'deptry',
  'djlint',
  'dotnet',
  'erb_lint',
  'erblint',
  'flutter',
  'forge',
  'fourmolu',
  'g++-13',
  'gleam',
  'gofumpt',
  'golangci-lint',
  'govulncheck',
  'hadolint',
  'haml-lint',
  'hatch',
  'helm',
  'kubeconform',
  'lint-imports',
  'manage.py show_urls',
  'manage.py spectacular',
  'manage.py validate_templates',
  'mdbook',
  'mdformat',
  'paratest',
  'pest',
  'php-cs-fixer',
  'phpstan',
  'pint',
  'pip-audit',
  'poe',
  'psalm',
  'rector',
  'reek',
  'rustup',
  'safety',
  'sbt',
  'selene',
  'slim-lint',
  'standardrb',
  'staticcheck',
  'swift',
  'swiftformat',
  'swiftlint',
  'task',
  'tflint',
  'tofu',
  'trivy',
  'ty',
  'typos',
  'uv',
  'vale',
  'xcodebuild',
  'zig',
  'zola',
];

export const isUnseen = ({ command }: Pick<Row, 'command'>): boolean =>
  unseen.some((begin) => command === begin || command.startsWith(`${begin} `));

/**
 * What has to be looked at before an unseen command is harmless; undefined: it is asked about. It may take a word for something else
 * than the table does, so each of its words but the names of options is held to be a path, too: of the open folder.
 * @param args behind the row's command
 */
export function unseenClaims(
  row: Row,
  args: readonly string[],
  { claims, operands, values }: Fit,
): Claim[] | undefined {
  // What stands behind `--` may be anything: settings, or the words of what it starts.
  if (args.includes('--') || ![...operands, ...values].every(isPlain)) return undefined;
  // A word alone may tell the program what to do, as in `git log`: it has to be a file or a folder.
  const isTold = row.command.includes(' ') || !/^(paths|files|names)$/.test(String(row.operands));
  const as = (word: string) => (isTold || !/^[a-z][\w-]*$/.test(word) ? 'read' : 'there');
  return [
    ...claims,
    ...operands.map((path): Claim => ({ path, as: as(path) })),
    ...values.map((path): Claim => ({ path, as: 'read' })),
  ];
}

/** No option, address, variable or list of arguments to whoever reads it, and no path that begins elsewhere. */
const isPlain = (word: string): boolean =>
  isKnown(word) &&
  /^[^-@~+!|<>/\\`$][^\\`$]*$/.test(word) &&
  !/^[^/]*:\d|:\/|(^|[/=,;:])\.\.([/,;:]|$)|[=,;:]\//.test(word);
