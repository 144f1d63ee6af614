export const builtTest = 'build/…test';

/** Tests for a test program built by the project, by its path in a build folder. */
export const isBuiltTest = (program: string): boolean =>
  /^(\.\/)?((_?build|builddir|out|cmake-build)[\w-]*|target\/(debug|release)(\/deps)?|zig-out\/bin|\.build\/(debug|release)|bazel-bin)\/([\w+-][\w.+-]*\/)*[\w.+-]*(test|spec|bench|fuzz)[\w.+-]*$/i.test(
    program,
  ) && !/(^|[/._-])(deploy|publish|install|release-)/i.test(program.replace(/^(\.\/)?target\/release\//, ''));

const suppressions = /^--suppressions=(?!\/|.*\.\.)[\w./-]+$/;
const valgrind =
  /^(-q|-v|--(quiet|verbose|error-exitcode=\d+|leak-check=(full|yes|no|summary)|show-leak-kinds=[\w,]+|track-origins=(yes|no)|tool=(memcheck|helgrind|drd)|num-callers=\d+|errors-for-leak-kinds=[\w,]+|trace-children=(yes|no)))$/;
const debugged =
  /^(run|r|where|(bt|backtrace)( \d+| full)?|info (locals|args|registers|threads|frame)|thread apply all bt( full| \d+)?|frame \d+|up|down|quit|set pagination off)$/;

/** Returns the test program inspected by a debugger or a profiler; undefined if the tool has further arguments. */
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
