import type { Row } from './row.ts';

const tool = (command: string, options: string, more: Partial<Row> & Pick<Row, 'yes' | 'no'>): Row => ({
  command,
  kind: 'checks',
  why: 'It builds or checks the project as the project has set it up. Options that start another program, take another configuration or write elsewhere are asked about.',
  options,
  ...more,
});
const looks = (command: string, options: string, more: Partial<Row> & Pick<Row, 'yes' | 'no'>): Row => ({
  ...tool(command, options, { kind: 'looks', why: 'It shows what the project is made of.', ...more }),
});

/** Left out: `--config`, `--manifest-path`, `--target-dir`, `-Z`, `-C`, `--fix`, `--open`, a toolchain with `+`. */
const cargo =
  '--manifest-path=<manifest> -p= --package= --workspace --all --exclude= --lib --bins --bin= --tests --test= --examples --example= --benches --bench= --all-targets --features= -F= --all-features --no-default-features --release -r ' +
  '--profile= --locked --frozen --offline -q --quiet -v --verbose --color=always|never|auto --message-format=short|human|json|json-diagnostic-short -j=# --jobs=# --keep-going';
const cargoTest =
  '--nocapture --no-capture --exact --test-threads=# --ignored --include-ignored --skip= --list --show-output --color=always|never|auto -q --quiet --format=pretty|terse|json --report-time --shuffle';
/** Of `go`: one dash. Left out: `-exec`, `-toolexec`, `-vettool`, `-overlay`, `-modfile`, `-ldflags`, `-gcflags`, `-C`. */
const goBuild =
  '-v -race -tags=<name> -trimpath -mod=readonly|vendor -p=# -n -x -a -cover -asan -msan -work -ldflags=<strip> -buildvcs=true|false|auto';
const cDeny =
  /^(?!(?:.*[-_./])?(?:(?:un)?install|clean|dist|package|upload|deploy|publish|flash|push|send|reset))\w[\w.+-]*(\/[\w.+-]+)*$/;
const gradleTask =
  /^(?!.*(?:fix|format|apply|baseline|generate|update|deploy|publish|upload|install|push|send|migrate|seed|drop|delete|remove|reset|write)(?:$|[A-Z:\d]))(?!.*(?:Fix|Format|Apply|Baseline|Generate|Update|Deploy|Publish|Upload|Install|Push|Send|Migrate|Seed|Drop|Delete|Remove|Reset|Write)):?(?:[\w-]+:)*(?:test|check|build|assemble|classes|testClasses|jar|compile[A-Z]\w*|[a-z]\w*Test|[a-z]\w*Tests|[a-z]\w*Check|lint\w*|ktlint\w*(?<!Format)|detekt\w*|spotlessCheck|checkstyle\w*|pmd\w*|spotbugs\w*|jacoco\w*|javadoc|tasks|dependencies|dependencyInsight|projects|help|buildEnvironment|verification)$/;
const gradle =
  '--tests= -i --info --stacktrace -s -q --quiet --offline --no-daemon --daemon --parallel --no-parallel --continue --rerun-tasks --rerun --no-build-cache --build-cache --no-configuration-cache --configuration-cache ' +
  '--console=plain|auto|rich|verbose --warning-mode=all|none|summary|fail -x= --exclude-task= --dry-run -m --configuration= --dependency= --group= --all --max-workers=# --full-stacktrace -S --no-watch-fs';
const maven =
  '-q -B -o -e -X -ntp -am -amd -pl= -T= -f=<manifest> -fae -ff -fn -V -Dtest= -Dit.test= -DskipTests -DskipTests=true|false -DskipITs -Dmaven.test.skip=true|false -Dsurefire.failIfNoSpecifiedTests=true|false -DfailIfNoTests=true|false -Dstyle.color=always|never -batch-mode -quiet -offline -no-transfer-progress -fail-at-end -projects= -also-make -Dincludes= -Dverbose';

