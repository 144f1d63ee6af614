import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { eventually } from '../support/eventually.ts';

/** A workflow file in the open folder; `|` is where the person types. */
describe('a workflow file in the editor', () => {
  const folder = () => vscode.workspace.workspaceFolders![0]!.uri;
  let count = 0;
  const uri = () => vscode.Uri.joinPath(folder(), `.towpath/workflows/written-${count}.yaml`);
  before(() => vscode.extensions.getExtension('towpath.towpath')!.activate());
  afterEach(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.workspace.fs.delete(vscode.Uri.joinPath(folder(), '.towpath'), { recursive: true });
  });

  async function open(marked: string): Promise<vscode.Position> {
    count++;
    await vscode.workspace.fs.writeFile(uri(), new TextEncoder().encode(marked.replace('|', '')));
    const document = await vscode.workspace.openTextDocument(uri());
    await vscode.window.showTextDocument(document);
    return document.positionAt(Math.max(0, marked.indexOf('|')));
  }

  it('is completed with keys, actions and the names of its nodes, each once', async () => {
    const offered = async (marked: string) => {
      const at = await open(marked);
      const list = await vscode.commands.executeCommand<vscode.CompletionList>(
        'vscode.executeCompletionItemProvider',
        uri(),
        at,
      );
      return list.items
        .filter(({ kind }) => kind !== vscode.CompletionItemKind.Text)
        .map(({ label }) => (typeof label === 'string' ? label : label.label));
    };
    const keys = await offered('nodes:\n  - name: a\n    g|\n');
    assert.deepEqual(
      keys.filter((label) => label === 'goto'),
      ['goto'],
    );
    assert.ok((await offered('nodes:\n  - name: a\n    uses: fs.|\n')).includes('fs.read'));
    assert.deepEqual(await offered('nodes:\n  - name: a\n    goto: |\n'), ['__end__', 'a']);
  });

  it('is explained where the pointer rests', async () => {
    const at = await open('nodes:\n  - name: a\n    go|to: __end__\n');
    const [hover] = await vscode.commands.executeCommand<vscode.Hover[]>('vscode.executeHoverProvider', uri(), at);
    const [content] = hover!.contents as vscode.MarkdownString[];
    assert.match(content!.value, /^Next node/);
  });

  it('shows every mistake and every doubt at its place', async () => {
    await open(
      'version: 1\nconfig: {checkpoint_dir: x}\nnodes:\n  - {name: a, run: "return {}"}\n  - {name: b, uses: fs.raed}\n',
    );
    const seen = () =>
      vscode.languages
        .getDiagnostics(uri())
        .filter(({ source }) => source === 'Towpath')
        .map(({ range, severity }) => `${range.start.line + 1}:${range.start.character + 1} ${severity}`)
        .sort();
    const [wrong, doubtful] = [vscode.DiagnosticSeverity.Error, vscode.DiagnosticSeverity.Warning];
    const expected = [`2:10 ${doubtful}`, `4:15 ${wrong}`, `5:21 ${wrong}`];
    await eventually('the mistakes are shown', () => seen().length === expected.length);
    assert.deepEqual(seen(), expected);
  });

  it('shows the mistakes of a file that nobody saw come', async () => {
    const files = vscode.workspace.getConfiguration('files');
    await files.update('watcherExclude', { '**/.towpath/**': true }, vscode.ConfigurationTarget.Global);
    try {
      await open('nodes:\n  - {name: a, uses: fs.raed}\n');
      await eventually('the mistake is shown', () => vscode.languages.getDiagnostics(uri()).length === 1);
    } finally {
      await files.update('watcherExclude', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  it('has Run above it, for the file that it is', async () => {
    const lensOf = async (file: vscode.Uri) => {
      const all = await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', file);
      return all.map(({ command }) => [command?.title, command?.command, command?.arguments]);
    };
    await open('nodes:\n  - {name: a}\n');
    const id = vscode.workspace.asRelativePath(uri());
    assert.deepEqual(await lensOf(uri()), [['$(play) Run Workflow', 'towpath.runWorkflow', [id]]]);
    const agent = vscode.Uri.joinPath(folder(), '.towpath/agents/planner.yaml');
    await vscode.workspace.fs.writeFile(agent, new TextEncoder().encode('instructions: You plan.\n'));
    await vscode.window.showTextDocument(agent);
    assert.deepEqual(await lensOf(agent), [
      ['$(play) Run Agent', 'towpath.runAgent', ['.towpath/agents/planner.yaml']],
    ]);
  });

  it('misses an agent until it is there', async () => {
    const said = () => vscode.languages.getDiagnostics(uri()).map(({ message }) => message);
    const missed = 'There is no agent `planner` in `.towpath/agents`.';
    const agent = vscode.Uri.joinPath(folder(), '.towpath/agents/planner.yaml');
    await open('nodes:\n  - {name: a, agent: planner}\n');
    await eventually('it is missed', () => said().includes(missed));
    await vscode.workspace.fs.writeFile(agent, new TextEncoder().encode('instructions: You plan.\n'));
    await vscode.window.showTextDocument(agent);
    await eventually('it is there', () => said().length === 0);
  });
});
