import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { toWireToolName } from '../../src/llm/core/wireToolNames.ts';
import { quickPickOf } from '../support/editor/quickPick.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

describe('approvals of commands', () => {
  let provider: Provider;
  let editor: Towpath;

  before(async () => {
    provider = await startProvider([]);
    editor = await openTowpath({
      files: {
        'a.txt': 'one\n',
        'package.json': '{ "devDependencies": { "eslint": "1" } }',
        'node_modules/.bin/eslint': '#!/bin/sh\necho linted\n',
      },
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
        'towpath.approvals.rules': [{ effect: 'allow', tool: 'shell.run', kind: 'looks' }],
      },
    });
    const git = (...args: string[]) => execFileSync('git', args, { cwd: editor.folder, stdio: 'ignore' });
    git('init');
    git('add', 'a.txt');
    git('-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false', 'commit', '-m', 'one');
    chmodSync(path.join(editor.folder, 'node_modules/.bin/eslint'), 0o755);
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
  });

  const runs = async (command: string) => {
    await editor.host.evaluate(async (vscode) => {
      await vscode.commands.executeCommand('towpath.newRun');
    });
    let asked = false;
    provider.script = () => {
      if (asked) return reply.text('Done.');
      asked = true;
      return reply.late(0).call(toWireToolName('shell.run'), { command });
    };
    await editor.panel.send('Go.');
  };
  const done = () => editor.panel.waitForPhase('WaitingUser');
  const list = () => quickPickOf(editor.page);

  it('a rule that covers fewer commands than before is told once, and the list says which', async () => {
    const words = 'cover fewer commands than before';
    const notice = await editor.told(words);
    await notice.getByRole('button', { name: 'Open Approvals' }).click();
    await list().rows.filter({ hasText: 'No longer covers commands that run this project’s code' }).waitFor();
    await editor.page.keyboard.press('Escape');
    await editor.reload();
    await editor.panel.ready();
    await runs('ls'); // by now everything has started that starts with the window
    await done();
    const again = [editor.panel.frame.getByTestId('notice'), editor.page.locator('.notification-toast')];
    for (const place of again) assert.equal(await place.filter({ hasText: words }).count(), 0);
  });

  it('a command can be copied from its review', async () => {
    await runs('git switch -c other');
    await editor.dialog.click('Review…');
    await editor.page.locator('.editor-actions [aria-label^="Copy Command"]').click();
    await eventually('it is copied', async () => {
      const text = await editor.host.evaluate(async (vscode) => vscode.env.clipboard.readText());
      return text === 'git switch -c other';
    });
    await editor.host.evaluate(async (vscode) => void (await vscode.commands.executeCommand('towpath.review.deny')));
    await done();
  });

  it('a command that discards something says so, and no rule is offered for it', async () => {
    writeFileSync(path.join(editor.folder, 'a.txt'), 'hours of work\n');
    await runs('git checkout -- a.txt');
    const text = await editor.dialog.text();
    assert.match(text, /\nDiscards uncommitted changes in 1 file: a\.txt\. Undo restores them\.\n/);
    assert.deepEqual((await editor.dialog.buttons()).sort(), ['Allow', 'Cancel', 'Review…']);
    await editor.screenshot('approval-discards');
    await editor.dialog.click('Cancel');
    await done();
    assert.equal(editor.read('a.txt'), 'hours of work\n');
    await runs('git checkout -- a.txt');
    await editor.dialog.click('Allow');
    await done();
    await eventually('the file is as it was', () => editor.read('a.txt') === 'one\n');
  });

  it('a rule for a tool of the project says what it is run through', async () => {
    await runs('npx eslint a.txt');
    assert.match(await editor.dialog.text(), /\nIt runs this project’s code\.$/m);
    await editor.dialog.click('Always Allow…');
    await eventually('the rules are offered', async () => (await list().rows.count()) > 2);
    const offered = await list().rows.allInnerTexts();
    await editor.screenshot('always-allow-launcher');
    const row = offered.find((one) => /npx/.test(one) && !/^\s*Exactly/.test(one));
    assert.ok(row, offered.join(' | '));
    await list().pick(row.split('\n')[0]!);
    await done();
    await runs('npx eslint package.json');
    await done();
    await runs('eslint a.txt');
    assert.match(await editor.dialog.text(), /^Run this command\?\neslint a\.txt/, 'that is another program');
    await editor.dialog.click('Cancel');
    await done();
  });
});
