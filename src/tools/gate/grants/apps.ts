import type { Row } from './row.ts';
import { fileTool, looks, tool } from './tool.ts';

const verbosity = ['q', 'm', 'n', 'd', 'quiet', 'minimal', 'normal', 'detailed'].join('|');
const dotnet = `-c=Debug|Release --configuration=Debug|Release --no-build --no-restore --no-dependencies --no-self-contained --tl:auto --disable-build-servers -v=${verbosity} --verbosity=${verbosity} --nologo -nologo -f=<name> --framework=<name> -r=<name> --no-incremental -warnaserror -m -tl:off --tl:off`;
const dotnetTest =
  '--filter= --logger=trx|console|html|console;verbosity=normal|console;verbosity=detailed|console;verbosity=minimal|console;verbosity=quiet -l=trx|console|console;verbosity=normal|console;verbosity=detailed --list-tests -t --blame --blame-hang --blame-crash --blame-hang-timeout=<time> --collect=Code~Coverage --results-directory=<output> --no-progress';
/** MSBuild's own way to write options, and properties that do not name a program or a place. */
const msbuild =
  /^[-/](?:(?:clp|consoleLoggerParameters):[A-Za-z;=]+|(?:v|verbosity):\w+|(?:m|maxcpucount)(?::\d+)?|warnaserror(?::[A-Z]{2}\d+)?|nodeReuse:(?:true|false)|p:(?:Configuration|Platform|TreatWarningsAsErrors|WarningLevel|ContinuousIntegrationBuild|EnforceCodeStyleInBuild|AnalysisLevel|RunAnalyzers|CollectCoverage)=\w+)$/;

/** Of `xcodebuild`, without what writes elsewhere, archives or exports. */
const xcode =
  '-scheme=<word> -project=<path> -workspace=<path> -target=<name> -configuration=Debug|Release -destination= -sdk=<name> -quiet -parallel-testing-enabled=YES|NO -only-testing= -skip-testing= -list -showBuildSettings -showdestinations -json -testPlan=<name>';

