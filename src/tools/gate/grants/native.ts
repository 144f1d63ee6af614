import type { Row } from './row.ts';
import { fileTool, looks, tool } from './tool.ts';

/** What a compiler is told about a language; no plugin, no other program, nothing that is written. */
const compiler =
  /^-(?:std=[\w+:]+|W(?:no-)?[a-z][a-z0-9+=-]*|D\w+(?:=\w*)?|U\w+|O[0-3sgz]?|f(?:no-exceptions|no-rtti|exceptions|max-errors=\d+|diagnostics-color=\w+|concepts|coroutines|modules-ts|permissive|PIC|sanitize=[a-z,]+|openmp|color-diagnostics|no-color-diagnostics|error-limit=\d+)|m(?:avx2?|sse[\d.]*|arch=[\w.-]+|tune=[\w-]+|32|64)|pthread|pedantic(?:-errors)?|ansi|g\d?|H|P|v)$/;

export const nativeRows: readonly Row[] = [
  ...['gcc', 'g++', 'clang', 'clang++', 'cc', 'c++', 'g++-12', 'g++-13', 'clang++-18'].map((command) =>
    fileTool(command, '-I=<path> -isystem=<path> -iquote=<path> -x=c|c++ -fsyntax-only -E -M -MM', {
      why: 'It reads source files and says what is wrong, or what they include. What it would write to a file, and a plugin or another program that it would load, is asked about.',
      also: compiler,
      needs: ['-fsyntax-only', '-E', '-M', '-MM'],
      readsArguments: true,
      yes: [
        `${command} -fsyntax-only -std=c++20 -Wall -Wextra -Isrc src/a.cpp`
          .replace('-fsyntax-only -std', '-std')
          .replace(' src/a.cpp', ' -fsyntax-only src/a.cpp'),
      ],
      no: [
        `${command} src/a.cpp`,
        `${command} -fsyntax-only -fplugin=evil.so src/a.cpp`,
        `${command} -fsyntax-only @evil.txt`,
        `${command} -E src/a.cpp -o /x`,
        `${command} -fsyntax-only -Wp,-MD,/x src/a.cpp`,
        `${command} -fsyntax-only -specs=evil src/a.cpp`,
        `${command} -fsyntax-only -B ./evil src/a.cpp`,
        `${command} -fsyntax-only -wrapper ./evil src/a.cpp`,
        `${command} -fsyntax-only -MD src/a.cpp`,
        `${command} -E -I/etc /etc/passwd`,
        `${command} -fsyntax-only -save-temps src/a.cpp`,
        `${command} -fsyntax-only -Xclang -load src/a.cpp`,
        `${command} -fsyntax-only -fdump-tree-all src/a.cpp`,
        `${command} -fsyntax-only --config=evil src/a.cpp`,
        `${command} -fsyntax-only -include /etc/passwd src/a.cpp`,
      ],
    }),
  ),
  tool('git clang-format', '--diff --diffstat --style=file --extensions=<labels> --quiet -q', {
    why: 'It shows how changed lines would be formatted.',
    needs: ['--diff', '--diffstat'],
    operands: /^(?!-)[\w@{}^~.][\w@{}^~./-]*$/,
    rest: { operands: 'paths' },
    yes: ['git clang-format --diff main -- src'],
    no: [
      'git clang-format main',
      'git clang-format --diff --binary ./evil',
      'git clang-format --diff --style=file:/x',
      'git clang-format --diff -f',
      'git clang-format --diff -- /x',
    ],
  }),
  looks('ninja', '-C=<build> -t=deps|query|targets|graph|commands|rules|inputs|compdb|missingdeps', {
    needs: ['-t'],
    operands: /^[\w.+][\w.+-]*(\/[\w.+-]+)*$/,
    yes: ['ninja -C build -t deps', 'ninja -C build -t query unit_tests'],
    no: [
      'ninja -C build -t clean',
      'ninja -C build -t cleandead',
      'ninja -C build -t recompact',
      'ninja -C build -t browse',
      'ninja -C ../x -t deps',
      'ninja -f evil -t deps',
      'ninja -C build -t restat',
    ],
  }),
  looks('ccache', '-s --show-stats -v --show-config -p', {
    needs: ['-s', '--show-stats', '--show-config', '-p'],
    yes: ['ccache -s'],
    no: ['ccache -C', 'ccache -z', 'ccache -s --config-path=/x', 'ccache gcc x', 'ccache -o a=b -s'],
  }),
  tool(
    'meson introspect',
    '--targets --tests --buildoptions --dependencies --projectinfo --buildsystem-files -a -i --indent',
    {
      operands: /^(build|builddir|out)[\w-]*$/,
      yes: ['meson introspect build --targets'],
      no: ['meson introspect /x', 'meson introspect ../build', 'meson setup x', 'meson install'],
    },
  ),
  fileTool('doxygen', '-q', {
    most: 1,
    yes: ['doxygen docs/Doxyfile', 'doxygen'],
    no: ['doxygen /x', 'doxygen -g', 'doxygen -w html a b c', 'doxygen ../Doxyfile', 'doxygen -'],
  }),
  tool(
    'zig build',
    '--summary=all|failures|none|new -Doptimize=Debug|ReleaseSafe|ReleaseFast|ReleaseSmall --release=safe|fast|small -j=# --verbose -freference-trace',
    {
      also: /^-Doptimize=(Debug|ReleaseSafe|ReleaseFast|ReleaseSmall)$|^-j\d+$/,
      operands: /^(test|check|lint|fmt-check|docs|bench)$/,
      yes: ['zig build test', 'zig build', 'zig build test --summary all'],
      no: [
        'zig build run',
        'zig build publish',
        'zig build --prefix /x',
        'zig build --build-file evil.zig',
        'zig build --global-cache-dir /x',
        'zig build test -- x',
        'zig build uninstall',
        'zig build --zig-lib-dir x',
        'zig build -p /x',
        'zig build --fetch',
      ],
    },
  ),
  fileTool('zig test', '--test-filter= -O=Debug|ReleaseSafe -lc', {
    least: 1,
    yes: ['zig test src/a.zig --test-filter x'],
    no: [
      'zig test /x.zig',
      'zig test --test-cmd ./evil src/a.zig',
      'zig test -femit-bin=/x src/a.zig',
      'zig run src/a.zig',
      'zig test src/a.zig -lc --libc /x',
    ],
  }),
  ...['nim check', 'crystal tool format --check', 'luacheck', 'perlcritic', 'solhint'].map((command) =>
    fileTool(
      command,
      `--quiet -q --color=auto|always|never --no-color --stdin=no${command === 'solhint' ? ' --disc' : ''}`,
      {
        ...(command === 'solhint' && { needs: ['--disc'] }), // else it asks the index of packages for a newer one
        least: 1,
        yes: [command === 'solhint' ? 'solhint --disc src' : `${command} src`],
        no: [
          'solhint src',
          `${command} /x`,
          `${command} --config evil src`,
          `${command} -c evil src`,
          `${command} --fix src`,
          `${command} --all --fix src`,
          `${command} -o /x src`,
        ],
      },
    ),
  ),
  ...['zig ast-check', 'zig fmt --check', 'stylua --check', 'selene'].map((command) =>
    fileTool(command, '', {
      least: 1,
      yes: [`${command} ./src`],
      no: [
        `${command} /x`,
        `${command} --config evil src`,
        `${command} -f ./evil src`,
        'zig fmt src',
        'stylua src',
        command,
      ],
    }),
  ),
  ...['busted', 'crystal spec', 'nimble test'].map((command) =>
    fileTool(
      command,
      '-v -q -vv -vvv -vvvv --verbose -l -r --tags=<name> --match-test=<name> --match-contract=<name> --fail-fast --order=default|random --error-trace --offline --no-color',
      {
        operands: /test|spec|busted/.test(command) ? 'tests' : 'paths',
        yes: [`${command} test`],
        no: [
          ...(/test|spec|busted/.test(command) ? [`${command} scripts/deploy.x`] : []),
          `${command} /x`,
          `${command} --ffi test`,
          `${command} -I/x -Mevil test`,
          `${command} --exec ./evil test`,
          `${command} --helper=evil test`,
          `${command} --config-file evil test`,
          `${command} --network mainnet test`,
          `${command} -e ./evil test`,
          `${command} --fork-url http://evil.example test`,
          `${command} -o /x test`,
        ],
      },
    ),
  ),
  ...['forge test', 'forge build'].map((command) =>
    fileTool(command, '-v -vv -vvv -vvvv --match-test=<name> --match-contract=<name> --fail-fast --offline', {
      needs: ['--offline'], // else it fetches the compiler that a file names
      operands: undefined,
      yes: [`${command} --offline`],
      no: [
        command,
        `${command} --offline --ffi`,
        `${command} --offline --root /x`,
        `${command} --offline --use ./evil`,
      ],
    }),
  ),
  fileTool('forge fmt', '--check', {
    needs: ['--check'],
    yes: ['forge fmt --check'],
    no: ['forge fmt', 'forge fmt --check --root /x'],
  }),
  looks(
    'go tool pprof',
    '-top -cum -nodecount=# -peek= -text -tree -sample_index=<name> -flat -lines -show= -ignore= -focus= -unit=<name> -traces -alloc_space -alloc_objects -inuse_space -inuse_objects',
    {
      oneDash: true,
      optionsFirst: true,
      needs: ['-top', '-text', '-peek', '-tree', '-traces'],
      operands: 'files',
      least: 1,
      most: 2,
      kind: 'checks',
      why: 'It shows a profile that is a file of the project, with the names that the program in it has. One that is at an address is fetched.',
      yes: ['go tool pprof -top -nodecount=15 cpu.out'],
      no: [
        'go tool pprof -top http://localhost:8080/debug/pprof/heap',
        'go tool pprof -http=:1 cpu.out',
        'go tool pprof -top -output=/x cpu.out',
        'go tool pprof -top localhost:8080',
        'go tool pprof -top cpu.out -list localhost:8080',
        'go tool pprof -list main cpu.out',
        'go tool pprof -web cpu.out',
        'go tool pprof -top -tools=./evil cpu.out',
        'go tool pprof -top -symbolize=remote cpu.out',
        'go tool pprof -top /x',
      ],
    },
  ),
  ...['perf report', 'perf annotate'].map((command) =>
    looks(command, '--stdio --no-children -g=none --sort=<labels> --percent-limit=# -n', {
      needs: ['--stdio'],
      kind: 'checks',
      why: 'It shows what was measured in the folder before, and starts programs of binutils for it.',
      yes: [`${command} --stdio --no-children`],
      no: [
        `${command} -i /x --stdio`,
        command,
        `${command} --stdio --objdump=./evil`,
        `${command} --stdio --symfs=/x`,
        'perf record x',
        `${command} --stdio --addr2line=./evil`,
      ],
    }),
  ),
];
