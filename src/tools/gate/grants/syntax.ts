import type { Row } from './row.ts';
import { fileTool, tool } from './tool.ts';

/** Interpreters that are told only to look whether a file is well formed. */
export const syntaxRows: readonly Row[] = [
  ...['bash -n', 'sh -n', 'zsh -n', 'dash -n', 'node --check', 'node -c', 'luac -p'].map((command) =>
    fileTool(command, '', {
      kind: 'looks',
      why: 'It says whether a script is well formed, and runs none of it.',
      operands: 'files',
      least: 1,
      yes: [`${command} scripts/a.sh`],
      no: [
        `${command} -c id`,
        command,
        `${command} /x.sh`,
        `${command} --rcfile evil scripts/a.sh`,
        `${command} -r ./evil.js scripts/a.sh`,
        `${command} -i scripts/a.sh`,
        'bash scripts/a.sh',
        'node src/a.js',
        `${command} +n scripts/a.sh`,
        `${command} -x scripts/a.sh`,
        `${command} -- -c`,
      ],
    }),
  ),
  ...['ruby -c', 'ruby -wc', 'perl -c', 'perl -wc', 'php -l'].map((command) =>
    fileTool(command, '', {
      why: 'It says whether a file of the project is well formed. What such a file does when it is loaded may happen.',
      operands: 'files',
      least: 1,
      yes: [`${command} src/a.rb`],
      no: [
        `${command} -e 1`,
        command,
        `${command} -I /x src/a.rb`,
        `${command} -r ./evil src/a.rb`,
        `${command} -Mevil src/a.rb`,
        `${command} /x`,
        `${command} -d a=b src/a.rb`,
        'ruby src/a.rb',
        'perl src/a.pl',
      ],
    }),
  ),
  ...['py_compile', 'compileall', 'tabnanny'].map((command) =>
    fileTool(command, '-q -f -j=#', {
      installedBy: ['pip'],
      operands: 'files',
      least: 1,
      yes: [`python3 -m ${command} src`],
      no: [
        `python3 -m ${command} /x`,
        `python3 -m ${command} -d /x src`,
        `python3 -m ${command} -i /x src`,
        `python3 -m ${command} -o 2 -s x src`,
      ],
    }),
  ),
  tool('ruby', '-I=test|lib|spec|lib:test|test:lib -w -W0', {
    why: "It runs one of the project's own files of tests.",
    operands: /^(?!.*\.\.)(test|spec)\/[\w./-]+_(test|spec)\.rb$/,
    least: 1,
    most: 1,
    needs: ['-I'],
    yes: ['ruby -Itest test/models/a_test.rb'],
    no: [
      'ruby -Itest -r./evil test/a_test.rb',
      'ruby -Itest test/../../x_test.rb',
      'ruby -Itest evil.rb',
      'ruby -I. test/a_test.rb',
      'ruby -Itest -e 1',
      'ruby test/a_test.rb x',
    ],
  }),
];
