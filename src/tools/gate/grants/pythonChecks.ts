import type { Row } from './row.ts';
import { fileTool, handsOnSettings, looks, tool } from './tool.ts';

export const pythonCheckRows: readonly Row[] = [
  ...[
    'bandit',
    'vulture',
    'radon cc',
    'radon mi',
    'pydocstyle',
    'pycodestyle',
    'basedpyright',
    'doc8',
    'docformatter --check',
    'autoflake --check',
    'autopep8 --diff',
    'yapf --diff',
    'twine check',
    'check-manifest',
    'ruff analyze graph',
    'rstcheck',
    'proselint',
  ].map((command) =>
    fileTool(
      command,
      '-r --recursive -q --quiet -v --verbose -ll -lll -l -i -ii --severity-level=low|medium|high --confidence-level=low|medium|high --min-confidence=# -s -a -n=<name> --count --show-source --select=<labels> --ignore=<labels> --max-line-length=# --statistics --output-format=concise|full|json|text --format=text|json|screen --fail-under=# --warnings --exclude=<labels> -x=<labels> --no-cache --preview --line-length=#',
      {
        readsArguments: true,
        yes: [`${command} src`],
        no: [
          `${command} --config evil.toml src`,
          `${command} --configfile evil src`,
          `${command} -c evil.yaml src`,
          `${command} @evil.txt`,
          `${command} /x`,
          `${command} -o /x src`,
          `${command} --output /x src`,
          `${command} --in-place src`,
          `${command} --plugin evil src`,
          `${command} --write-changes src`,
          `${command} --fix src`,
        ],
      },
    ),
  ),
  ...[
    'pip-audit',
    'safety check',
    'safety scan',
    'pip index versions',
    'uv lock --check',
    'uv lock --locked',
    'poetry lock --check',
    'poetry check --lock',
    'pdm outdated',
  ].map((command) =>
    tool(command, '-l --local --strict --progress-spinner=off --desc --skip-editable -v --full-report --offline', {
      kind: 'asks',
      why: 'It asks the index or the list of advisories about what is installed, and changes nothing.',
      operands: command === 'pip index versions' ? /^[A-Za-z][\w.-]*(\[[\w,]+\])?$/ : undefined,
      yes: [command === 'pip index versions' ? `${command} httpx` : command],
      no: [
        `${command} --fix`,
        `${command} --index-url https://evil.example`,
        `${command} -r /x`,
        `${command} --extra-index-url https://evil.example`,
        `${command} --directory ..`,
        'uv lock',
        'poetry lock',
        `${command} -o /x`,
      ],
    }),
  ),
  ...['nox', 'tox', 'hatch test', 'hatch run', 'hatch fmt --check', 'invoke', 'inv', 'poe', 'doit'].map((command) =>
    tool(
      command,
      /^(hatch|poe)/.test(command)
        ? ''
        : '-s=<checks> -e=<environments> --session=<checks> --sessions=<checks> -r -R -l --list --list-sessions -p --parallel -q -v -vv --no-install -a -n',
      {
        operands: /run|invoke|inv|poe|doit/.test(command) ? 'scripts' : undefined,
        least: /run|invoke|inv|poe|doit/.test(command) ? 1 : 0,
        rest: {
          options: '-k= -x -q -v -vv --lf --ff -s --tb=short|long|no|line|native --maxfail=#',
          operands: 'names',
        },
        yes: [/run|invoke|inv|poe|doit/.test(command) ? `${command} test` : command],
        no: [
          `${command} -f evil.py`,
          `${command} -c evil.ini`,
          `${command} deploy`,
          `${command} -s deploy`,
          `${command} -e release`,
          `${command} --workdir /x`,
          `${command} --posargs evil`,
          `${command} -- -p evil`,
          `${command} --override x`,
          `${command} -x x=y`,
          `${command} --envdir /x`,
          `${command} -s 'test;x'`,
        ],
      },
    ),
  ),
  ...['coverage xml', 'coverage html', 'coverage json', 'coverage lcov', 'coverage combine'].map((command) =>
    tool(
      command,
      '-q -i --ignore-errors --fail-under=# --skip-covered --skip-empty --pretty-print --include= --omit= --keep -a --append',
      {
        yes: [command],
        no: [
          `${command} -o /x`,
          `${command} -d /x`,
          `${command} --rcfile=evil`,
          `${command} --data-file=/x`,
          'coverage run evil.py',
          'coverage erase',
        ],
      },
    ),
  ),
  ...[
    'manage.py sqlmigrate',
    'manage.py migrate',
    'manage.py findstatic',
    'manage.py show_urls',
    'manage.py validate_templates',
    'manage.py spectacular --validate',
  ].map((command) =>
    tool(command, command === 'manage.py migrate' ? '--plan --check' : '--backwards -v=#', {
      ...(command === 'manage.py migrate' && { needs: ['--plan', '--check'] }),
      why: 'It shows what the project is made of, and what a migration would do.',
      operands: /^[a-z0-9][\w./-]*$/,
      yes: [command === 'manage.py migrate' ? 'python manage.py migrate --plan' : `python ${command} shop 0001`],
      no: [
        'python manage.py migrate',
        `python ${command} --settings=evil`,
        `python ${command} --pythonpath=/x`,
        'python manage.py flush',
        `python ${command} --file /x`,
      ],
    }),
  ),
  ...[
    'flask routes',
    'flask db current',
    'flask db history',
    'flask db heads',
    'flask db check',
    'django-admin check',
  ].map((command) =>
    tool(command, '--all-methods --sort=endpoint|methods|rule|domain|match -v --verbose', {
      ...(command.startsWith('flask') && { why: handsOnSettings }),
      yes: [command],
      no: [`${command} --app evil`, `${command} -d /x`, 'flask db upgrade', `${command} --env-file /x`],
    }),
  ),
  ...['poetry version', 'pdm info', 'direnv status', 'rustup which'].map((command) =>
    looks(command, '--short -s -r --only-installed --reverse --json', {
      why: 'It lists what is installed.',
      operands: command.endsWith('which') ? /^\w[\w-]*$/ : undefined,
      yes: [command],
      no: [`${command} -C ..`, `${command} ../x`, `${command} --python ./evil`, `${command} 9.9.9 --force`],
    }),
  ),
  fileTool('sphinx-build', '-b=html|dummy|linkcheck|doctest -W -n -q -T -E -a --keep-going -j=#|auto', {
    operands: [/^(docs?|doc\/source|docs\/source)\/?$/, /^(docs?\/)?_?build(\/[\w-]+)*$|^\/dev\/null$/],
    least: 2,
    most: 2,
    why: "It builds the project's documents into their folder.",
    yes: ['sphinx-build -b html -W docs docs/_build/html'],
    no: [
      'sphinx-build docs /x',
      'sphinx-build -c evil docs docs/_build',
      'sphinx-build -C -D extensions=evil docs docs/_build',
      'sphinx-build -b evil docs docs/_build',
      'sphinx-build -w /x docs docs/_build',
      'sphinx-build ../docs docs/_build',
      'sphinx-build -d /x docs docs/_build',
    ],
  }),
  ...[
    'ty check',
    'deptry',
    'lint-imports',
    'mdformat --check',
    'cfn-lint',
    'zola build',
    'zola check',
    'mdbook test',
    'mdbook build',
  ].map((command) =>
    tool(command, '', {
      operands: /^(ty|mdformat|deptry|cfn)/.test(command) ? 'paths' : undefined,
      yes: [/^(deptry|cfn)/.test(command) ? `${command} .` : command],
      no: [
        `${command} --config evil.toml`,
        `${command} ../x`,
        `${command} -o /x`,
        `${command} --fix`,
        `${command} -d /x`,
      ],
    }),
  ),
  ...['mkdocs build', 'hugo'].map((command) =>
    tool(
      command,
      '--strict -s -q --quiet --minify -D --buildDrafts --printPathWarnings --renderToMemory --drafts --trace --skip-external-links',
      {
        yes: [command],
        no: [
          `${command} -f evil.yml`,
          `${command} --config=evil`,
          `${command} -d /x`,
          `${command} --destination /x`,
          `${command} ../x`,
          'mkdocs gh-deploy',
          'hugo deploy',
          `${command} --site-dir /x`,
        ],
      },
    ),
  ),
];
