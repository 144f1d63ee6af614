import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type ManifestSection, type ManifestSetting, manifestSections } from '../manifestSettings.ts';
import { cell, wrapped } from './workflowTables.ts';

interface Contributes {
  commands: { command: string; title: string }[];
  keybindings: { command: string; key: string; mac?: string }[];
  menus: { commandPalette: { command: string; when: string }[] };
}

const manifestFile = path.resolve(import.meta.dirname, '../../../package.json');
/** Read anew: `npm run page` writes the commands first. */
const contributes = (): Contributes => JSON.parse(readFileSync(manifestFile, 'utf8')).contributes;

/** The tables of the page of settings and commands. */
export const manifestTables: Record<string, () => string> = {
  settings_table: () => manifestSections.map(sectionTable).filter(Boolean).join('\n\n'),
  keys: () => {
    const { commands, keybindings } = contributes();
    const rows = keybindings.map(({ command, key, mac = key }) => {
      const { title } = commands.find((one) => one.command === command)!;
      return `| *${title}* | ${pressed(key)} | ${pressed(mac)} |`;
    });
    return ['| command | Windows, Linux | macOS |', '|---|---|---|', ...rows].join('\n');
  },
  commands: () => {
    const { commands, menus } = contributes();
    const hidden = menus.commandPalette.filter(({ when }) => when === 'false').map(({ command }) => command);
    const titles = commands.filter(({ command }) => !hidden.includes(command)).map(({ title }) => `*${title}*`);
    return wrapped(`${[...new Set(titles)].join(', ')}.`);
  },
};

function sectionTable({ title, properties }: ManifestSection): string {
  const rows = Object.entries(properties).map(
    ([name, setting]) => `| \`${name}\` | ${shown(setting.default)} | ${cell(wordsOf(setting))} |`,
  );
  return [`### ${title}`, '', '| setting | default | description |', '|---|---|---|', ...rows].join('\n');
}

/** `ctrl+shift+'` as it stands on keys. */
const pressed = (key: string): string =>
  key
    .split('+')
    .map((one) => `${one[0]!.toUpperCase()}${one.slice(1)}`)
    .join('+');

const shown = (value: unknown): string =>
  value === '' || (typeof value === 'object' && Object.keys(value ?? {}).length === 0)
    ? ''
    : `\`${JSON.stringify(value)}\``;

const wordsOf = ({ markdownDescription, description = '', scope }: ManifestSetting): string =>
  `${(markdownDescription ?? description).replaceAll(/`#([\w.]+)#`/g, '`$1`')}${scope === 'machine' ? ' (machine setting)' : ''}`;