/** It looks, but asks the compiler that the project's own configuration names. */
const asksCompiler = {
  kind: 'checks',
  why: 'It shows what the project is made of, and may start the compiler that the project names.',
} as const;

export const compiledRows: readonly Row[] = [
  tool('cargo test', `${cargo} --no-run --no-fail-fast --doc`, {
    operands: 'text',
    most: 1,
    rest: { options: cargoTest, operands: 'text' },
    yes: [
      'cargo test',
      'cargo test -p core parse::tests -- --nocapture',
      'cargo test --workspace --no-fail-fast',
      "cargo test -p core --test '*'",
      'cargo test -q -p index --features mmap a:: -- --skip slow',
    ],
    no: [
      "cargo test --config=build.rustc-wrapper='./evil.sh'",
      'cargo test --manifest-path ../x/Cargo.toml',
      'cargo +nightly test',
      'cargo test --target-dir=/x',
      'cargo test -Zunstable-options',
      'cargo test -- --logfile=/x',
    ],
  }),
  ...['cargo check', 'cargo c', 'cargo build', 'cargo b'].map((command) =>
    tool(command, cargo, {
      yes: [`${command} --workspace --all-targets`, `${command} --release -p cli`],
      no: [`${command} --config x`, `${command} --out-dir=/x`, `${command} --target-dir /x`, `${command} --timings`],
    }),
  ),
  tool('cargo clippy', `${cargo} --no-deps`, {
    rest: { options: '-D=<lint> -W=<lint> -A=<lint> -F=<lint> --deny=<lint> --warn=<lint> --allow=<lint>' },
    yes: [
      'cargo clippy --workspace --all-targets -- -D warnings',
      'cargo clippy -p core --tests -- -D clippy::indexing_slicing',
    ],
    no: ['cargo clippy --fix -p core', 'cargo clippy -- -C linker=./evil', 'cargo clippy --config x'],
  }),
  tool('cargo fmt', '--all --check -p= --package= -q -v', {
    needs: ['--check'],
    rest: { options: '--check -l --color=always|never|auto' },
    yes: ['cargo fmt --all --check', 'cargo fmt --check'],
    no: ['cargo fmt', 'cargo fmt --all', 'cargo fmt --check -- --config-path=/x'],
  }),
  ...['cargo fmt --', 'cargo fmt --all --'].map((command) =>
    tool(command, '--check -l', {
      needs: ['--check'],
      yes: [`${command} --check`],
      no: [command, `${command} --check --config-path=/x`],
    }),
  ),
  tool('cargo doc', `${cargo} --no-deps --document-private-items`, {
    yes: ['cargo doc --workspace --no-deps'],
    no: ['cargo doc --open'],
  }),
  tool('cargo bench', `${cargo} --no-run --no-fail-fast`, {
    operands: 'text',
    most: 1,
    rest: {
      options: '--quick --exact --list --sample-size=# --warm-up-time=# --measurement-time=# --test --noplot',
      operands: 'text',
    },
    yes: ['cargo bench -p index --bench segment -- --quick merge'],
    no: [
      'cargo bench --config x',
      'cargo bench -- --load-baseline=/x',
      'cargo bench -- --profile-time=1 --save-baseline=/x',
    ],
  }),
  ...['cargo nextest run', 'cargo nextest list'].map((command) =>
    tool(
      command,
      `${cargo} -E= --filter-expr= --filterset= --no-capture --nocapture --retries=# --no-fail-fast --run-ignored=default|only|all|ignored-only --no-run -P= --test-threads=# --status-level=all|fail|pass|slow|none --failure-output=immediate|final|never --success-output=immediate|final|never`,
      {
        operands: 'text',
        rest: { options: cargoTest, operands: 'text' },
        yes: [`${command} -p index -E 'test(merge)' --no-capture`],
        no: [`${command} --config-file evil`, `${command} --tool-config-file x:y`, `${command} --archive-file /x`],
      },
    ),
  ),
  looks(
    'cargo tree',
    '-p= --package= -e= --edges= --depth=# -d --duplicates -i= --invert= --features= -F= --all-features --no-default-features --workspace --prefix=none|indent|depth --charset=utf8|ascii --no-dedupe --prune= --locked --offline --format= -f= --exclude=',
    {
      ...asksCompiler,
      yes: ['cargo tree -p cli -e normal --depth 1', 'cargo tree -i regex@1.0.0', 'cargo tree -d'],
      no: ['cargo tree --config x', 'cargo tree --manifest-path ../x'],
    },
  ),
  looks('cargo metadata', '--no-deps --format-version=# --locked --offline --frozen -q', {
    ...asksCompiler,
    yes: ['cargo metadata --no-deps --format-version 1'],
    no: ['cargo metadata --config x'],
  }),
  looks('cargo package', '-p= --package= -l --list --allow-dirty --no-verify', {
    needs: ['-l', '--list'],
    yes: ['cargo package -p core --list'],
    no: ['cargo package -p core', 'cargo publish'],
  }),
  ...[
    'cargo pkgid',
    'cargo locate-project',
    'cargo --list',
    'rustup show',
    'rustup toolchain list',
    'rustup component list',
  ].map((command) => looks(command, '-p= --installed', { yes: [command], no: [`${command} --config x`] })),
  tool('cargo deny check', '--hide-inclusion-graph --show-stats -A= -D= -W=', {
    kind: 'asks',
    why: 'It compares the dependencies with the list of advisories, which it fetches.',
    operands: /^(advisories|bans|licenses|sources|ban|license|all)$/,
    yes: ['cargo deny check licenses bans'],
    no: ['cargo deny check --config evil.toml', 'cargo deny fetch'],
  }),
  ...['cargo audit', 'cargo outdated'].map((command) =>
    tool(command, '-q --quiet --json -R --root-deps-only -w --workspace --no-fetch --stale -n', {
      kind: 'asks',
      why: 'It compares the dependencies with what is published, and changes none.',
      yes: [command],
      no: [`${command} fix`, `${command} --db=/x`, `${command} --url=https://evil.example`],
    }),
  ),
  tool('cargo expand', `${cargo} --ugly --theme=none`, {
    operands: /^[\w:]+$/,
    most: 1,
    yes: ['cargo expand -p core parse::Token'],
    no: ['cargo expand --config x'],
  }),

  tool(
    'go test',
    `${goBuild} -run= -skip= -count=# -cover -covermode=set|count|atomic -coverpkg=<name> -coverprofile=<output> -timeout=<time> -bench= -benchtime= -benchmem -short -failfast -parallel=# -shuffle=on|off|# -json -list= -vet=off|all -cpu= -fullpath -fuzz= -fuzztime=<time>`,
    {
      oneDash: true,
      operands: 'packages',
      yes: [
        'go test ./...',
        'go test -race -run TestA/b ./internal/x -count=1 -v',
        'go test -coverprofile=coverage.out ./...',
        'go test -run=^$ -bench=. -benchmem ./pkg',
      ],
      no: [
        'go test -exec=./evil ./...',
        'go test -toolexec ./evil ./...',
        'go test -vet=off -overlay=x ./...',
        'go test -o /x ./pkg',
        'go test -coverprofile=/x ./...',
        'go test -modfile=x ./...',
        'go test evil.example/x@latest',
        'go test -mod=mod evil.example/x',
        'go test ../outside',
        'go test a/../../outside/...',
        'go test -fuzzcachedir=/x ./...',
      ],
    },
  ),
  tool('go build', `${goBuild} -o=<output>`, {
    oneDash: true,
    operands: 'packages',
    yes: ['go build ./...', 'go build -o bin/server ./cmd/server', 'go build -o /dev/null ./...'],
    no: [
      'go build -o /x ./cmd',
      'go build -toolexec=./evil ./...',
      'go build -ldflags=-extld=evil ./...',
      'go build -o ../x ./cmd',
      'go install ./cmd',
    ],
  }),
  tool('go vet', `${goBuild} -c=#`, {
    oneDash: true,
    operands: 'packages',
    yes: ['go vet ./...'],
    no: ['go vet -vettool=./evil.sh ./...', 'go vet -json -exec=x'],
  }),
  looks('go list', '-m -json -deps -test -e -f= -find -compiled -export', {
    ...asksCompiler,
    oneDash: true,
    operands: 'packages',
    yes: ["go list -f '{{.ImportPath}}' ./...", 'go list -m all'],
    no: ['go list -m -u all', 'go list -toolexec=./evil ./...', 'go list -modfile=x', 'go list -C .. ./...'],
  }),
  looks('go list', '-m -u -json -versions -retracted -f= -e', {
    oneDash: true,
    operands: /^all$/,
    kind: 'asks',
    needs: ['-u', '-versions'],
    yes: ['go list -m -u all'],
    no: ['go list -m -u -modfile=x all', 'go list -m -versions evil.example/secret'],
  }),
  ...['go mod graph', 'go mod why', 'go mod verify'].map((command) =>
    looks(command, '-m', {
      oneDash: true,
      operands: /^[\w.][\w./-]*$/,
      yes: [command],
      no: ['go mod tidy', 'go mod download', `${command} -modfile=x`],
    }),
  ),
  looks('go version', '-m -v', {
    oneDash: true,
    operands: 'paths',
    yes: ['go version', 'go version -m bin/server'],
    no: ['go version /usr/bin/go'],
  }),
  looks('go env', '-json -changed', {
    oneDash: true,
    operands: /^GO[A-Z0-9]*$/,
    least: 1,
    yes: ['go env GOPATH GOOS'],
    no: ['go env -w GOFLAGS=-x', 'go env -u GOFLAGS', 'go env'],
  }),
  looks('go doc', '-all -short -src -u -cmd -c', {
    oneDash: true,
    operands: /^[\w.][\w./-]*$/,
    yes: ['go doc net/http.Server'],
    no: ['go doc -http=:1', 'go doc -C .. x'],
  }),
  looks('go tool cover', '-func=<path>', {
    oneDash: true,
    needs: ['-func'],
    yes: ['go tool cover -func=coverage.out'],
    no: ['go tool cover -html=coverage.out -o /x', 'go tool cover -func=/etc/passwd', 'go tool pprof x'],
  }),
  ...['gofmt', 'goimports', 'gofumpt'].map((command) =>
    tool(command, '-l -d -s -e', {
      operands: 'paths',
      needs: ['-l', '-d'],
      yes: [`${command} -l .`, `${command} -d src`],
      no: [`${command} -w .`, `${command} -l -w .`, `${command} -l -cpuprofile=/x .`, `${command} -l /etc`],
    }),
  ),
  tool(
    'golangci-lint run',
    '--timeout=<time> -v --verbose --fast --fast-only --disable= --enable= -E= -D= --enable-only= --new --new-from-rev=<revision> --new-from-merge-base=<revision> --max-issues-per-linter=# --max-same-issues=# --out-format=tab|colored-line-number|line-number|json|github-actions|checkstyle|colored-tab --allow-parallel-runners --tests --tests=true|false --concurrency=# -j=# --color=always|never|auto --issues-exit-code=# --show-stats',
    {
      operands: 'packages',
      yes: ['golangci-lint run ./...', 'golangci-lint run --timeout 5m ./internal/x'],
      no: [
        'golangci-lint run --fix',
        'golangci-lint run -c evil.yml',
        'golangci-lint run --new-from-rev=--output=/x',
        'golangci-lint run --cpu-profile-path=/x',
        'golangci-lint run --out-format=json:/x',
      ],
    },
  ),
  tool('staticcheck', '-checks= -f=text|stylish|json -tests=true|false', {
    oneDash: true,
    operands: 'packages',
    yes: ['staticcheck ./...'],
    no: ['staticcheck -modfile=x ./...'],
  }),
  tool('govulncheck', '-show= -mode=source -test', {
    oneDash: true,
    kind: 'asks',
    why: 'It asks for known vulnerabilities of the dependencies.',
    operands: 'packages',
    yes: ['govulncheck ./...'],
    no: ['govulncheck -db=https://evil.example ./...', 'govulncheck -C .. ./...'],
  }),

  tool('gradle', gradle, {
    operands: gradleTask,
    least: 1,
    yes: [
      './gradlew test',
      "./gradlew :core:test --tests 'a.B.c' --info",
      './gradlew check -q --offline',
      './gradlew dependencies --configuration runtimeClasspath',
      './gradlew compileKotlin ktlintCheck',
    ],
    no: [
      './gradlew publish',
      './gradlew test -I evil.gradle',
      './gradlew -b evil.gradle test',
      './gradlew test -Pa=b',
      './gradlew test -Dorg.gradle.jvmargs=x',
      './gradlew -p ../x test',
      './gradlew bootRun',
      './gradlew ktlintFormat',
      './gradlew test --scan',
      './gradlew clean',
      './gradlew deployTest2',
      './gradlew deployTest',
      './gradlew lintFix',
      './gradlew detektBaseline',
      './gradlew installDebugAndroidTest',
    ],
  }),
  tool('mvn', maven, {
    oneDash: true,
    operands:
      /^(test|verify|compile|test-compile|package|validate|process-classes|dependency:tree|dependency:list|checkstyle:check|spotless:check|spotbugs:check|pmd:check|surefire:test|failsafe:integration-test|jacoco:report|help:effective-pom)$/,
    least: 1,
    yes: [
      'mvn test',
      'mvn -q -B test -Dtest=AppTest#works',
      './mvnw -pl core -am verify -DskipTests',
      'mvn -ntp dependency:tree',
    ],
    no: [
      'mvn deploy',
      'mvn install',
      'mvn exec:java',
      'mvn test -f ../x/pom.xml',
      'mvn test -s evil.xml',
      'mvn test -DargLine=-javaagent:evil',
      'mvn test -Dmaven.ext.class.path=evil',
      'mvn clean',
    ],
  }),
  ...['dotnet build', 'dotnet test'].map((command) =>
    tool(
      command,
      '-c=Debug|Release --configuration=Debug|Release --no-build --no-restore -v=q|m|n|d|quiet|minimal|normal|detailed --verbosity=q|m|n|d|quiet|minimal|normal|detailed --nologo --filter= --logger=trx|console|html|console;verbosity=normal|console;verbosity=detailed -f=<name> --framework=<name> --list-tests -t --blame --no-incremental',
      {
        operands: 'paths',
        readsArguments: true,
        yes: [`${command}`, `${command} tests/A.csproj -c Release --no-restore`],
        no: [
          `${command} -o /x`,
          `${command} @evil.rsp`,
          `${command} --settings evil`,
          `${command} -p:X=y`,
          `${command} /p:X=y`,
          `${command} --test-adapter-path:evil`,
        ],
      },
    ),
  ),
  tool(
    'dotnet format',
    '--verify-no-changes -v=q|m|n|d --verbosity=q|m|n|d --no-restore --severity= --include= --exclude=',
    {
      needs: ['--verify-no-changes'],
      operands: 'paths',
      yes: ['dotnet format --verify-no-changes'],
      no: ['dotnet format', 'dotnet format --verify-no-changes --report /x'],
    },
  ),
  ...['swift build', 'swift test'].map((command) =>
    tool(
      command,
      '-c=debug|release --configuration=debug|release --filter= --skip= -v --verbose -q --parallel --list-tests -j=#',
      { yes: [command], no: [`${command} --package-path ..`, `${command} -Xswiftc x`, `${command} --build-path /x`] },
    ),
  ),
  ...['dart analyze', 'flutter analyze', 'dart test', 'flutter test', 'mix test'].map((command) =>
    tool(
      command,
      '--no-color --trace --verbose --fatal-infos --fatal-warnings -n= --name= --plain-name= --stale --failed --seed=# --only= --exclude= --coverage',
      { operands: 'paths', yes: [command], no: [`${command} --x`, `${command} ../x`, `${command} --config=evil`] },
    ),
  ),
  // What stands behind these is another thing to do, or a package to fetch.
  ...[
    'zig build test',
    'cabal test',
    'stack test',
    'sbt test',
    'mix compile',
    'mix credo',
    'cabal build',
    'stack build',
  ].map((command) =>
    tool(command, '--verbose --strict --warnings-as-errors', {
      yes: [command],
      no: [`${command} publish`, `${command} gen.config`, `${command} --config=evil`],
    }),
  ),
  tool('mix format', '--check-formatted', {
    operands: 'paths',
    needs: ['--check-formatted'],
    yes: ['mix format --check-formatted'],
    no: ['mix format', 'mix format --check-formatted --dot-formatter /x'],
  }),

  tool(
    'cmake --build',
    '-j=# --parallel=# -t=<target> --target=<target> --config=Debug|Release|RelWithDebInfo|MinSizeRel --preset=<name> -v --verbose',
    {
      operands: /^(\.|(\.\/)?(_?build|builddir|out|cmake-build)[\w.-]*(\/[\w.-]+)*\/?)$/,
      most: 1,
      greedy: ['-t', '--target'],
      rest: { options: '-j=# -k=# -v -n' },
      yes: ['cmake --build build -j 4', 'cmake --build build --target unit_tests'],
      no: [
        'cmake --build build --target install',
        'cmake --build /x',
        'cmake --build build -- -f evil',
        'cmake -P evil.cmake',
        'cmake --build build --clean-first --target uninstall',
        'cmake --build --preset=x --target all install',
      ],
    },
  ),
  tool(
    'cmake',
    '-S=<project> -B=<made> -G=Ninja --preset=<name> -DCMAKE_BUILD_TYPE=Debug|Release|RelWithDebInfo|MinSizeRel -DBUILD_TESTING=ON|OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON|OFF -Wno-dev --fresh --log-level=',
    {
      also: /^-D(?!CMAKE_)[A-Z][A-Z0-9_]*(:BOOL)?=(ON|OFF|\d{1,6})$/,
      needs: ['-B', '--preset'],
      oneDash: undefined,
      why: "It configures the project's own build into a folder of it.",
      yes: ['cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Debug', 'cmake --preset debug'],
      no: [
        'cmake -S . -B /x',
        'cmake -S . -B build -DCMAKE_C_COMPILER=./evil',
        'cmake -S . -B build --toolchain evil.cmake',
        'cmake -C evil.cmake -B build',
        'cmake -S ../x -B build',
        'cmake -B .',
        'cmake -B src',
        'cmake -E rm x',
      ],
    },
  ),
  looks('cmake', '-N -L -LA -LH -LAH', {
    operands: 'paths',
    needs: ['-N'],
    yes: ['cmake -LAH -N build'],
    no: ['cmake -N -P evil.cmake', 'cmake -LAH build', 'cmake -N /x'],
  }),
  tool(
    'ctest',
    '--test-dir=<build> --preset=<name> -R= -E= -L= -LE= -N -V -VV --verbose --output-on-failure -j=# --parallel=# --timeout=# --stop-on-failure --rerun-failed -C=Debug|Release --build-config=Debug|Release -Q --quiet --progress --no-tests=error|ignore --repeat= --schedule-random --show-only -I=#',
    {
      yes: ['ctest --test-dir build -R parse --output-on-failure', 'ctest -N', 'ctest -j4 --preset debug'],
      no: [
        'ctest -S evil.cmake',
        'ctest -D Experimental',
        'ctest --test-dir /x',
        'ctest --build-and-test a b',
        'ctest -O /x',
        'ctest --submit-index 1',
        'ctest -T Submit',
      ],
    },
  ),
  tool('ninja', '-C=<build> -j=# -v -k=# -n -d= --quiet -l=#', {
    operands: cDeny,
    yes: ['ninja -C build', 'ninja -C build unit_tests'],
    no: [
      'ninja -f evil.ninja',
      'ninja -C build install',
      'ninja -C ../x',
      'ninja -t clean',
      'ninja -C build clean',
      'ninja -C build src/install',
      'ninja -C build run_deploy',
    ],
  }),
  ...['meson test', 'meson compile'].map((command) =>
    tool(command, '-C=<build> -v --verbose --print-errorlogs --suite= --no-rebuild -j=# --list', {
      operands: cDeny,
      yes: [`${command} -C build`],
      no: [`${command} -C /x`, `${command} --wrap=./evil`, `${command} --gdb-path=./evil`, 'meson install'],
    }),
  ),
  ...['clang-format', 'clang-format-18', 'clang-format-17', 'clang-format-16'].map((command) =>
    tool(
      command,
      '-n --dry-run -Werror --Werror -style=file --style=file -output-replacements-xml --output-replacements-xml --verbose',
      {
        operands: 'paths',
        needs: ['-n', '--dry-run', '-output-replacements-xml', '--output-replacements-xml'],
        readsArguments: true,
        yes: [`${command} --dry-run --Werror src/a.cpp`],
        no: [
          `${command} -i src/a.cpp`,
          `${command} -n @evil.txt`,
          `${command} src/a.cpp`,
          `${command} -n --style=file:/x src/a.cpp`,
          `${command} -n --files=/x`,
        ],
      },
    ),
  ),
  tool(
    'clang-tidy',
    '-p=<path> -checks= -warnings-as-errors= -quiet -header-filter= -list-checks -system-headers -use-color',
    {
      oneDash: true,
      operands: 'paths',
      readsArguments: true,
      yes: ['clang-tidy -p build src/a.cpp', "clang-tidy -p build --checks='-*,bugprone-*' src/a.cpp --quiet"],
      no: [
        'clang-tidy --fix src/a.cpp',
        'clang-tidy -checks @evil.txt src/a.cpp',
        'clang-tidy -load=./evil.so src/a.cpp',
        'clang-tidy --config-file=/x src/a.cpp',
        'clang-tidy -export-fixes=/x src/a.cpp',
        'clang-tidy src/a.cpp -- -fplugin=evil.so',
      ],
    },
  ),
  tool('run-clang-tidy', '-p=<path> -checks= -quiet -j=# -warnings-as-errors= -header-filter=', {
    oneDash: true,
    operands: 'text',
    yes: ["run-clang-tidy -p build -quiet 'src/.*'"],
    no: ['run-clang-tidy -fix', 'run-clang-tidy -clang-tidy-binary ./evil', 'run-clang-tidy -export-fixes /x'],
  }),
  tool(
    'cppcheck',
    '--enable= --std= --quiet -q --error-exitcode=# -j=# --suppress= --inline-suppr -I=<path> --language=c|c++ --force -f --check-level=exhaustive|normal --template=gcc|vs|edit',
    {
      operands: 'paths',
      yes: ['cppcheck --enable=warning --quiet src'],
      no: [
        'cppcheck --addon=evil.py src',
        'cppcheck --project=evil.cppcheck',
        'cppcheck --dump src',
        'cppcheck --output-file=/x src',
        'cppcheck --rule-file=/x src',
        'cppcheck --template=x src',
      ],
    },
  ),
];
