// Variables and prefix programs that do not change the effect of a command: display, counts, retries and time limits.
const short = /^[\w.,:*@+-]*$/;
const lintFlags = /^(-[DWA] ?[\w:-]+)( -[DWA] ?[\w:-]+)*$/;
// Excludes options that name a file.
const sanitizer = /^(?!.*(path|dir|file|symbolizer))\w+=(\d+|true|false)([: ]\w+=(\d+|true|false))*$/;
const number = /^\d{0,6}$/;
const flag = /^([01]|true|false|yes|no)$/;
const memory = /^-X(mx|ms|ss)\d+[kmgKMG]?( -X(mx|ms|ss)\d+[kmgKMG]?)*$/;
// Address of a local test database: a whole word of the name marks a test, and no word marks production use.
const testDatabase =
  /^(postgres(ql)?(\+(psycopg2?|asyncpg|pg8000))?|mysql(\+(pymysql|aiomysql|mysqldb))?|mysql2|ecto|mongodb|jdbc:(postgresql|mysql|h2:mem)):\/\/([\w.-]+(:[\w.-]*)?@)?(localhost|127\.0\.0\.1|\[::1\])(:\d+)?\/(?=(?:\w*_)?(?:test|tests|testing)(?:_|\d|\?|$))(?!\w*(?:prod|live|real|prd|main|master|stag|backup|customer))\w+(\?(sslmode|charset|encoding|pool|timeout|connect_timeout|serverTimezone)=\w+(&(sslmode|charset|encoding|pool|timeout|connect_timeout|serverTimezone)=\w+)*)?$|^sqlite(\+aiosqlite)?:\/\/(\/(:memory:)?)?$|^sqlite3::memory:$/;
const databaseName =
  /^(TEST_)?((DATABASE|DB|POSTGRES|PG|MYSQL|MONGO)(_TEST)?_?(URL|DSN|URI)|SQLALCHEMY_DATABASE_URI|DB_TEST_URL)$|^\w+_TEST_(DATABASE|DB)_(URL|DSN)$/;
const switchName =
  /^(?!.*(UPDATE|WRITE|RECORD|REGEN|ACCEPT|BLESS|DEPLOY|PROD|LIVE|REMOTE|CONFIG))((RUN|SKIP|WITH|ONLY|ENABLE|DISABLE|NO)_)?(\w+_)?(TESTS?|INTEGRATION|E2E|SLOW|BENCH(MARKS?)?|SMOKE|UNIT)$/;

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
  MAVEN_OPTS: memory,
  GRADLE_OPTS: memory,
  JAVA_OPTS: memory,
  SBT_OPTS: memory,
  SPRING_PROFILES_ACTIVE: /^(it|test|tests|testing|integration|integration-test|ci)$/,
  DOTNET_CLI_TELEMETRY_OPTOUT: flag,
  DOTNET_NOLOGO: flag,
  DOTNET_SKIP_FIRST_TIME_EXPERIENCE: flag,
  ASPNETCORE_ENVIRONMENT: /^(Development|Test|Testing)$/,
  DOTNET_ENVIRONMENT: /^(Development|Test|Testing)$/,
  DJANGO_ENV: /^(test|testing|development)$/,
  FLASK_ENV: /^(test|testing|development)$/,
  SYMFONY_DEPRECATIONS_HELPER: short,
  XDEBUG_MODE: /^(off|coverage)$/,
  COMPOSER_NO_INTERACTION: flag,
  COMPOSER_MEMORY_LIMIT: short,
  PY_COLORS: flag,
  NEXTEST_RETRIES: number,
  INSTA_UPDATE: /^no$/,
  TF_IN_AUTOMATION: short,
  TF_INPUT: flag,
  NX_DAEMON: flag,
  NX_SKIP_NX_CACHE: flag,
  TURBO_TELEMETRY_DISABLED: flag,
  NEXT_TELEMETRY_DISABLED: flag,
  ASTRO_TELEMETRY_DISABLED: flag,
  STORYBOOK_DISABLE_TELEMETRY: flag,
  DO_NOT_TRACK: flag,
  GOTOOLCHAIN: /^local$/,
  GODEBUG: /^(gctrace|schedtrace|inittrace|asyncpreemptoff)=\d+$/,
  HYPOTHESIS_PROFILE: short,
  MALLOC_ARENA_MAX: number,
  OMP_NUM_THREADS: number,
  UV_OFFLINE: flag,
  CARGO_NET_OFFLINE: flag,
  TSC_COMPILE_ON_ERROR: flag,
  TIMING: number,
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
  /** A category with a dot would be imported. */
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

export const isHarmlessEnvVariable = (name: string, value: string): boolean =>
  (Object.hasOwn(neutral, name) && neutral[name]!.test(value)) ||
  (databaseName.test(name) && testDatabase.test(value)) ||
  (switchName.test(name) && flag.test(value)) ||
  (/^LC_[A-Z]+$/.test(name) && short.test(value));

export function stripCommandPrefixes(words: readonly string[]): string[] {
  const [first, second, third] = words;
  if (first === 'nice') {
    if (second === '-n' && /^-?\d{1,2}$/.test(third ?? '')) return stripCommandPrefixes(words.slice(3));
    return /^-/.test(second ?? '-') ? [...words] : stripCommandPrefixes(words.slice(1));
  }
  if (first === 'stdbuf') {
    const end = words.findIndex((word, at) => at > 0 && !/^-[oei](0|L)$/.test(word));
    return end > 1 ? stripCommandPrefixes(words.slice(end)) : [...words];
  }
  if (first === 'time') return stripCommandPrefixes(second === '-p' ? words.slice(2) : words.slice(1));
  if (first !== 'timeout') return [...words];
  if (/^\d+(\.\d+)?[smh]?$/.test(second ?? '')) return stripCommandPrefixes(words.slice(2));
  if (/^(-k|-s)$/.test(second ?? '') && /^(\d+[smh]?|[A-Z]+)$/.test(third ?? ''))
    return stripCommandPrefixes(['timeout', ...words.slice(3)]);
  if (second === '--foreground') return stripCommandPrefixes(['timeout', ...words.slice(2)]);
  return [...words];
}
