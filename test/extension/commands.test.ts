import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

describe('The commands', () => {
  // The first program registers what package.json offers, before anybody knows whether it can be run.
  it('that are offered are those that can be run', () => {
    const { commands } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).contributes;
    const help = readFileSync(path.join(root, 'src/extension/help/help.ts'), 'utf8');
    const constants = new Map(
      [...help.matchAll(/const (\w+) = '(towpath\.\w+)'/g)].map(([, name, value]) => [name, value]),
    );
    const source = readFileSync(path.join(root, 'src/extension/commands.ts'), 'utf8');
    const names = [...source.matchAll(/^ {4}(?:'(towpath\.[\w.]+)'|\[(\w+)\]):/gm)];
    const run = names.map(([, name, constant]) => name ?? constants.get(constant!));
    const offered = commands.map(({ command }: { command: string }) => command);
    assert.ok(offered.length > 0);
    assert.deepEqual(run.sort(), offered.sort());
  });
});
