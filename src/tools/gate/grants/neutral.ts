/**
 * What may stand around a command without making it another one: variables that only say how things are shown, counted or tried,
 * and programs that only say how long it may take.
 */
const short = /^[\w.,:*@+-]*$/;
const lintFlags = /^(-[DWA] ?[\w:-]+)( -[DWA] ?[\w:-]+)*$/;
/** Without those that name a file. */
const sanitizer = /^(?!.*(path|dir|file|symbolizer))\w+=(\d+|true|false)([: ]\w+=(\d+|true|false))*$/;
const number = /^\d{0,6}$/;

const neutral: Record<string, RegExp> = {
  CI: short,
  NODE_ENV: /^(test|development|production)$/,
  RAILS_ENV: /^(test|development)$/,
  RACK_ENV: /^(test|development)$/,
  MIX_ENV: /^(test|dev)$/,
  APP_ENV: /^(test|testing)$/,
  FORCE_COLOR: short,
  NO_COLOR: short,
  CLICOLOR: short,
  CLICOLOR_FORCE: short,
  GTEST_COLOR: short,
  CARGO_TERM_COLOR: short,
  TERM: short,
  COLUMNS: number,
  LINES: number,
  PORT: number,
  SEED: number,
  TZ: /^[A-Z]\w*([/+-]\w+)*$/,
  LANG: short,
  LANGUAGE: short,
  VERBOSE: short,
  V: number,
  LOG_LEVEL: short,
  DEBUG: short,
  RUST_BACKTRACE: short,
  RUST_LOG: /^[\w:=,]*$/,
  RUSTFLAGS: lintFlags,
  RUSTDOCFLAGS: lintFlags,
  RUST_TEST_THREADS: number,
  CARGO_INCREMENTAL: number,
  CARGO_BUILD_JOBS: number,
  PROPTEST_CASES: number,
  PYTHONHASHSEED: /^(\d+|random)$/,
  PYTHONUNBUFFERED: number,
  PYTHONDONTWRITEBYTECODE: number,
  PYTHONFAULTHANDLER: number,
  PYTHONASYNCIODEBUG: number,
  PYTHONUTF8: number,
  /** A category with a dot in it is loaded. */
  PYTHONWARNINGS: /^(error|ignore|default|always|module|once)(::[A-Za-z]*)?$/,
  NODE_OPTIONS:
    /^(--max-old-space-size=\d+|--(no-)?(trace-)?(warnings|deprecation)|--experimental-vm-modules)( (--max-old-space-size=\d+|--(no-)?(trace-)?(warnings|deprecation)|--experimental-vm-modules))*$/,
  GOFLAGS: /^-(count=1|v|race|short|mod=(vendor|readonly))$/,
  GOOS: short,
  GOARCH: short,
  CGO_ENABLED: number,
  GOMAXPROCS: number,
  GOGC: short,
  GOTRACEBACK: short,
  GORACE: sanitizer,
  ASAN_OPTIONS: sanitizer,
  UBSAN_OPTIONS: sanitizer,
  TSAN_OPTIONS: sanitizer,
  LSAN_OPTIONS: sanitizer,
  GTEST_FILTER: /^[\w.*:/-]*$/,
  CTEST_OUTPUT_ON_FAILURE: number,
  CTEST_PARALLEL_LEVEL: number,
  CMAKE_BUILD_PARALLEL_LEVEL: number,
  HUSKY: number,
  PAGER: /^cat$/,
  GIT_PAGER: /^cat$/,
  GH_PAGER: /^cat$/,
  GIT_TERMINAL_PROMPT: number,
  COVERAGE: short,
  PARALLEL_WORKERS: number,
  PARALLEL_TEST_PROCESSORS: number,
  SECRET_KEY_BASE_DUMMY: number,
};

/** The variable is one that changes nothing about what a program does to anything. */
export const isNeutral = (name: string, value: string): boolean =>
  (Object.hasOwn(neutral, name) && neutral[name]!.test(value)) || (/^LC_[A-Z]+$/.test(name) && short.test(value));

/** Without `time` and `timeout 30` in front. */
export function withoutPrefix(words: readonly string[]): string[] {
  const [first, second, third] = words;
  if (first === 'time') return withoutPrefix(second === '-p' ? words.slice(2) : words.slice(1));
  if (first !== 'timeout') return [...words];
  if (/^\d+(\.\d+)?[smh]?$/.test(second ?? '')) return withoutPrefix(words.slice(2));
  if (/^(-k|-s)$/.test(second ?? '') && /^(\d+[smh]?|[A-Z]+)$/.test(third ?? ''))
    return withoutPrefix(['timeout', ...words.slice(3)]);
  if (second === '--foreground') return withoutPrefix(['timeout', ...words.slice(2)]);
  return [...words];
}
