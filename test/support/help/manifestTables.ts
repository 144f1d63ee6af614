import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type ManifestSection, type ManifestSetting, manifestSections } from '../manifestSettings.ts';
import { cell } from './workflowTables.ts';

interface Contributes {
  commands: { command: string; title: string }[];
  menus: { commandPalette: { command: string; when: string }[] };
}

const manifest = JSON.parse(readFileSync(path.resolve(import.meta.dirname, '../../../package.json'), 'utf8'));
const { commands, menus } = manifest.contributes as Contributes;

/** The tables of the page of settings and commands. */
export const manifestTables: Record<string, () => string> = {
  settings_table: () => manifestSections.map(sectionTable).filter(Boolean).join('\n\n'),
  commands: () => {
    const hidden = menus.commandPalette.filter(({ when }) => when === 'false').map(({ command }) => command);
    return `${commands
      .filter(({ command }) => !hidden.includes(command))
      .map(({ title }) => `*${title}*`)
      .join(', ')}.`;
  },
};

function sectionTable({ title, properties }: ManifestSection): string {
  const rows = Object.entries(properties)
    .filter(([, { markdownDeprecationMessage }]) => !markdownDeprecationMessage)
    .map(([name, setting]) => `| \`${name}\` | ${shown(setting.default)} | ${cell(wordsOf(setting))} |`);
  return rows.length === 0
    ? ''
    : [`### ${title}`, '', '| setting | at first | what it is |', '|---|---|---|', ...rows].join('\n');
}

const shown = (value: unknown): string =>
  value === '' || (typeof value === 'object' && Object.keys(value ?? {}).length === 0)
    ? ''
    : `\`${JSON.stringify(value)}\``;

const wordsOf = ({ markdownDescription, description = '', scope }: ManifestSetting): string =>
  `${(markdownDescription ?? description).replaceAll(/`#([\w.]+)#`/g, '`$1`')}${scope === 'machine' ? ' (of the machine)' : ''}`;
