import { readFileSync } from 'node:fs';
import path from 'node:path';
import { cell } from './workflowTables.ts';

interface Setting {
  default: unknown;
  scope: string;
  markdownDescription?: string;
  description?: string;
  markdownDeprecationMessage?: string;
}

interface Contributes {
  commands: { command: string; title: string }[];
  menus: { commandPalette: { command: string; when: string }[] };
  configuration: { properties: Record<string, Setting> };
}

const manifest = JSON.parse(readFileSync(path.resolve(import.meta.dirname, '../../../package.json'), 'utf8'));
const { commands, menus, configuration } = manifest.contributes as Contributes;

/** The tables of the page of settings and commands. */
export const manifestTables: Record<string, () => string> = {
  settings_table: () =>
    [
      '| setting | at first | what it is |',
      '|---|---|---|',
      ...Object.entries(configuration.properties)
        .filter(([, { markdownDeprecationMessage }]) => !markdownDeprecationMessage)
        .map(([name, setting]) => `| \`${name}\` | ${shown(setting.default)} | ${cell(wordsOf(setting))} |`),
    ].join('\n'),
  commands: () => {
    const hidden = menus.commandPalette.filter(({ when }) => when === 'false').map(({ command }) => command);
    return `${commands
      .filter(({ command }) => !hidden.includes(command))
      .map(({ title }) => `*${title}*`)
      .join(', ')}.`;
  },
};

const shown = (value: unknown): string =>
  value === '' || (typeof value === 'object' && Object.keys(value ?? {}).length === 0)
    ? ''
    : `\`${JSON.stringify(value)}\``;

const wordsOf = ({ markdownDescription, description = '', scope }: Setting): string =>
  `${(markdownDescription ?? description).replaceAll(/`#([\w.]+)#`/g, '`$1`')}${scope === 'machine' ? ' (of the machine)' : ''}`;
