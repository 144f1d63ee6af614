import type { Row } from './row.ts';
import { looks } from './tool.ts';

const lists = (command: string, options: string, more: Partial<Row> & Pick<Row, 'no'>): Row =>
  looks(command, options, {
    why: 'It shows what is in an archive or a compiled file of the project. What unpacks to files, or starts a program for each, is asked about; a name with a colon may be another machine.',
    operands: 'files',
    least: 1,
    yes: [`${command} build/a.tar`],
    ...more,
  });

export const archiveRows: readonly Row[] = [
  lists('tar', '-t -f=<file> -z -j -J -v --list --file=<file> --gzip --bzip2 --xz --zstd --verbose', {
    needs: ['-t', '--list'],
    least: 0,
    yes: ['tar -tzf build/a.tar', 'tar --list --file=build/a.tar', 'tar -tf build/a.tar README.md'],
    no: [
      'tar -tf build/a.tar --to-command=./evil.sh',
      'tar -xf build/a.tar',
      'tar -tf evil:x',
      'tar -tf build/a.tar -I ./evil.sh',
      'tar -tf build/a.tar --use-compress-program=./evil.sh',
      'tar -tf build/a.tar --checkpoint-action=exec=./evil.sh',
      'tar -tf /etc/x.tar',
      'tar -tf build/a.tar -C /',
      'tar -tf build/a.tar --rsh-command=./evil.sh',
    ],
  }),
  ...['tar tf', 'tar tzf', 'tar tvf', 'tar tvzf', 'tar tzvf', 'tar tjf', 'tar tJf'].map((command) =>
    lists(command, '', {
      no: [
        `${command} evil:x`,
        `${command} build/a.tar --to-command=./evil.sh`,
        `${command} /x.tar`,
        'tar xf build/a.tar',
      ],
    }),
  ),
  lists('unzip', '-l -v -p -t -q -qq -Z -Z1 -1', {
    needs: ['-l', '-v', '-p', '-t', '-Z', '-Z1'],
    yes: ['unzip -l build/a.zip', 'unzip -p build/a.jar META-INF/MANIFEST.MF'],
    no: [
      'unzip build/a.zip',
      'unzip -o build/a.zip',
      'unzip -l build/a.zip -d /x',
      'unzip -p /x.zip',
      'unzip -p -P secret build/a.zip',
    ],
  }),
  ...[
    'zipinfo',
    'zipinfo -1',
    'zcat',
    'bzcat',
    'xzcat',
    'zstdcat',
    'gzip -l',
    'gzip -t',
    'gzip -dc',
    'gunzip -c',
    'xz -l',
    'ar t',
    'ar tv',
  ].map((command) =>
    lists(command, '-v -q', {
      no: [`${command} /x.gz`, `${command} -o x`, `${command} -d x`, 'gzip build/a', 'ar x build/a', 'gunzip build/a'],
    }),
  ),
  ...['jar tf', 'jar tvf', 'jar -tf'].map((command) =>
    lists(command, '', {
      readsArguments: true,
      no: [
        `${command} @evil.txt`,
        `${command} /x.jar`,
        'jar xf build/a.jar',
        'jar uf build/a.jar x',
        `${command} build/a.jar -J-agentpath:x`,
      ],
    }),
  ),
  lists(
    'javap',
    '-p -c -v -l -s -private -public -protected -package -constants -verbose -cp=<file> -classpath=<file> --class-path=<file>',
    {
      oneDash: true,
      readsArguments: true,
      operands: /^(?![\w./]*\.\.)\w[\w.$/-]*$/,
      yes: ['javap -cp build/classes -p dev.quarry.Proration', 'javap -c build/A.class'],
      no: [
        'javap @evil.txt',
        'javap -J-javaagent:evil.jar x',
        'javap -cp /x y',
        'javap ../x.class',
        'javap /x/y.class',
      ],
    },
  ),
  lists('xmllint', '--xpath= --noout --format --nonet --html --recover', {
    needs: ['--xpath', '--noout', '--format'],
    yes: ["xmllint --xpath 'string(//failure/@message)' build/a.xml", 'xmllint --noout pom.xml'],
    no: [
      'xmllint --noout --valid pom.xml',
      'xmllint --noent --noout pom.xml',
      'xmllint --schema http://127.0.0.1/x --noout pom.xml',
      'xmllint --format pom.xml --output /x',
      'xmllint --shell pom.xml',
      'xmllint --noout http://127.0.0.1/x',
      'xmllint --noout --xinclude pom.xml',
      'xmllint --noout --loaddtd pom.xml',
    ],
  }),
  ...['yq', 'yq eval', 'yq e'].map((command) =>
    lists(
      command,
      '-r -P -e -M -C -N -j -c -y -o=json|yaml|props|tsv|csv -p=yaml|json|toml|xml --output-format=json|yaml',
      {
        why: 'It shows values out of files of the project. What changes the file, loads another one, or asks for the environment is asked about.',
        operands: [
          (word) => /^\.(?!.*(env|load|eval|input|import|include|system|exec|split_doc|\$__))/is.test(word),
          'files',
        ],
        least: 2,
        yes: [`${command} '.jobs.test.steps[].run' .github/workflows/ci.yml`, `${command} -o=json '.a' a.yaml`],
        no: [
          `${command} -i '.a = 1' a.yaml`,
          `${command} --inplace '.a = 1' a.yaml`,
          `${command} '.a = load("/x")' a.yaml`,
          `${command} '.a | env' a.yaml`,
          `${command} '.a' /x`,
          `${command} --split-exp '.a' a.yaml`,
          `${command} --from-file evil a.yaml`,
          `${command} .env a.yaml`,
        ],
      },
    ),
  ),
  lists('addr2line', '-e=<file> -f -C -i -p -a', {
    operands: /^(0x)?[0-9a-fA-F]+$/,
    readsArguments: true,
    yes: ['addr2line -e build/a -fCi 0x1234'],
    no: ['addr2line -e /x 1', 'addr2line @evil', 'addr2line -e build/a -b plugin 1'],
  }),
];
