import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { builtInSlashCommands } from '../../../src/extension/mentions/slashCommandRows.ts';
import { type Intent, intents, panelActions } from '../../../src/protocol/panel/intents.ts';
import { viewMessageSchema } from '../../../src/protocol/panel/panelMessages.ts';
import { commandContributions, paletteContributions, withCommands } from '../../support/help/commandContributions.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const table = path.join(root, 'src/protocol/panel/intents.ts');
const functions = path.join(root, 'src/extension/commands.ts');

const rows: readonly Intent[] = intents;

describe('The table of intents', () => {
  it('names each command, action and slash command once', () => {
    for (const names of [
      rows.map(({ id }) => id),
      rows.flatMap(({ panel }) => panel ?? []),
      rows.flatMap(({ slash }) => slash?.name ?? []),
    ])
      assert.deepEqual([...new Set(names)], names);
  });

  it('is what package.json contributes', () => {
    const manifest = readFileSync(path.join(root, 'package.json'), 'utf8');
    assert.equal(manifest, withCommands(manifest, intents), 'npm run page');
  });

  it('is what the list after / and the buttons of the panel know', () => {
    assert.deepEqual(
      builtInSlashCommands.map(({ name }) => name),
      rows.flatMap(({ slash }) => slash?.name ?? []),
    );
    for (const { slash, panel } of rows) {
      if (slash) viewMessageSchema.parse({ type: 'slash', act: slash.name });
      if (panel) viewMessageSchema.parse({ type: 'action', action: panel });
    }
    assert.throws(() => viewMessageSchema.parse({ type: 'action', action: 'towpath.approvals' }));
    assert.ok(panelActions.length > 20);
  });

  it('gets a row and a function for a new intent, and no other file changes', function () {
    this.timeout(120_000);
    const row =
      "{ id: 'towpath.wave', title: 'Wave', when: false, slash: { name: 'wave', description: 'Pause' }, panel: 'wave' },";
    const withRow = { [table]: readFileSync(table, 'utf8').replace('export const intents = [', `$&\n  ${row}`) };
    const withFunction = {
      [functions]: readFileSync(functions, 'utf8').replace(
        "'towpath.run': ",
        "'towpath.wave': () => view.focus(),\n$&",
      ),
    };

    assert.deepEqual(typeErrors(withRow), ['src/extension/commands.ts: Property \'"towpath.wave"\' is missing']);
    assert.deepEqual(typeErrors({ ...withRow, ...withFunction }), []);

    const wave: Intent = { id: 'towpath.wave', title: 'Wave', when: false };
    assert.deepEqual(commandContributions([wave]), [{ command: 'towpath.wave', title: 'Wave', category: 'Towpath' }]);
    assert.deepEqual(paletteContributions([wave]), [{ command: 'towpath.wave', when: 'false' }]);
  });
});

/** Type errors of the files that use the table, with some texts in place of those on disk. */
function typeErrors(texts: Record<string, string>): string[] {
  const { config } = ts.readConfigFile(path.join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const host = ts.createCompilerHost(options);
  const { readFile } = host;
  host.readFile = (name) => texts[path.resolve(name)] ?? readFile(name);
  const users = fileNames.filter(
    (name) =>
      name.startsWith(path.join(root, 'src')) &&
      /\/panel\/(intents|panelMessages)\.ts'/.test(readFileSync(name, 'utf8')),
  );
  const program = ts.createProgram(users, options, host);
  return users.flatMap((name) =>
    program.getSemanticDiagnostics(program.getSourceFile(name)).map(({ file, messageText }) => {
      const [text] = /^.*?(?= in type | but required|$)/.exec(ts.flattenDiagnosticMessageText(messageText, '\n')) ?? [];
      return `${path.relative(root, file!.fileName)}: ${text}`;
    }),
  );
}