export const appRows: readonly Row[] = [
  ...['dotnet build', 'dotnet test'].map((command) =>
    fileTool(
      command,
      command === 'dotnet test' ? `${dotnet} ${dotnetTest}`.replace('Code~Coverage', 'XPlat-Code-Coverage') : dotnet,
      {
        operands: 'folders',
        also: msbuild,
        readsArguments: true,
        yes: [
          `${command}`,
          `${command} tests/A.csproj -c Release --no-restore`,
          `${command} -clp:ErrorsOnly -warnaserror`,
        ],
        no: [
          `${command} -o /x`,
          `${command} @evil.rsp`,
          `${command} --settings evil`,
          `${command} -p:X=y`,
          `${command} /p:X=y`,
          `${command} -p:OutputPath=/x`,
          `${command} -l:evil.dll`,
          `${command} -logger:Evil,evil.dll`,
          `${command} --test-adapter-path:evil`,
          `${command} --artifacts-path /x`,
        ],
      },
    ),
  ),
  ...['dotnet pack'].map((command) =>
    tool(
      command,
      `${dotnet} -o=<made> --output=<made> --include-symbols --include-source --self-contained --version-suffix=<name>`,
      {
        why: 'It builds into a folder for builds and sends nothing anywhere. Properties, which may name a place to send it to, are asked about.',
        operands: 'folders',
        readsArguments: true,
        yes: [command, `${command} src -c Release -o artifacts`],
        no: [
          `${command} -o src`,
          `${command} -o /x`,
          `${command} -p:PublishProfile=x`,
          `${command} --source x`,
          'dotnet publish',
          'dotnet nuget push x',
        ],
      },
    ),
  ),
  tool('dotnet test', '--collect --no-build --nologo', {
    operands: /^(XPlat )?Code Coverage$/,
    needs: ['--collect'],
    yes: ['dotnet test --collect "XPlat Code Coverage" --no-build'],
    no: ['dotnet test --collect evil', 'dotnet test --collect "Code Coverage" --settings x'],
  }),
  ...['dotnet format'].map((command) =>
    fileTool(
      command,
      `--verify-no-changes -v=${verbosity} --verbosity=${verbosity} --no-restore --severity=info|warn|error --include= --exclude= --diagnostics=`,
      {
        needs: ['--verify-no-changes'],
        yes: [`${command} --verify-no-changes`],
        no: [command, `${command} --verify-no-changes --report /x`, `${command} --verify-no-changes --binarylog /x`],
      },
    ),
  ),
  ...[
    'dotnet sln list',
    'dotnet list reference',
    'dotnet list package',
    'dotnet tool list',
    'dotnet --info',
    'dotnet --list-sdks',
    'dotnet --list-runtimes',
    'dotnet nuget list source',
    'dotnet workload list',
  ].map((command) =>
    looks(command, '--include-transitive --format=json|console -g --global', {
      why: 'It lists what the solution or this machine has.',
      yes: [command, `${command} --include-transitive`],
      no: [
        `${command} --configfile /x`,
        `${command} --source https://evil.example`,
        'dotnet add package x',
        'dotnet nuget push x',
      ],
    }),
  ),
  looks('dotnet list', '--include-transitive --format=json|console', {
    why: 'It lists what a project or the solution has.',
    operands: ['folders', /^(package|reference)$/],
    least: 2,
    yes: ['dotnet list src reference', 'dotnet list A.sln package --include-transitive'],
    no: ['dotnet list ../x package', 'dotnet list A.sln package --source https://evil.example'],
  }),
  looks('dotnet nuget why', '-f=<name> --framework=<name>', {
    operands: ['folders', /^[\w.-]+$/],
    yes: ['dotnet nuget why A.sln System.Text.Json'],
    no: ['dotnet nuget push A.nupkg', 'dotnet nuget why ../A.sln x'],
  }),
  tool(
    'dotnet ef migrations script',
    '--no-build --idempotent -i --no-transactions --context=<name> -c=<name> -v --project=<folder> -p=<folder> --startup-project=<folder> -s=<folder>',
    {
      operands: /^\w+$/,
      yes: ['dotnet ef migrations script --idempotent -p src'],
      no: ['dotnet ef migrations script -o /x', 'dotnet ef migrations script --output x', 'dotnet ef migrations add x'],
    },
  ),
  ...(
    [
      ['dotnet list', ['folders', /^package$/]],
      ['dotnet list package', undefined],
    ] as const
  ).map(([command, operands]) =>
    looks(
      command,
      '--outdated --deprecated --vulnerable --include-transitive --highest-minor --highest-patch --include-prerelease',
      {
        kind: 'asks',
        why: 'It asks the package server for newer or unsafe versions, and installs none.',
        needs: ['--outdated', '--deprecated', '--vulnerable'],
        ...(operands && { operands, least: 2 }),
        yes: [operands ? 'dotnet list A.sln package --outdated' : 'dotnet list package --outdated'],
        no: [
          'dotnet list package --outdated --source https://evil.example',
          'dotnet list package --outdated --config /x',
        ],
      },
    ),
  ),
  ...[
    'dotnet ef migrations list',
    'dotnet ef migrations has-pending-model-changes',
    'dotnet ef dbcontext info',
    'dotnet ef dbcontext list',
  ].map((command) =>
    tool(
      command,
      '--no-build --context=<name> -c=<name> --no-connect --json -v --project=<folder> -p=<folder> --startup-project=<folder> -s=<folder>',
      {
        yes: [command, `${command} --no-build`],
        no: [
          `${command} --connection x`,
          `${command} --project ../x`,
          'dotnet ef database update',
          'dotnet ef database drop',
          `${command} -- --environment Production`,
        ],
      },
    ),
  ),
  ...['dotnet csharpier check', 'dotnet csharpier --check', 'csharpier check'].map((command) =>
    fileTool(command, '--no-cache --loglevel=<name>', {
      least: 1,
      yes: [`${command} .`],
      no: [`${command} --config-path /x .`, 'dotnet csharpier .', `${command} ../x`],
    }),
  ),
  ...['swift build', 'swift test'].map((command) =>
    tool(
      command,
      '-c=debug|release --configuration=debug|release --filter= --skip= -v --verbose -q --quiet --parallel --list-tests -j=# --target=<name> --product=<name> --build-tests --enable-code-coverage --skip-build --sanitize=address|thread|undefined --num-workers=# --show-bin-path',
      {
        yes: [command, `${command} --filter ParserTests`],
        no: [
          `${command} --package-path ..`,
          `${command} -Xswiftc x`,
          `${command} --build-path /x`,
          `${command} --scratch-path /x`,
          `${command} --disable-sandbox`,
          `${command} --toolset evil.json`,
        ],
      },
    ),
  ),
  ...['swift package describe', 'swift package show-dependencies', 'swift package dump-package'].map((command) =>
    tool(command, '--type=json|text --format=json|text|dot|flatlist', {
      why: 'It runs the manifest of the package to say what is in it.',
      yes: [command],
      no: [
        `${command} --output-path /x`,
        `${command} --package-path ..`,
        'swift package update',
        'swift package plugin x',
        `${command} --disable-sandbox`,
      ],
    }),
  ),
  ...['swiftlint', 'swiftformat --lint'].map((command) =>
    fileTool(command, '--quiet --strict --reporter=xcode|json|csv|emoji|summary --no-cache --lenient', {
      yes: [`${command} Sources`, command],
      no: [
        `${command} --fix`,
        `${command} --config evil.yml`,
        `${command} --output /x`,
        `${command} --autocorrect`,
        `${command} /x`,
        `${command} --cache-path /x`,
      ],
    }),
  ),
  tool('xcodebuild', xcode, {
    oneDash: true,
    operands: /^(build|test|build-for-testing|test-without-building|analyze)$/,
    yes: [
      "xcodebuild test -scheme App -destination 'platform=iOS Simulator,name=iPhone 15' -quiet",
      'xcodebuild -list',
    ],
    no: [
      'xcodebuild archive',
      'xcodebuild -exportArchive',
      'xcodebuild test -derivedDataPath /x',
      'xcodebuild build CC=./evil',
      'xcodebuild install',
      'xcodebuild -xcconfig evil',
      'xcodebuild clean',
      'xcodebuild -resultBundlePath /x test',
    ],
  }),
  ...['dart analyze', 'flutter analyze'].map((command) =>
    fileTool(
      command,
      '--fatal-infos --fatal-warnings --no-fatal-infos --no-fatal-warnings --no-pub --no-congratulate',
      {
        yes: [command, `${command} lib`],
        no: [`${command} ../x`, `${command} --packages=evil`, `${command} --write=/x`, `${command} --watch`],
      },
    ),
  ),
  ...['dart test', 'flutter test'].map((command) =>
    fileTool(
      command,
      // With --coverage `dart test` is told a folder to write to.
      `${command === 'flutter test' ? '--coverage --no-pub --machine' : '-p=vm|chrome|node --platform=vm|chrome|node'} -n= -N= --name= --plain-name= --concurrency=# -j=# -r=compact|expanded|json|github|failures-only --reporter=compact|expanded|json|github|failures-only -t=<name> -x=<name> --tags=<name> --exclude-tags=<name> --run-skipped --total-shards=# --shard-index=# --test-randomize-ordering-seed=#`,
      {
        operands: 'tests',
        yes: [command, `${command} test/a_test.dart`],
        no: [
          `${command} bin/deploy.dart`,
          `${command} --x`,
          `${command} ../x`,
          `${command} --config=evil`,
          `${command} --update-goldens`,
          `${command} --coverage-path=/x`,
          `${command} --file-reporter=json:/x`,
          `${command} --dart-define=A=b`,
          `${command} --packages=evil`,
          'dart test --coverage=lib',
        ],
      },
    ),
  ),
  fileTool(
    'dart format',
    '-o=none|show --output=none|show --set-exit-if-changed --show=changed|all|none --line-length=# -l=#',
    {
      needs: ['-o', '--output'],
      yes: ['dart format --output=none --set-exit-if-changed lib'],
      no: ['dart format lib', 'dart format -o write lib', 'dart format --set-exit-if-changed .'],
    },
  ),
  ...['dart pub deps', 'flutter pub deps'].map((command) =>
    looks(command, '--style=list|tree|compact --json --no-dev', {
      kind: 'asks',
      why: 'It shows what the project has, and asks the index of packages for what it does not know.',
      yes: [command],
      no: [`${command} -C ..`, `${command} --directory=..`, 'flutter pub get', 'flutter pub upgrade'],
    }),
  ),
  ...['dart pub outdated', 'flutter pub outdated'].map((command) =>
    looks(command, '--json --no-dev-dependencies --transitive --up-to-date', {
      kind: 'asks',
      why: 'It asks the package server for newer versions, and installs none.',
      yes: [command],
      no: [`${command} -C ..`, 'dart pub publish'],
    }),
  ),
  ...[
    'flutter build apk',
    'flutter build web',
    'flutter build ios',
    'flutter build macos',
    'flutter build linux',
    'flutter build appbundle',
  ].map((command) =>
    tool(command, '--debug --release --profile --no-pub --no-codesign --no-tree-shake-icons -v', {
      yes: [`${command} --debug`],
      no: [
        `${command} -o /x`,
        `${command} -t ../x.dart`,
        `${command} --dart-define-from-file=/x`,
        `${command} --target-platform=x --output=/x`,
      ],
    }),
  ),
];
