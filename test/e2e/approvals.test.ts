import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { toWireToolName } from '../../src/llm/core/wireToolNames.ts';
import { quickPickOf } from '../support/editor/quickPick.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

type Call = [tool: string, args: object];
const write = (file: string): Call => ['fs.write', { path: file, content: 'text\n' }];
const run = (command: string): Call => ['shell.run', { command }];

describe('approvals', () => {
  let provider: Provider;
  let editor: Towpath;

  const settings = () => ({
    'towpath.model': 'openai-compatible/scripted',
    'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
  });

  before(async () => {
    provider = await startProvider([]);
    const script = (text: string) => `{ "scripts": { "test": "echo ${text}" } }`;
    editor = await openTowpath({
      files: {
        'a.txt': 'one\n',
        'src/b.txt': 'b\n',
        'package.json': script('tested'),
        'sub/package.json': script('of somebody else'),
      },
      settings: settings(),
    });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
  });
  const begin = () =>
    editor.host.evaluate(async (vscode) => {
      await vscode.commands.executeCommand('towpath.newRun');
    });
  beforeEach(begin);

  /** The model asks for these calls in one answer, and is content with whatever comes of them. */
  const asks = async (...calls: Call[]) => {
    let asked = false;
    provider.script = () => {
      if (asked) return reply.text('Done.');
      asked = true;
      return calls.reduce((answer, [tool, args]) => answer.call(toWireToolName(tool), args), reply.late(0));
    };
    await editor.panel.send('Go.');
  };
  const done = () => editor.panel.waitForPhase('WaitingUser');
  const set = (name: string, value: unknown) =>
    editor.host.evaluate(
      async (vscode, [name, value]) => {
        await vscode.workspace
          .getConfiguration()
          .update(name as string, value ?? undefined, vscode.ConfigurationTarget.Global);
      },
      [name, value] as const,
    );
  const list = () => quickPickOf(editor.page);
  const rows = () => list().rows;
  const enter = () => list().enter();
  const pick = (text: string) => list().pick(text);
  const choose = async (text: string) => {
    await editor.command('Towpath: Approvals…');
    await pick(text);
  };
  /** Why nobody was asked, of each card of a tool. */
  const whys = async (tool: string) => {
    const titles = await editor.panel
      .cards(tool)
      .locator('.card-toggle')
      .evaluateAll((all) => all.map((one) => one.getAttribute('title') ?? ''));
    return titles.map((title) => (title.split('\n')[1] ?? '').replace(/\.$/, ''));
  };
  const words = async (tool: string) => (await whys(tool)).at(-1)!;
  const chip = () => editor.panel.frame.getByTestId('preset');
  const says = (text: string) =>
    eventually(`the panel says ${text}`, async () =>
      (await chip().getAttribute('title'))!.startsWith(`${text}. Click`),
    );
  const badge = (text = 'Autopilot') => editor.page.locator('.statusbar-item', { hasText: text });

  it('edits are free: an edit runs unasked and its card says why, a command is asked about', async () => {
    await says('Auto-approve reads');
    await choose('Auto-approve edits');
    await says('Auto-approve edits');
    await badge('Auto-approve edits').waitFor();
    await asks(write('free.txt'), run('touch asked.txt'));
    assert.match(await editor.dialog.text(), /^Run this command\?\ntouch asked\.txt/);
    assert.equal(editor.read('free.txt'), 'text\n');
    await editor.dialog.click('Cancel');
    await done();
    assert.match(await words('fs.write'), /^Auto-approved: edits/);
    assert.equal(editor.read('asked.txt'), undefined);
    await choose('Auto-approve reads');
    await says('Auto-approve reads');
    await badge('Auto-approve edits').waitFor({ state: 'hidden' });
  });

  it('for this run only: an edit runs unasked in that run, a new run and a reload ask again', async () => {
    await chip().click();
    await enter(); // what Enter does changes nothing
    await says('Auto-approve reads');
    await editor.panel.hasTheKeys();
    await chip().click();
    await editor.screenshot('run-preset-picker');
    await pick('Auto-approve edits');
    await says('Auto-approve edits · this run only');
    await editor.panel.hasTheKeys();
    await badge('Auto-approve edits').waitFor();
    await editor.screenshot('run-preset');
    await asks(write('in-run.txt'));
    await eventually('it is written unasked', () => editor.read('in-run.txt') === 'text\n');
    await done();
    assert.match(await words('fs.write'), /^Auto-approved: edits/);

    await begin();
    await says('Auto-approve reads');
    await badge('Auto-approve edits').waitFor({ state: 'hidden' });
    await asks(write('asked.txt'));
    assert.match(await editor.dialog.text(), /^Create asked\.txt/);
    await editor.dialog.click('Cancel');
    await done();

    await editor.panel.frame.getByTestId('history').click();
    await editor.panel.frame.locator('.history-open, [data-testid="open-run"]').nth(1).click();
    await says('Auto-approve edits · this run only');
    await editor.reload();
    await editor.panel.ready();
    await says('Auto-approve reads');
    await asks(write('after.txt'));
    assert.match(await editor.dialog.text(), /^Create after\.txt/);
    await editor.dialog.click('Cancel');
    await done();
  });

  it('what asks for more in one run stays after a reload, and autopilot in one run is agreed to', async () => {
    await editor.command('Towpath: Approvals…');
    await pick('For This Run…');
    await editor.page.locator('.quick-input-title', { hasText: 'approvals for “New run”' }).waitFor();
    await pick('Ask for everything');
    await says('Ask for everything · this run only');
    await asks(['fs.read', { path: 'a.txt' }]);
    await editor.dialog.click('Cancel');
    await done();
    await editor.reload();
    await editor.panel.ready();
    await says('Ask for everything · this run only');

    await chip().click();
    await pick('Autopilot');
    assert.match(await editor.dialog.text(), /^Turn on Autopilot in the run “Go\.”\?\n.*It ends with this run/s);
    await editor.dialog.escape();
    await says('Ask for everything · this run only');
    await chip().click();
    await pick('Autopilot');
    assert.equal(await editor.dialog.focused(), 'Keep Asking');
    await editor.dialog.click('Turn On Autopilot');
    await says('Autopilot · this run only: runs without approval');
    await asks(run('touch by-run.txt'));
    await eventually('it runs unasked', () => editor.read('by-run.txt') === '');
    await done();
    await begin();
    await says('Auto-approve reads');
    await badge().waitFor({ state: 'hidden' });
    await asks(run('touch other.txt'));
    assert.match(await editor.dialog.text(), /^Run this command\?/);
    await editor.dialog.click('Cancel');
    await done();
    assert.equal(editor.read('other.txt'), undefined);
  });

  it('a run at work that goes further than the shown one stays in sight, and is led back from there', async () => {
    await chip().click();
    await pick('Autopilot');
    await editor.dialog.click('Turn On Autopilot');
    await says('Autopilot · this run only: runs without approval');
    let letGo = () => {};
    const seen = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    try {
      provider.script = () => reply.text('Done.').after(seen);
      await editor.panel.send('Go slowly.');
      await editor.panel.waitForPhase('Running');
      await begin();
      await says('Auto-approve reads');
      await badge().click();
      await editor.page.locator('.quick-input-title', { hasText: 'approvals for “Go slowly.”' }).waitFor();
      await pick('Auto-approve reads');
      await badge().waitFor({ state: 'hidden' });
    } finally {
      letGo();
    }
  });

  it('ask for everything: a read is asked about, too', async () => {
    await set('towpath.approvals.preset', 'ask-everything');
    await says('Ask for everything');
    await asks(['fs.read', { path: 'a.txt' }]);
    const question = await editor.dialog.text();
    assert.match(question, /^Read a\.txt\n/);
    assert.ok(!question.includes(editor.folder), 'the title says it');
    await editor.dialog.click('Cancel');
    await done();
    await set('towpath.approvals.preset', undefined);
    await says('Auto-approve reads');
  });

  it('always allow in this workspace: says what it covers, survives a reload, can be deleted', async () => {
    await asks(write('src/x.txt'));
    assert.deepEqual(
      (await editor.dialog.buttons()).sort(),
      ['Review…', 'Allow', 'Allow for This Run', 'Always Allow…', 'Cancel'].sort(),
    );
    assert.equal(await editor.dialog.focused(), 'Review…', 'Enter never allows');
    await editor.dialog.click('Always Allow…');
    await eventually('two ways, all workspaces, and one back', async () => (await rows().count()) === 4);
    await editor.screenshot('always-allow');
    await enter();
    await editor.dialog.click('Always Allow…');
    await pick('fs.write in src/** in this workspace');
    await done();
    assert.equal(editor.read('src/x.txt'), 'text\n');
    await editor.reload();
    await editor.panel.ready();
    await begin();
    await asks(write('src/y.txt'));
    await eventually('it is written unasked', () => editor.read('src/y.txt') === 'text\n');
    await done();
    assert.match(await words('fs.write'), /^Allowed by your rule for this workspace “fs\.write src\/\*\*”/);
    assert.equal(editor.read('.vscode/settings.json'), undefined, 'nothing of it is in the workspace');
    await editor.command('Towpath: Approvals…');
    const rule = rows().filter({ hasText: 'Allow fs.write in src/**' });
    await rule.hover();
    await editor.screenshot('approvals-menu');
    await rule.getByRole('button', { name: 'Delete this rule' }).click();
    await rule.waitFor({ state: 'detached' });
    await editor.page.keyboard.press('Escape');
    await asks(write('src/z.txt'));
    await editor.dialog.click('Cancel');
    await done();
  });

  it('always allow a command: its exact words in its folder, or what the table knows to be harmless', async () => {
    await asks(run('npm test 2>&1 | tail -3'));
    await editor.dialog.click('Always Allow…');
    await eventually('three ways, all workspaces, and one back', async () => (await rows().count()) === 5);
    await editor.screenshot('always-allow-command');
    await pick('Exactly: npm test in the workspace’s root in this workspace');
    await done();
    const card = editor.panel.cards('shell.run').last();
    assert.match(await card.getByTestId('rule-added').innerText(), /^Rule added: npm test ·\s+Remove Rule$/);
    await card.getByTestId('remove-rule').click();
    await eventually('the rule is removed', async () => (await card.getByTestId('rule-added').count()) === 0);
    await begin();
    await asks(run('npm test 2>&1 | tail -3'));
    await editor.dialog.click('Always Allow…');
    await pick('Exactly: npm test in the workspace’s root in this workspace');
    await done();
    await begin();
    await asks(run('CI=1 npm test > /dev/null; echo "$?"'), ['shell.run', { command: 'npm test', cwd: 'sub' }]);
    assert.match(await editor.dialog.text(), /^Run this command\?\nnpm test\n+In sub\n/);
    await editor.dialog.click('Cancel');
    await done();
    const [first] = await whys('shell.run');
    assert.match(first!, /^Allowed by your rule for this workspace “shell\.run npm test”/);
    await begin();
    await asks(run('npm test -- -t one'));
    await editor.dialog.click('Always Allow…');
    await pick('npm test with other names and harmless options');
    await done();
    await begin();
    await asks(run('npm test -- -t two'), run('npm test --script-shell=./evil.sh'));
    assert.match(await editor.dialog.text(), /^Run this command\?\nnpm test --script-shell/);
    await editor.dialog.click('Cancel');
    await done();
  });

  it('a rule that denies does so without a dialog, and is named', async () => {
    await choose('Add a Rule…');
    await pick('Deny');
    for (const text of ['fs.*', 'src/**']) {
      const box = editor.page.locator('.quick-input-widget input');
      await eventually('the box is empty', async () => (await box.inputValue()) === '');
      await box.fill(text);
      await box.press('Enter');
    }
    await pick('Deny fs.* in src/** in all workspaces');
    await eventually('it is kept', () =>
      editor.host.evaluate(
        (vscode) => vscode.workspace.getConfiguration('towpath').get<unknown[]>('approvals.rules')!.length === 1,
      ),
    );
    await asks(write('src/no.txt'), ['fs.read', { path: 'src/b.txt' }]);
    await done();
    assert.equal(await editor.dialog.isOpen(), false);
    assert.equal(editor.read('src/no.txt'), undefined);
    for (const tool of ['fs.write', 'fs.read'])
      await eventually(`${tool} says why`, async () => (await words(tool)) === 'Denied by your rule “fs.* src/**”');
  });

  it('a rule that cannot be used is named, and fails closed', async () => {
    await set('towpath.approvals.rules', [{ effect: 'deny', tool: 'fs.delete', paht: 'x' }]);
    const told = await editor.told('"paht"');
    assert.match(await told.innerText(), /deny applies to all of fs\.delete/);
    await asks(['fs.delete', { path: 'a.txt' }]);
    await done();
    assert.equal(editor.read('a.txt'), 'one\n');
    await set('towpath.approvals.rules', undefined);
    await editor.page.keyboard.press('Escape');
    await editor.host.evaluate(async (vscode) => {
      await vscode.commands.executeCommand('notifications.clearAll');
    });
  });

  it('a command that only reads runs unasked until that is switched off', async () => {
    await asks(run('for f in a*.txt; do cat "$f" | wc -l; done'), run('touch made.txt'));
    assert.match(await editor.dialog.text(), /“touch” is not a known read-only command\./);
    await editor.dialog.click('Cancel');
    await done();
    const [first] = await whys('shell.run');
    assert.match(first!, /^Auto-approved: read-only command/);
    await choose('Read-only commands');
    await begin();
    await asks(run('cat a.txt'));
    assert.match(await editor.dialog.text(), /^Run this command\?\ncat a\.txt/);
    await editor.dialog.click('Cancel');
    await done();
    await set('towpath.approvals.readOnlyCommands', undefined);
  });

  it('the log that an allowed command made is read unasked in its run, another file beside it is asked about', async () => {
    const [log, other] = ['log', 'txt'].map((kind) => `/tmp/towpath-approvals-${process.pid}.${kind}`) as [
      string,
      string,
    ];
    writeFileSync(other, 'CANARY\n');
    try {
      await asks(run(`cat a.txt > ${log}`));
      assert.ok((await editor.dialog.text()).startsWith(`Run this command?\ncat a.txt > ${log}`));
      await editor.dialog.click('Allow');
      await done();
      await asks(run(`tail -1 ${log}`), run(`cat ${other}`));
      assert.ok((await editor.dialog.text()).startsWith(`Run this command?\ncat ${other}`));
      await editor.dialog.click('Cancel');
      await done();
      const said = await whys('shell.run');
      assert.match(said.at(-2)!, /^Auto-approved: read-only command/);
    } finally {
      for (const file of [log, other]) rmSync(file, { force: true });
    }
  });

  it('where edits are free, what a check runs is asked about, for that one file, and so is a name that another one has but for its case', async () => {
    await choose('Auto-approve edits');
    await asks(write('eslint.config.js'));
    assert.match(await editor.dialog.text(), /^Create eslint\.config\.js.*It is the configuration of a tool/s);
    const buttons = ['Review…', 'Allow', 'Allow for This Run', 'Cancel'];
    assert.deepEqual((await editor.dialog.buttons()).sort(), buttons.sort());
    await editor.screenshot('configuration');
    await editor.dialog.click('Allow for This Run');
    await done();
    const edits = [{ oldText: 'text', newText: 'other' }];
    await asks(['fs.edit', { path: 'eslint.config.js', edits }], run('rm -rf ~/*'), write('A.TXT'));
    assert.match(await editor.dialog.text(), /^Create A\.TXT.*"A\.TXT" differs from the existing "a\.txt"/s);
    await editor.screenshot('name-by-case');
    await editor.dialog.click('Cancel');
    await done();
    assert.equal(editor.read('eslint.config.js'), 'other\n');
    assert.match(await words('fs.edit'), /^Allowed earlier in this run: changes of "eslint\.config\.js"/);
    assert.match(await editor.panel.cards('shell.run').last().innerText(), /this command is never run from here/);
    await choose('Auto-approve reads');
  });

  it('autopilot is asked about once, and cannot be overlooked', async () => {
    await choose('Autopilot');
    assert.match(await editor.dialog.text(), /^Turn on Autopilot in this workspace\?/);
    assert.equal(await editor.dialog.focused(), 'Keep Asking');
    await editor.dialog.click('Keep Asking');
    await editor.panel.hasTheKeys();
    assert.equal(await badge().count(), 0);
    await choose('Autopilot');
    await editor.dialog.click('Turn On Autopilot');
    await badge().waitFor();
    await says('Autopilot: runs without approval');
    await asks(run('touch unasked.txt'), write('.vscode/tasks.json'));
    assert.match(await editor.dialog.text(), /^Create \.vscode\/tasks\.json/);
    await editor.dialog.click('Cancel');
    await done();
    assert.equal(editor.read('unasked.txt'), '');
    assert.match(await words('shell.run'), /^Allowed because Autopilot is on/);
    await editor.screenshot('autopilot-dark');
    await badge().click();
    await pick('For Every Run…');
    await rows().filter({ hasText: 'Add a Rule…' }).waitFor(); // both lists have the presets
    await pick('Auto-approve reads');
    await badge().waitFor({ state: 'hidden' });
    await says('Auto-approve reads');
  });

  it('an autopilot that was written into the settings asks, and a no leaves everything asked about', async () => {
    await editor.stop();
    editor = await openTowpath({
      files: { 'a.txt': 'one\n' },
      settings: { ...settings(), 'towpath.approvals.preset': 'autopilot' },
      theme: 'Default Light Modern',
    });
    assert.match(await editor.dialog.text(), /^Turn on Autopilot in this workspace\?/);
    await editor.dialog.escape();
    await asks(write('no.txt'));
    assert.match(await editor.dialog.text(), /^Create no\.txt/);
    await editor.dialog.click('Cancel');
    await done();
    assert.equal(await badge().count(), 0);
    await choose('Autopilot');
    await editor.dialog.click('Turn On Autopilot');
    await badge().waitFor();
    await editor.resizePanel(230);
    await says('Autopilot: runs without approval');
    await editor.screenshot('autopilot-light');
  });
});
