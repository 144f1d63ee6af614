import type { Row } from './row.ts';
import { fileTool } from './tool.ts';

const lists = (command: string, options: string, more: Partial<Row> & Pick<Row, 'yes' | 'no'>): Row => ({
  command,
  kind: 'looks',
  why: 'It lists what is installed.',
  options,
  operands: /^[\w.[\]-]+$/,
  ...more,
});

const pytest =
  '-q -v -x -s -l -k= -m= --quiet --verbose --exitfirst --tb=short|long|line|native|no|auto --maxfail=# --ff --lf --nf --failed-first --last-failed --new-first --sw --stepwise --durations=# ' +
  '--durations-min=# -n=auto|logical|0|1|2|3|4|6|8|12|16 --numprocesses=auto|logical|# --dist=load|loadscope|loadfile|loadgroup|worksteal|no --no-header --no-summary --co --collect-only --cov --cov=<name> ' +
  '--cov-report=term|term-missing|term:skip-covered|term-missing:skip-covered|html|xml|json|lcov|annotate --cov-branch --no-cov --cov-fail-under=# --cov-append -r=a|A|f|E|s|x|X|p|P|w|fE|fEs|sx|xX ' +
  '--setup-show --setup-only --setup-plan --markers --fixtures --capture=no|sys|fd|tee-sys --log-level= --log-cli-level= --color=yes|no|auto --disable-warnings --disable-pytest-warnings --strict-markers ' +
  '--strict-config --strict --import-mode=prepend|append|importlib --ignore=<path> --deselect= --timeout=# --runxfail --cache-show --asyncio-mode=auto|strict --randomly-seed=# -W=<warning> -p=<noplugin> ' +
  '--benchmark-only --benchmark-skip --benchmark-disable --reuse-db --create-db --nomigrations --showlocals --full-trace --looponfail --count=# --version --showlocals --no-showlocals';
const manyTests =
  'It runs the tests of the project. Options that load another file as code or take another root are asked about.';

