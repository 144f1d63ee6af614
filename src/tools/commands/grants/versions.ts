const versioned =
  /^(node|npm|docker|docker-compose|gh|go|cmake|ninja|kubectl|helm|yq|bash|zsh|sqlite3|ccache|npx|yarn|pnpm|bun|deno|tsc|eslint|prettier|jest|vitest|uv|poetry|ruff|mypy|pytest|black|ruby|bundle|bundler|gem|rails|rake|rspec|rubocop|gofmt|golangci-lint|cargo|rustc|rustup|rustfmt|kotlin|kotlinc|mvn|gradle|dotnet|php|composer|meson|clang-format|clang-tidy|cppcheck|gdb|lldb|valgrind|swift|dart|flutter|elixir|mix|erl|ghc|cabal|stack|zig|protoc|buf|conan|vcpkg|just|task|direnv|mise|asdf|alembic|nox|tox|pre-commit|gcovr|lcov|nx|turbo|vite|next|java_home|sqlc|air|delve|dlv)$/;

/** Programs that read no file to print their version. */
const versionOnly =
  /^(python|python3|python3\.\d+|pip3?|java|javac|make|gmake|gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ctest|perl|lua|aws|gcloud|az|jq|rg|fd|shellcheck|psql|mysql|redis-cli)$/;

export const looksAtNothing = (program: string): boolean => versionOnly.test(program);

export const asksVersion = (program: string, [option, ...more]: readonly string[]): boolean =>
  more.length === 0 &&
  (looksAtNothing(program) || versioned.test(program)) &&
  (option === '--version' ||
    (option === 'version' && /^(kubectl|helm|deno|gh|uv|zig|buf|golangci-lint|mise)$/.test(program)) ||
    (option === '-V' && /^(python3?|rustc|cargo|ruff|uv|rustup)$/.test(program)) ||
    (option === '-v' && /^(node|npm|npx|ruby|php|yarn|pnpm|bundle|gem|rails|mvn|gradle|perl|rubocop)$/.test(program)) ||
    (option === '-version' && /^(java|javac|kotlinc?)$/.test(program)));
