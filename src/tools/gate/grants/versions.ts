const versioned =
  /^(node|npm|npx|yarn|pnpm|bun|deno|tsc|eslint|prettier|jest|vitest|python|python3|python3\.\d+|pip|pip3|uv|poetry|ruff|mypy|pytest|black|ruby|bundle|bundler|gem|rails|rake|rspec|rubocop|go|gofmt|golangci-lint|cargo|rustc|rustup|rustfmt|java|javac|kotlin|kotlinc|mvn|gradle|dotnet|php|composer|docker|docker-compose|gh|make|gmake|cmake|ctest|ninja|meson|gcc|g\+\+|cc|c\+\+|clang|clang\+\+|clang-format|clang-tidy|cppcheck|ccache|gdb|lldb|valgrind|swift|dart|flutter|elixir|mix|erl|ghc|cabal|stack|zig|perl|lua|kubectl|helm|aws|gcloud|az|jq|yq|rg|fd|shellcheck|psql|mysql|redis-cli|sqlite3|protoc|buf|conan|vcpkg|just|task|direnv|mise|asdf|bash|zsh|alembic|nox|tox|pre-commit|gcovr|lcov|nx|turbo|vite|next|java_home|sqlc|air|delve|dlv)$/;

/**
 * Programs that say which version they are and do nothing else when they are asked; a tool of the project (`own`) is one, whatever it
 * is called.
 */
export const saysVersion = (program: string, [option, ...more]: readonly string[], own: boolean): boolean =>
  more.length === 0 &&
  (versioned.test(program) || (own && option === '--version')) &&
  (option === '--version' ||
    (option === 'version' && /^(kubectl|helm|deno|gh|uv|zig|buf|golangci-lint|mise)$/.test(program)) ||
    (option === '-V' && /^(python3?|rustc|cargo|ruff|uv|rustup)$/.test(program)) ||
    (option === '-v' && /^(node|npm|npx|ruby|php|yarn|pnpm|bundle|gem|rails|mvn|gradle|perl|rubocop)$/.test(program)) ||
    (option === '-version' && /^(java|javac|kotlinc?)$/.test(program)));
