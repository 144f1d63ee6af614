import type { Row } from './row.ts';
import { tool } from './tool.ts';

/** What programs of tests, and what runs them under its eyes, are called in the table. */
export const builtTest = 'build/…test';

/** A program of tests that a build of the project has made, by its path in the folder where builds write. */
export const isBuiltTest = (program: string): boolean =>
  /^(\.\/)?((_?build|builddir|out|cmake-build)[\w-]*|target\/(debug|release)(\/deps)?|zig-out\/bin|\.build\/(debug|release)|bazel-bin)\/([\w+-][\w.+-]*\/)*[\w.+-]*(test|spec|bench|fuzz)[\w.+-]*$/i.test(
    program,
  ) && !/(^|[/._-])(deploy|publish|install|release-)/i.test(program.replace(/^(\.\/)?target\/release\//, ''));

const suppressions = /^--suppressions=(?!\/|.*\.\.)[\w./-]+$/;
const valgrind =
  /^(-q|-v|--(quiet|verbose|error-exitcode=\d+|leak-check=(full|yes|no|summary)|show-leak-kinds=[\w,]+|track-origins=(yes|no)|tool=(memcheck|helgrind|drd)|num-callers=\d+|errors-for-leak-kinds=[\w,]+|trace-children=(yes|no)))$/;
const debugged =
  /^(run|r|where|(bt|backtrace)( \d+| full)?|info (locals|args|registers|threads|frame)|thread apply all bt( full| \d+)?|frame \d+|up|down|quit|set pagination off)$/;

/** The program of tests that another one looks at while it runs: a debugger, a profiler. Undefined: it is told more than that. */
export function lookedAt([program, ...args]: readonly string[]): string[] | undefined {
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

const options =
  '--gtest_filter= --gtest_repeat=# --gtest_break_on_failure --gtest_list_tests --gtest_brief=0|1 --gtest_shuffle --gtest_random_seed=# --gtest_color=yes|no|auto --gtest_also_run_disabled_tests --gtest_fail_fast --gtest_catch_exceptions=0|1 --gtest_print_time=0|1 ' +
  '-s --success -r=compact|console|junit|tap|xml --reporter=compact|console|junit|tap|xml -a --abort -x=# -d=yes|no --durations=yes|no --order=rand|decl|lex --rng-seed=# --list-tests --list-tags -tc= -ts= -sc= --test-case= --test-suite= --subcase= --no-skip=true|false -ltc ' +
  '--run_test= -t= --log_level=all|test_suite|message|warning|error|nothing --report_level=no|confirm|short|detailed --list_content --random=# --color_output=yes|no ' +
  '--benchmark_filter= --benchmark_min_time= --benchmark_repetitions=# --benchmark_format=console|json|csv --benchmark_list_tests --benchmark_counters_tabular=true|false --benchmark_report_aggregates_only=true|false ' +
  '-runs=0 --nocapture --exact --test-threads=# --list --ignored --include-ignored --skip= --show-output -q --quiet -v --verbose --help -h --version';

export const builtTestRows: readonly Row[] = [
  tool(builtTest, options, {
    why: "It runs the project's own tests or benchmarks, as they were built, where its build has put them. What writes a report or takes another file of options is asked about.",
    home: 'build',
    operands: (word) => /^(?!.*\.\.)[\w[~*][\w[\]~*.,:/ -]*$/.test(word) && !word.startsWith('/'),
    most: 3,
    yes: [
      'build/debug/tests/strand_tests --gtest_filter=Utf8.* --gtest_repeat=50',
      './build/debug/tests/strand_tests "[utf8]"',
      'valgrind --leak-check=full -q build/debug/tests/strand_tests',
      "gdb -q -batch -ex run -ex 'bt 12' --args build/debug/tests/strand_tests",
      'perf stat -e cycles,cache-misses -- build/debug/tests/strand_tests',
    ],
    no: [
      'build/debug/tests/strand_tests --gtest_output=xml:/x',
      'build/debug/tests/strand_tests --gtest_flagfile=evil',
      'build/debug/tests/strand_tests --benchmark_out=/x',
      'build/debug/tests/strand_tests -o /x',
      'build/debug/tests/strand_tests ../x',
      'build/debug/tests/strand_tests /x',
      'build/debug/tests/missing_tests',
      'build/a.txt',
      'src/debug/tests/strand_tests',
      'build/../evil_tests',
      '/x/build/strand_tests',
      'valgrind --log-file=/x build/debug/tests/strand_tests',
      'valgrind --tool=massif build/debug/tests/strand_tests',
      'valgrind ./evil.sh',
      "gdb -batch -ex 'shell id' --args build/debug/tests/strand_tests",
      'gdb -batch -x evil --args build/debug/tests/strand_tests',
      "gdb -batch -ex 'python import os' --args build/debug/tests/strand_tests",
      'gdb --args build/debug/tests/strand_tests',
      'perf stat -o /x -- build/debug/tests/strand_tests',
      'perf record build/debug/tests/strand_tests',
      'build/…test --gtest_list_tests',
    ],
  }),
];
