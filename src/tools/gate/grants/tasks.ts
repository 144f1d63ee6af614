import type { Row } from './row.ts';
import { tool } from './tool.ts';

/** What a Makefile hands on to a runner of tests or a linter: names, and options that show or choose. */
const passedOn =
  /^(?:(?:TEST|PYTEST|JEST|VITEST|GO|GOTEST|GO_TEST|CTEST|RSPEC|CARGO|LINT|GOLANGCI)_?(?:ARGS|FLAGS|OPTS)|ARGS|TESTS?|FILTER|K|T|PKG)=(?:(?:-q|-v|-vv|-x|-s|-l|-k [\w.-]+|-run [\w./^-]+|-race|-short|-count=\d+|--lf|--ff|--verbose|--quiet|--tb=short|--new-from-rev=[\w./-]+|(?!\/|\.\.|[\w./:-]*\/\.\.)[\w.][\w./:-]*)(?: (?=\S)|$))+$|^(?:V|VERBOSE|CI|Q)=[\w@]?$/;
export const taskRows: readonly Row[] = [
  ...['make', 'gmake', 'just', 'task'].map((command) =>
    tool(
      command,
      command === 'just'
        ? '-q --quiet -n --dry-run --no-highlight'
        : command === 'task'
          ? '-s --silent -n --dry -p'
          : '-s -k -j -j=# -B -n -w -i --silent --quiet --no-print-directory --keep-going --dry-run --always-make',
      {
        why: 'It runs targets whose names say that they test, check or build. A variable, another file or another folder is asked about.',
        operands: 'scripts',
        secondShell: true,
        least: 1,
        also: passedOn,
        yes: [
          `${command} test`,
          `${command} lint typecheck`,
          ...(command === 'make' ? ['make test ARGS="-k invoices -q"', 'make test V=1'] : []),
        ],
        no: [
          `${command} deploy`,
          `${command} clean`,
          `${command} -f evil.mk test`,
          `${command} -C .. test`,
          `${command} test X=y`,
          `${command} test ARGS=-pevil`,
          `${command} test ARGS=a/../../x`,
          `${command} test ARGS=--config=x`,
          `${command} test SHELL=x`,
          `${command} test 'ARGS=x;touch X'`,
          `${command} install`,
          ...(command === 'make' ? ["make --eval='x:;touch X' test"] : []),
        ],
      },
    ),
  ),
  tool('make', '-s -k -j -j=# -B -n -w --silent --no-print-directory', {
    why: 'Without a name it builds what the project builds first.',
    yes: ['make', 'make -j4'],
    no: ["make --eval='x:;touch PWNED' x", 'make -f evil.mk', 'make SHELL=./evil'],
  }),
];
