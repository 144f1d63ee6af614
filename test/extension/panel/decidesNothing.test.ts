import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { intents } from '../../../src/protocol/panel/intents.ts';

const extension = path.resolve(import.meta.dirname, '../../../src/extension');
const sources = ['panel', 'view'].flatMap((folder) =>
  readdirSync(path.join(extension, folder)).map((name) => readFileSync(path.join(extension, folder, name), 'utf8')),
);

// Holds panel-decides-nothing.
describe('A message of the panel', () => {
  it('starts no command that allows a call', () => {
    const commands = intents.flatMap((row) => ('panel' in row || 'slash' in row ? row.id : []));
    assert.ok(commands.length > 20, `${commands.length} commands`);
    assert.deepEqual(
      commands.filter((command) => /allow|review|approve|always/i.test(command)),
      [],
    );
  });

  it('reaches approvals only to find them, to show their dialog and to deny', () => {
    const used = sources.flatMap((text) => [...text.matchAll(/\bapprovals\??\.(\w+)\(/g)].map(([, member]) => member!));
    assert.deepEqual([...new Set(used)].sort(), ['deny', 'has', 'show']);
    assert.deepEqual(
      sources.flatMap((text) => text.match(/decision: 'allow'|\banswerReviews?\b/g) ?? []),
      [],
    );
  });
});
