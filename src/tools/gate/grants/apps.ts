import type { Row } from './row.ts';
import { tool } from './tool.ts';

export const appRows: readonly Row[] = [
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
];
