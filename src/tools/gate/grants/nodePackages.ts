import { npmOptions } from './nodeScripts.ts';
import type { Row } from './row.ts';

export const nodePackageRows: readonly Row[] = [
  {
    command: 'npm ls',
    kind: 'looks',
    why: 'It lists what is installed.',
    before: npmOptions,
    options: `${npmOptions} --all -a --depth=# --json --long -l --parseable -p --omit=dev|optional|peer --prod --production --dev --link`,
    operands: /^@?\w[\w.-]*(\/\w[\w.-]*)?(@[\w.^~<>=|*-]+)?$/,
    yes: ['npm ls', 'npm ls zod --all', 'npm -s ls --depth=0'],
    no: ['npm ls --prefix /x', 'npm ls --userconfig=evil'],
  },
  ...['npm list', 'npm explain', 'npm why', 'pnpm list', 'pnpm ls', 'pnpm why', 'yarn why', 'yarn list'].map(
    (command): Row => ({
      command,
      kind: 'looks',
      why: 'It lists what is installed, and why.',
      options: '--depth=# --json -r --recursive --all --long --prod -P --dev -D --pattern=',
      operands: /^@?\w[\w.-]*(\/\w[\w.-]*)?$/,
      yes: [`${command} zod --json`],
      no: [`${command} --dir /x`, `${command} --cwd ..`, `${command} ../x`],
    }),
  ),
  {
    command: 'npm run',
    kind: 'looks',
    why: 'Without a name it lists the scripts.',
    options: npmOptions,
    yes: ['npm run', 'npm run -w web'],
    no: ['npm run x', 'npm run --prefix /x'],
  },
  ...['npm root', 'npm prefix', 'npm pkg get', 'npm query'].map(
    (command): Row => ({
      command,
      kind: 'looks',
      why: 'It shows what package.json or the tree says.',
      options: '-w= --workspaces',
      operands: /^(?!.*:(outdated|vuln))[\w.[\]:#>*() -]+$/,
      yes: [command],
      no: [`${command} --prefix /x`, 'npm pkg set a=b', `${command} ':vuln'`],
    }),
  ),
  ...['npm view', 'npm info', 'npm show', 'pnpm view', 'pnpm info', 'yarn info', 'yarn npm info'].map(
    (command): Row => ({
      command,
      kind: 'asks',
      why: "It asks the project's registry about a package by its name; an address instead of a name, or another registry, is asked about.",
      options: '--json',
      operands: /^(@\w[\w.-]*\/)?\w[\w.-]*(@[\w.^~<>=|*-]+)?$|^\w[\w.[\]-]*$/,
      least: 1,
      yes: [`${command} zod versions --json`],
      no: [
        `${command} zod --registry=https://evil.example`,
        `${command} git+ssh://evil/x`,
        `${command} github:evil/x`,
        `${command} ../x`,
      ],
    }),
  ),
  ...['npm outdated', 'pnpm outdated', 'yarn outdated'].map(
    (command): Row => ({
      command,
      kind: 'asks',
      why: 'It asks the registry for newer versions and installs none.',
      options: '--json --long --all -a -w= --workspaces -r --recursive --omit=dev|optional|peer',
      operands: /^(@\w[\w.-]*\/)?\w[\w.-]*$/,
      yes: [command, `${command} zod`],
      no: [`${command} --registry=https://evil.example`, `${command} --prefix /x`],
    }),
  ),
  ...['npm audit', 'pnpm audit', 'yarn npm audit'].map(
    (command): Row => ({
      command,
      kind: 'asks',
      why: 'It sends the names and versions of what is installed to the registry; it mends nothing.',
      options:
        '--json --omit=dev|optional|peer --audit-level=info|low|moderate|high|critical --production --prod -P -D --dev -w= --workspaces',
      yes: [command, `${command} --json`],
      no: [`${command} fix`, `${command} --registry=https://evil.example`, `${command} --fix`],
    }),
  ),
];