export const pythonRows: readonly Row[] = [
  fileTool('pytest', pytest, {
    why: manyTests,
    operands: 'collected',
    readsArguments: true,
    yes: [
      'pytest',
      'pytest tests/test_a.py -x -q --tb=short',
      'pytest "tests/test_a.py::test_b[1.005-0.00]" -l',
      'pytest tests -k "a or b" -q -p no:cacheprovider',
      'pytest src',
      'python3 -m pytest -q',
      'pytest -q -W error -x',
    ],
    no: [
      'pytest --rootdir=evil -p evil',
      'python3 -m pytest -p evil',
      'pytest -c evil.ini',
      'pytest -o addopts=-pevil',
      'pytest --basetemp=/x',
      'pytest --pastebin=all',
      'pytest --confcutdir=..',
      'pytest --junitxml=/x',
      'pytest -W error::evil.X',
      'pytest /etc/x.py',
      'pytest scripts/deploy.py',
      'pytest ../x',
      'pytest --pyargs evil',
      'pytest @evil.txt',
      'pytest -k @evil.txt',
      'pytest --pdbcls=evil:x',
      'pytest --doctest-modules',
    ],
  }),
  fileTool('unittest', '-v -q -f -b -c -k= --locals --verbose --failfast --buffer', {
    operands: 'modules',
    yes: ['python -m unittest tests.test_a -v', 'python -m unittest discover'],
    no: [
      'python -m unittest discover -s ../x',
      'python -m unittest /x.py',
      'python -m unittest manage',
      'python -m unittest shop.deploy',
      'python -m unittest ensurepip.bootstrap',
      'python -m unittest http.server.test',
      'python -m unittest antigravity',
    ],
  }),
  fileTool(
    'ruff check',
    '--output-format=concise|full|json|json-lines|junit|grouped|github|gitlab|pylint|azure|sarif --statistics --select= --ignore= --extend-select= --extend-ignore= --diff --no-fix --show-files --no-cache -n -q --quiet -v --verbose --preview --no-preview --target-version= --line-length=# --exit-zero -e --exclude= --extend-exclude= --respect-gitignore --force-exclude',
    {
      readsArguments: true,
      yes: ['ruff check', 'ruff check src tests --output-format=concise', 'ruff check . --statistics'],
      no: [
        'ruff check --fix src',
        'ruff check @evil.txt',
        'ruff check --config evil.toml',
        'ruff check -o /x',
        'ruff check --add-noqa',
        'ruff check --watch ../x',
        'ruff check --cache-dir=/x',
      ],
    },
  ),
  fileTool(
    'ruff format',
    '--check --diff -q --quiet -v --line-length=# --preview -n --no-cache --exclude= --target-version=',
    {
      needs: ['--check', '--diff'],
      yes: ['ruff format --check .', 'ruff format --diff src'],
      no: ['ruff format src', 'ruff format --check --config x'],
    },
  ),
  fileTool('ruff rule', '--all --output-format=text|json', {
    operands: /^[A-Z]+\d+$/,
    yes: ['ruff rule E501'],
    no: ['ruff rule --x'],
  }),
  fileTool(
    'mypy',
    '--strict --no-incremental --incremental --show-error-codes --hide-error-codes --show-column-numbers --show-error-context --pretty --ignore-missing-imports --no-error-summary --error-summary --python-version= --platform= --no-color-output --explicit-package-bases --namespace-packages --follow-imports=normal|silent|skip|error -p=<name> --package=<name> -v --verbose --exclude= --hide-error-context --warn-unused-ignores --warn-unreachable --warn-return-any --disallow-untyped-defs --disallow-any-generics --check-untyped-defs --no-implicit-optional --strict-optional --no-strict-optional --enable-error-code= --disable-error-code= --no-site-packages --sqlite-cache',
    {
      readsArguments: true,
      yes: ['mypy src', 'mypy --strict src/a tests/b.py --no-incremental'],
      no: [
        'mypy --config-file evil.ini',
        'mypy @evil.txt',
        'mypy -c "import os"',
        'mypy --python-executable=./evil',
        'mypy --install-types',
        'mypy --html-report=/x src',
        'mypy --cache-dir=/x src',
        'mypy /etc',
      ],
    },
  ),
  fileTool(
    'pyright',
    '--outputjson --stats --warnings --level=error|warning --verbose --pythonversion= --pythonplatform=',
    { yes: ['pyright src'], no: ['pyright -p evil', 'pyright --pythonpath ./evil', 'pyright --createstub x'] },
  ),
  fileTool(
    'black',
    '--check --diff -q --quiet -v -l=# --line-length=# -t= --target-version= --color --no-color --exclude= --skip-string-normalization -S',
    {
      needs: ['--check', '--diff'],
      yes: ['black --check .', 'black --diff src'],
      no: ['black src', 'black --check --config evil.toml', 'black -c x'],
    },
  ),
  fileTool('isort', '-c --check --check-only --profile=<name> -q', {
    why: 'It says whether imports stand in order. It goes through the links of the project, so what shows lines of files is asked about.',
    needs: ['-c', '--check', '--check-only'],
    yes: ['isort --check-only src'],
    no: ['isort src', 'isort --check --settings-path /x', 'isort --check --diff src'],
  }),
  fileTool(
    'flake8',
    '--max-line-length=# --select= --ignore= --extend-ignore= --statistics --count --show-source --exclude= --format=default|pylint|quiet-filename -j=# --max-complexity=#',
    {
      yes: ['flake8 src --max-line-length=100'],
      no: ['flake8 --config evil.ini', 'flake8 --output-file=/x', 'flake8 --enable-extensions=evil'],
    },
  ),
  fileTool(
    'pylint',
    '--disable= --enable= -E --errors-only --output-format=text|json|colorized|parseable -j=# -rn -sn --score=n|y',
    {
      yes: ['pylint src --disable=C0114 -j 4'],
      no: [
        'pylint --rcfile=evil src',
        'pylint --load-plugins=evil src',
        'pylint --init-hook=x src',
        'pylint --output-format=evil.X src',
      ],
    },
  ),
  fileTool(
    'coverage report',
    '--skip-covered --skip-empty --show-missing -m --sort=Name|Stmts|Miss|Cover|name|stmts|miss|cover|-cover|-Cover --include= --omit= --precision=# --fail-under=# -i --ignore-errors --format=text|markdown|total',
    {
      operands: 'names',
      yes: ['coverage report --skip-covered --sort=cover'],
      no: ['coverage report --rcfile=evil', 'coverage run evil.py', 'coverage report --data-file=/x'],
    },
  ),
  ...['alembic history', 'alembic heads', 'alembic current', 'alembic branches', 'alembic check', 'alembic show'].map(
    (command) =>
      fileTool(command, '-v --verbose -i --indicate-current --resolve-dependencies -r=', {
        operands: /^[\w:@+-]+$/,
        yes: [`${command} --verbose`],
        no: [`${command} -c evil.ini`, 'alembic -x a=b current', 'alembic upgrade head'],
      }),
  ),
  ...['alembic upgrade', 'alembic downgrade'].map((command) =>
    fileTool(command, '--sql', {
      why: 'With --sql it prints what it would do.',
      operands: /^[\w:@+-]+$/,
      needs: ['--sql'],
      yes: [`${command} head --sql`],
      no: [`${command} head`],
    }),
  ),
  fileTool(
    'manage.py test',
    '-v=# --verbosity=# --failfast --keepdb --parallel --parallel=# -k= --tag= --exclude-tag= --noinput --no-input --timing --shuffle --reverse --debug-mode',
    {
      operands: 'modules',
      yes: ['python manage.py test shop.tests -v 2 --keepdb', 'python manage.py test shop'],
      no: [
        'python manage.py test manage',
        'python manage.py test --settings=evil',
        'python manage.py test --testrunner=evil',
        'python manage.py flush',
      ],
    },
  ),
  fileTool('manage.py check', '--deploy -t= --tag= --fail-level=', {
    operands: /^[a-z]\w*$/,
    yes: ['python manage.py check --deploy'],
    no: ['python manage.py check --settings=evil', 'python manage.py shell -c x'],
  }),
  fileTool('manage.py showmigrations', '-l -p --list --plan', {
    operands: /^[a-z]\w*$/,
    yes: ['python manage.py showmigrations --plan'],
    no: ['python manage.py migrate'],
  }),
  fileTool('manage.py makemigrations', '--check --dry-run', {
    operands: /^[a-z]\w*$/,
    needs: ['--dry-run'],
    yes: ['python manage.py makemigrations --check --dry-run'],
    no: ['python manage.py makemigrations', 'python manage.py makemigrations --check'],
  }),
  ...['pip list', 'uv pip list', 'pip freeze', 'uv pip freeze'].map((command) =>
    lists(
      command,
      '--format=columns|freeze|json -v --not-required --user --local -l --exclude-editable -e --editable',
      {
        operands: undefined,
        yes: [command],
        no: [
          ...(command === 'pip list' ? [`${command} --outdated`] : []),
          `${command} --index-url=https://evil.example`,
          `${command} --path /x`,
          `${command} -r /x`,
        ],
      },
    ),
  ),
  ...['pip show', 'uv pip show', 'pip check', 'uv pip check', 'uv pip tree'].map((command) =>
    lists(command, '-v --verbose -f --files', {
      yes: [command],
      no: [`${command} --python ./evil`, `${command} --prefix /x`],
    }),
  ),
  fileTool(
    'uv tree',
    '--depth=# -d=# --invert --package= --prune= --no-dedupe --frozen --locked --group= --all-groups --no-dev --show-sizes',
    {
      kind: 'asks',
      why: 'It shows what the project is made of, and asks the index of packages where its lock file is behind.',
      operands: undefined,
      yes: ['uv tree --invert --package httpx', 'uv tree --depth 1'],
      no: ['uv tree --index=https://evil.example', 'uv tree --project ..', 'uv tree --python ./evil'],
    },
  ),
  ...['poetry show', 'pdm list', 'poetry check', 'poetry env info'].map((command) =>
    lists(command, '--tree -t --no-dev --top-level -T', {
      yes: [command],
      no: [`${command} -C ..`, `${command} --directory=..`],
    }),
  ),
  ...['pip list', 'uv pip list'].map(
    (command): Row => ({
      command,
      kind: 'asks',
      why: 'It asks the index for newer versions and installs none.',
      options: '--outdated -o --format=columns|json',
      needs: ['--outdated', '-o'],
      yes: [`${command} --outdated`],
      no: [`${command} --outdated --index-url=https://evil.example`],
    }),
  ),
  {
    command: 'poetry show',
    kind: 'asks',
    why: 'It asks the index for newer versions.',
    options: '--outdated -o --latest -l --top-level -T',
    needs: ['--outdated', '-o', '--latest', '-l'],
    yes: ['poetry show --outdated'],
    no: ['poetry show --outdated -C ..'],
  },
];
