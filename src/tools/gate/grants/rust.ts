import type { Row } from './row.ts';
import { asksCompiler, looks, tool } from './tool.ts';

/** Left out: `--config`, `--manifest-path`, `--target-dir`, `-Z`, `-C`, `--fix`, `--open`, a toolchain with `+`. */
const cargo =
  '--manifest-path=<manifest> -p= --package= --workspace --all --exclude= --lib --bins --bin= --tests --test= --examples --example= --benches --bench= --all-targets --features= -F= --all-features --no-default-features --release -r ' +
  '--profile= --locked --frozen --offline -q --quiet -v --verbose --color=always|never|auto --message-format=short|human|json|json-diagnostic-short -j=# --jobs=# --keep-going';
const cargoTest =
  '--nocapture --no-capture --exact --test-threads=# --ignored --include-ignored --skip= --list --show-output --color=always|never|auto -q --quiet --format=pretty|terse|json --report-time --shuffle';

export const rustRows: readonly Row[] = [
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
  ...['cargo pkgid', 'cargo locate-project', 'cargo --list', 'rustup toolchain list', 'rustup component list'].map(
    (command) => looks(command, '-p= --installed', { yes: [command], no: [`${command} --config x`] }),
  ),
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
];
