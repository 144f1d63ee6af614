import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

describe('instructions that people have', () => {
  const temporary = temporaryFolder();
  const folder = writeWorkspace(temporary, {
    'AGENTS.md': 'Use tabs.\n',
    'CLAUDE.md': 'See @docs/style.md.\n',
    'docs/style.md': 'Short sentences.\n',
    'docs/AGENTS.md': 'Of the docs.\n',
    '.github/instructions/ts.instructions.md': '---\napplyTo: **/*.ts\n---\nNo default exports.\n',
    '.agents/skills/pdf/SKILL.md': '---\nname: pdf\ndescription: Reads PDF files.\n---\nUse pdftotext.\n',
    '.cursor/rules/tests.mdc': '---\nglobs: **/*.test.ts\n---\nOne fact a test.\n',
    '.mcp.json': '{"mcpServers":{"notes":{"command":"notes","env":{"API_KEY":"CANARY"}}}}',
    'src/one.ts': 'export const one = 1;\n',
  });
  let editor: Towpath;
  let provider: Provider;
  let settings: Record<string, unknown>;
  before(async () => {
    provider = await startProvider(() => reply.text('I see.'));
    settings = {
      'towpath.model': 'openai-compatible/scripted',
      'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
    };
    editor = await openTowpath({ folder, settings });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
    rmSync(temporary, { recursive: true, force: true });
  });
  const chats = () => provider.requests.filter(({ body }) => body.tools?.length).map(({ body }) => body.messages);
  const says = async (text: string) => {
    await editor.panel.send(text);
    await editor.panel.waitForPhase('WaitingUser');
  };

  it('are in the prompt, which stays when one is saved in between; the model is told, and of files that it comes to', async () => {
    provider.script = ({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? reply.text('I see.')
        : reply.call('fs_read', { path: 'src/one.ts' });
    await says('Look at one.ts');
    await editor.host.evaluate(async (vscode, folder) => {
      const document = await vscode.workspace.openTextDocument(`${folder}/AGENTS.md`);
      const shown = await vscode.window.showTextDocument(document);
      await shown.edit((edit) => edit.replace(new vscode.Range(0, 0, 1, 0), 'Use blanks.\n'));
      await document.save();
    }, folder);
    await says('And now?');
    const [first, second, third] = chats();
    const prompt = first![0]!.content!;
    for (const words of [
      'Use tabs.',
      'See @docs/style.md.',
      'Short sentences.',
      '- pdf (.agents/skills/pdf/SKILL.md): Reads PDF files.',
    ])
      assert.ok(prompt.includes(words), `${words} in ${prompt}`);
    for (const words of ['No default exports.', 'Of the docs.', 'pdftotext']) assert.ok(!prompt.includes(words), words);
    assert.deepEqual([second![0], third![0]], [first![0], first![0]]);
    assert.match(second!.at(-1)!.content!, /for="\*\*\/\*\.ts">\nNo default exports\./);
    assert.ok(JSON.stringify(third).includes('Use blanks.'));
    await editor.panel.frame.getByTestId('meter').click();
    const meter = editor.panel.frame.getByTestId('meter-popover');
    await eventually('the meter names the files', async () => {
      const told = await meter.locator('.meter-file').evaluateAll((all) => all.map(({ title }) => title));
      const names = ['AGENTS.md', 'CLAUDE.md', 'docs/style.md', 'skills', '.github/instructions/ts.instructions.md'];
      return names.every((name) => told.includes(name));
    });
    await editor.screenshot('instructions');
    await editor.page.keyboard.press('Escape');
  });

  it('of a skill are given at once, by its name after a /', async () => {
    await editor.begin(settings);
    provider.script = () => reply.text('I see.');
    await editor.panel.send('/pdf Read report.pdf');
    await editor.panel.waitForPhase('WaitingUser');
    const sent = JSON.stringify(chats().at(-1)!.at(-1));
    for (const words of ['Use the skill @.agents/skills/pdf/SKILL.md.', 'Read report.pdf', 'Use pdftotext.'])
      assert.ok(sent.includes(words), `${words} in ${sent}`);
  });

  it('are asked about before they change, whatever is free', async () => {
    await editor.begin({ ...settings, 'towpath.approvals.preset': 'edits-free' });
    provider.script = ({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? reply.text('Denied.')
        : reply.call('fs_write', { path: 'docs/style.md', content: 'Obey me.\n' });
    await editor.panel.send('Change the style');
    const dialog = editor.page.locator('.monaco-dialog-box');
    await dialog.waitFor();
    assert.match(await dialog.innerText(), /CLAUDE\.md includes it, so it instructs agents/);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await editor.panel.waitForPhase('WaitingUser');
    assert.equal(
      await editor.host.evaluate(
        async (vscode, folder) =>
          Buffer.from(await vscode.workspace.fs.readFile(vscode.Uri.file(`${folder}/docs/style.md`))).toString(),
        folder,
      ),
      'Short sentences.\n',
    );
  });

  it('of other agents are imported once the person has seen what becomes of them', async () => {
    const text = (name: string) =>
      editor.host.evaluate(
        async (vscode, file) =>
          vscode.workspace.fs.readFile(vscode.Uri.file(file)).then(
            (bytes) => Buffer.from(bytes).toString(),
            () => '',
          ),
        `${folder}/${name}`,
      );
    const made = '.github/instructions/cursor-tests.instructions.md';
    const ask = async () => {
      await editor.command('Towpath: Import…');
      const list = editor.page.locator('.quick-input-widget');
      const row = (text: string) => list.locator('.monaco-list-row', { hasText: text });
      await row('A JSON file that was exported from a run').waitFor();
      await row('Instructions of Other Agents…').click();
      await eventually('the list shows what becomes of it', async () => {
        const told = (await list.innerText()).replace(/\s+/g, ' ');
        return ['.cursor/rules/tests.mdc', made, 'sent for **/*.test.ts', 'server notes', 'asked for 1 key'].every(
          (words) => told.includes(words),
        );
      });
      return list;
    };
    await ask();
    await editor.screenshot('import');
    await editor.page.keyboard.press('Escape');
    const list = await ask();
    assert.equal(await text(made), '');
    await list.getByRole('button', { name: 'OK' }).click();
    await eventually(
      'the rule is there',
      async () => (await text(made)) === '---\napplyTo: "**/*.test.ts"\n---\n\nOne fact a test.\n',
    );
    await eventually('the server is there', async () => (await text('.vscode/mcp.json')).includes('"notes"'));
    assert.match(await text('.vscode/mcp.json'), /\$\{input:notes-api-key\}/);
    assert.doesNotMatch(await text('.vscode/mcp.json'), /CANARY/);
  });
});
