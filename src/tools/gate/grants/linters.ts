import type { Row } from './row.ts';
import { tool } from './tool.ts';

export const linterRows: readonly Row[] = [
  ...Object.entries({
    shellcheck:
      '-s=bash|sh|dash|ksh -S=error|warning|info|style -e= --exclude= --severity=error|warning|info|style --shell=bash|sh|dash|ksh -f=tty|gcc|json|json1|checkstyle|quiet|diff --format=tty|gcc|json|json1|checkstyle|quiet|diff',
    hadolint: '--no-color -f=tty|json|checkstyle|gnu --format=tty|json|checkstyle|gnu --ignore=',
    yamllint:
      '-s --strict --no-warnings -f=parsable|standard|colored|auto|github --format=parsable|standard|colored|auto|github',
    actionlint: '',
    markdownlint: '-q --quiet -j --json',
    'markdownlint-cli2': '',
    'taplo check': '',
    'buf lint': '--error-format=text|json',
    tflint: '-f=default|json|checkstyle|compact --format=default|json|checkstyle|compact --no-color --recursive',
    'sqlfluff lint':
      '-f=human|json|yaml|github-annotation --format=human|json|yaml|github-annotation -q --dialect=<name>',
    codespell: '-q=# --quiet-level=#',
    typos: '--format=silent|brief|long|json',
    vale: '--output=line|JSON --no-exit',
    djlint: '--lint --check --quiet',
    'ansible-lint': '-q --strict -f=brief|full|json|pep8 --format=brief|full|json|pep8 --offline',
  }).map(([command, options]) =>
    tool(command, options, {
      operands: 'paths',
      configured: true,
      ...(command === 'ansible-lint' && { needs: ['--offline'] }), // else it fetches what the project needs
      yes: [command === 'ansible-lint' ? `${command} --offline` : command],
      no: [
        `${command} --fix`,
        `${command} --config /x`,
        `${command} --config-file=/x`,
        `${command} /etc/passwd`,
        `${command} ${command === 'shellcheck' ? '-x' : command === 'codespell' ? '-e' : '-f'} /etc/passwd`,
        ...(command === 'markdownlint' ? ['markdownlint -f json README.md'] : []),
      ],
    }),
  ),
  tool('shfmt', '-d -l -i=# -ci -bn -s', {
    operands: 'paths',
    needs: ['-d', '-l'],
    yes: ['shfmt -d scripts'],
    no: ['shfmt -w scripts', 'shfmt scripts'],
  }),
];
