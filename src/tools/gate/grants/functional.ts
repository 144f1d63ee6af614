import type { Row } from './row.ts';
import { fileTool, looks, tool } from './tool.ts';

const asksIndex = {
  kind: 'asks',
  why: 'It asks the index of packages for newer or unsafe versions, and installs none.',
} as const;

export const functionalRows: readonly Row[] = [
  fileTool(
    'mix test',
    '--trace --stale --failed --seed=# --only= --exclude= --include= --max-failures=# --cover --slowest=# --slowest-modules=# --warnings-as-errors --color --no-color --max-cases=# --timeout=# --repeat-until-failure=# --no-start --no-compile --force --partitions=# --no-deps-check --raise',
    {
      operands: 'tests',
      yes: ['mix test', 'mix test test/a_test.exs:12 --trace', 'mix test --only integration --seed 0'],
      no: [
        'mix test priv/repo/seeds.exs',
        'mix test --formatter Evil',
        'mix test ../x',
        'mix test --no-archives-check --include x -r ./evil.exs',
        'mix test --import-cover /x',
        'mix test --export-coverage /x',
        'mix do test + run evil.exs',
        'mix run evil.exs',
      ],
    },
  ),
  ...[
    'mix compile',
    'mix credo',
    'mix dialyzer',
    'mix xref graph',
    'mix deps',
    'mix deps.tree',
    'mix app.tree',
    'mix phx.routes',
    'mix ecto.migrations',
    'mix sobelow',
    'mix coveralls',
    'mix help',
    'mix docs',
    'mix doctor',
    'mix gettext.extract',
    'mix assets.build',
  ].map((command) =>
    fileTool(
      command,
      `--verbose --strict --warnings-as-errors --all-warnings --no-deps-check --all ${command === 'mix gettext.extract' ? '--check-up-to-date' : '--force'} --format=short|oneline|flycheck|json|dialyxir|github|stats|cycles|compact|txt|sarif|plain --min-priority=<name> --only=<name> --checks=<name> --ignore-checks=<name> --label=compile|runtime|compile-connected --quiet --skip --exit --no-compile --mute-exit-status -a`,
      {
        needs: command === 'mix gettext.extract' ? ['--check-up-to-date'] : undefined,
        operands: command.startsWith('mix credo') ? 'paths' : undefined,
        yes: [command === 'mix gettext.extract' ? `${command} --check-up-to-date` : command],
        no: [
          `${command} ../publish`,
          `${command} --config=evil`,
          `${command} --config-file evil.exs`,
          `${command} --out /x`,
          `${command} --output /x`,
          'mix deps.get',
          'mix ecto.drop',
          'mix ecto.migrate',
          `${command} -r ./evil.ex`,
        ],
      },
    ),
  ),
  ...['mix hex.outdated', 'mix hex.audit', 'mix deps.audit', 'rebar3 outdated', 'cabal outdated'].map((command) =>
    tool(command, '--all --pre --within-requirements', {
      ...asksIndex,
      yes: [command],
      no: [`${command} --repo evil`, 'mix hex.publish', 'mix deps.update --all', `${command} --project-file /x`],
    }),
  ),
  tool(
    'mix xref',
    '--label=compile|runtime|compile-connected --format=stats|cycles|plain --include-siblings --fail-above=#',
    {
      operands: [/^(callers|trace|graph|deprecated|unreachable)$/, 'paths'],
      least: 1,
      most: 2,
      yes: ['mix xref callers App.Tickets'],
      no: ['mix xref graph --output /x', 'mix xref callers --format dot'],
    },
  ),
  tool('mix deps.unlock', '--check-unused', {
    needs: ['--check-unused'],
    yes: ['mix deps.unlock --check-unused'],
    no: ['mix deps.unlock --all', 'mix deps.unlock --unused', 'mix deps.unlock x'],
  }),
  fileTool('mix format', '--check-formatted --dry-run', {
    needs: ['--check-formatted', '--dry-run'],
    yes: ['mix format --check-formatted'],
    no: ['mix format', 'mix format --check-formatted --dot-formatter /x'],
  }),
  ...['rebar3 eunit', 'rebar3 dialyzer', 'rebar3 xref', 'rebar3 compile', 'rebar3 tree', 'rebar3 lint'].map((command) =>
    tool(command, '--module=<name> --suite=<name> --case=<name> --verbose -v --cover -c', {
      yes: [command],
      no: [`${command} --dir /x`, `${command} --config evil`, 'rebar3 hex publish'],
    }),
  ),
  ...['gleam test', 'gleam check', 'gleam build'].map((command) =>
    tool(command, '--target=erlang|javascript', {
      yes: [command],
      no: [`${command} --target /x`, `${command} --runtime ./evil`, `${command} -- x`, 'gleam publish', 'gleam run'],
    }),
  ),
  ...['fourmolu --mode check', 'fourmolu -m check'].map((command) =>
    fileTool(command, '', {
      yes: [`${command} src`],
      no: [`${command} --mode inplace src`, `${command} -o -pgmF=./evil src`, `${command} /x`, 'fourmolu src'],
    }),
  ),
  fileTool('gleam format', '--check', {
    needs: ['--check'],
    yes: ['gleam format --check src'],
    no: ['gleam format src', 'gleam format --check /x'],
  }),
  ...['cabal build', 'cabal test', 'cabal check', 'cabal bench', 'cabal haddock', 'cabal list-bin'].map((command) =>
    tool(
      command,
      '--test-show-details=streaming|direct|failures|always|never --enable-tests --enable-coverage --disable-optimization --offline --keep-going -j=# -v=# -O=0|1|2 --ghc-options=-Wall|-Werror --only-dependencies --dry-run --verbose=#',
      {
        operands: /^((lib|exe|test|bench|tests):)?[a-z][\w-]*(:[\w:-]+)?$/i,
        yes: [command, `${command} all -j4`],
        no: [
          `${command} -w ./evil`,
          `${command} --with-compiler=./evil`,
          `${command} --project-file=/x`,
          `${command} --ghc-options=-pgmF=evil`,
          `${command} --builddir=/x`,
          `${command} --test-options=x`,
          'cabal upload x',
          'cabal install x',
          'cabal run x',
          `${command} ../x`,
        ],
      },
    ),
  ),
  ...['hlint', 'ormolu --mode check', 'ormolu -m check'].map((command) =>
    fileTool(command, '--no-summary --json --no-exit-code -j -q', {
      yes: [`${command} src`],
      no: [
        `${command} --refactor src`,
        `${command} --mode inplace src`,
        `${command} -h evil.yaml src`,
        `${command} --report=/x src`,
        `${command} /x`,
        `${command} --with=evil src`,
      ],
    }),
  ),
  ...['dune build', 'dune test', 'dune runtest'].map((command) =>
    tool(command, '--display=short|quiet|verbose|progress --force -f -j=# --no-buffer --profile=dev|release', {
      operands:
        /^(@{0,2}(check|runtest|test|all|default|fmt|lint|doc)|(?!.*\.\.)(\.\/)?[\w-]+(\/[\w-]+)*\.(exe|bc|cma|cmxa|cmi|cmx))$/,
      yes: [command, `${command} @check`],
      no: [
        `${command} --auto-promote`,
        `${command} --root /x`,
        `${command} --workspace evil`,
        `${command} ../x`,
        'dune exec x',
        'dune promote',
        'dune install',
        `${command} --build-dir /x`,
        `${command} -w`,
      ],
    }),
  ),
  ...['opam list', 'opam show', 'ghc-pkg list', 'lein deps :tree'].map((command) =>
    looks(command, '--installed -i -a', {
      operands: /^[a-z][\w-]*$/,
      yes: [command],
      no: [`${command} --root /x`, `${command} --package-db=/x`, 'opam install x'],
    }),
  ),
  ...[
    'lein test',
    'lein check',
    'lein eastwood',
    'lein kibit',
    'lein cljfmt check',
    'clj-kondo --lint',
    'cljfmt check',
  ].map((command) =>
    tool(command, '--parallel', {
      operands: 'names',
      yes: [`${command} src`],
      no: [
        `${command} --config evil.edn src`,
        `${command} /x`,
        'lein run',
        'lein deploy',
        'lein cljfmt fix',
        `${command} -Sdeps x`,
      ],
    }),
  ),
  tool(
    'sbt',
    '-no-colors -batch --no-colors --batch -Dsbt.log.noformat=true|false -Dsbt.color=true|false --error --warn',
    {
      oneDash: undefined,
      also: /^(\w+\/)?(test|compile|Test\/compile|testQuick|IntegrationTest\/test|it:test|scalafmtCheck|scalafmtCheckAll|scalafmtSbtCheck|scalastyle|doc|projects|dependencyTree|evicted|coverageReport|(Test\/)?testOnly( [\w.*]+)+( -- -z [\w ]+)?|scalafixAll --check|scalafix --check)$|^-Dsbt\.(log\.noformat|color)=(true|false)$/,
      operands: /^test$/,
      yes: ['sbt test', "sbt 'testOnly dev.quarry.ASpec -- -z two words'", 'sbt core/test scalafmtCheckAll'],
      no: [
        'sbt publish',
        "sbt 'runMain Evil'",
        "sbt 'eval sys.exit()'",
        "sbt 'set x := y' test",
        "sbt 'testOnly x; publish'",
        'sbt -Dsbt.boot.properties=evil test',
        'sbt scalafmtAll',
        'sbt run',
        'sbt -J-x test',
        "sbt '; publish'",
      ],
    },
  ),
  ...['elm-test', 'elm-review', 'elm-format --validate', 'rescript build'].map((command) =>
    fileTool(command, '--report=console|json|junit --fuzz=# --seed=#', {
      yes: [command],
      no: [
        `${command} --compiler ./evil`,
        `${command} --fix`,
        `${command} --fix-all`,
        `${command} --config ../x`,
        `${command} --elmjson /x`,
        `${command} /x`,
        `${command} --output /x`,
      ],
    }),
  ),
];
