import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

interface Contributes {
  commands: { command: string }[];
  menus: { commandPalette: { command: string; when: string }[] };
}
const manifest: { contributes: Contributes } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

describe('The commands', () => {
  // The first program registers what package.json offers, before anybody knows whether it can be run.
  it('that are offered are those that can be run', () => {
    const { commands } = manifest.contributes;
    const help = readFileSync(path.join(root, 'src/extension/help/help.ts'), 'utf8');
    const constants = new Map(
      [...help.matchAll(/const (\w+) = '(towpath\.\w+)'/g)].map(([, name, value]) => [name, value]),
    );
    const source = readFileSync(path.join(root, 'src/extension/commands.ts'), 'utf8');
    const names = [...source.matchAll(/^ {4}(?:'(towpath\.[\w.]+)'|\[(\w+)\]):/gm)];
    const run = names.map(([, name, constant]) => name ?? constants.get(constant!));
    const offered = commands.map(({ command }) => command);
    assert.ok(offered.length > 0);
    assert.deepEqual(run.sort(), offered.sort());
  });

  it('of the Command Palette are few enough to be read: the others are rows of a picker, or in a menu', () => {
    const { commands, menus } = manifest.contributes;
    const hidden = menus.commandPalette.filter(({ when }) => when === 'false').map(({ command }) => command);
    assert.ok(hidden.length > 0);
    const shown = commands.length - new Set(hidden).size;
    assert.ok(shown <= 79, `${shown} commands`);
  });
});
