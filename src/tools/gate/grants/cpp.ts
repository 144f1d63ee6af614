import { isBuildTarget } from './checkNames.ts';
import type { Row } from './row.ts';
import { looks, tool } from './tool.ts';

export const cppRows: readonly Row[] = [
  tool(
    'cmake --build',
    '-j=# --parallel=# -t=<target> --target=<target> --config=Debug|Release|RelWithDebInfo|MinSizeRel --preset=<preset> -v --verbose',
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
    '-S=<folder> -B=<made> -G=Ninja --preset=<preset> -DCMAKE_BUILD_TYPE=Debug|Release|RelWithDebInfo|MinSizeRel -DBUILD_TESTING=ON|OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON|OFF -Wno-dev --fresh --log-level=',
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
  tool('cmake --workflow', '--preset=<preset> --fresh', {
    needs: ['--preset'],
    why: "It configures, builds and tests as one of the project's own presets says.",
    yes: ['cmake --workflow --preset coverage'],
    no: ['cmake --workflow --preset ../x', 'cmake --workflow -P evil.cmake', 'cmake --workflow /x'],
  }),
  looks('cmake', '-N -L -LA -LH -LAH', {
    operands: 'paths',
    needs: ['-N'],
    yes: ['cmake -LAH -N build'],
    no: ['cmake -N -P evil.cmake', 'cmake -LAH build', 'cmake -N /x'],
  }),
  tool(
    'ctest',
    '--test-dir=<build> --preset=<preset> -R= -E= -L= -LE= -N -V -VV --verbose --output-on-failure -j=# --parallel=# --timeout=# --stop-on-failure --rerun-failed -C=Debug|Release --build-config=Debug|Release -Q --quiet --progress --no-tests=error|ignore --repeat= --schedule-random --show-only -I=#',
    {
      home: 'build',
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
    operands: isBuildTarget,
    home: 'build',
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
      operands:
        command === 'meson test'
          ? /^(?!.*(install|clean|dist|package|upload|deploy|publish|flash|push|send|reset|\.\.))\w[\w.+-]*(\/[\w.+-]+)*$/
          : isBuildTarget,
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
    '--project=<commands> --enable= --std= --quiet -q --error-exitcode=# -j=# --suppress= --inline-suppr -I=<path> --language=c|c++ --force -f --check-level=exhaustive|normal --template=gcc|vs|edit',
    {
      operands: 'paths',
      yes: ['cppcheck --enable=warning --quiet src', 'cppcheck --project=build/compile_commands.json -q'],
      no: [
        'cppcheck --addon=evil.py src',
        'cppcheck --project=evil.cppcheck',
        'cppcheck --project=/x/compile_commands.json',
        'cppcheck --dump src',
        'cppcheck --output-file=/x src',
        'cppcheck --rule-file=/x src',
        'cppcheck --template=x src',
      ],
    },
  ),
  tool(
    'gcovr',
    '-r=<path> --root=<path> --filter= -f= --exclude= -e= -s --print-summary --txt-metric=line|branch|decision --branches -b --txt-summary',
    {
      operands: 'paths',
      installedBy: ['pip'],
      yes: ["gcovr -r . --filter 'src/' build --txt-metric branch"],
      no: [
        'gcovr -o /x',
        'gcovr --config evil',
        'gcovr --gcov-executable=./evil',
        'gcovr --html-details=/x',
        'gcovr -d',
      ],
    },
  ),
];
