import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';
import { sampleFiles, writePackage } from '../workflows/package/sample.ts';
import { zip } from '../workflows/package/zip.ts';

const files = Object.fromEntries(
  Object.entries(sampleFiles).map(([file, text]) => [`.towpath/packages/letters/${file}`, text]),
);
const state = (frontmatter: object) => ({ path: '@state/workflow.md', frontmatter });

describe('a workflow package', () => {
  let outer: string;
  let folder: string;
  let provider: Provider;
  let editor: Towpath;
  const settings = () => ({
    'towpath.model': 'openai-compatible/scripted',
    'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
  });
  const open = async () => {
    editor = await openTowpath({
      folder,
      userDataDir: path.join(outer, 'data'),
      settings: settings(),
    });
  };
  before(async () => {
    outer = temporaryFolder();
    folder = writeWorkspace(outer, files);
    provider = await startProvider([]);
    await open();
  });
  beforeEach(async () => {
    provider.requests.length = 0;
    await editor.begin(settings());
  });
  after(async () => {
    await editor?.stop();
    await provider.close();
    rmSync(outer, { recursive: true, force: true });
  });

  const input = () => editor.page.locator('.quick-input-widget:visible input').first();
  const row = (text: string) => editor.page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
  const choose = async (action: string) => {
    await editor.command('Towpath: Packages…');
    await row(action).click();
  };
  /** Rows of *Packages…*. */
  const actions = async () => {
    await editor.command('Towpath: Packages…');
    await editor.page.locator('.quick-input-title', { hasText: 'Towpath: packages' }).waitFor();
    await row('Open Package…').waitFor();
    const all = await editor.page.locator('.quick-input-list .monaco-list-row').allInnerTexts();
    await editor.screenshot('packages');
    await editor.page.keyboard.press('Escape');
    return all.map((one) => one.replaceAll('\u00a0', ' ').trim().split('\n', 1)[0]);
  };
  const said = (index: number) => provider.requests[index]!.body.messages.map(({ content }) => content).join('\n\n');
  const stateText = () => {
    const found = readdirSync(path.join(outer, 'data'), { recursive: true, encoding: 'utf8' });
    const all = found
      .filter((name) => name.endsWith(path.join('state', 'workflow.md')))
      .map((name) => path.join(outer, 'data', name));
    const [newest] = all.sort((one, other) => statSync(other).birthtimeMs - statSync(one).birthtimeMs);
    return newest && readFileSync(newest, 'utf8');
  };

  it('is picked, asks, is killed in the middle, resumes at its node and completes', async () => {
    provider.script = [
      reply.text('Whom is it for?'),
      reply.call('fs_apply_patch', state({ currentNodeId: 'judge', stepsCompleted: ['ask'] })),
      reply.text('I think that').hang(),
      reply.call('fs_apply_patch', state({ currentNodeId: 'ask', stepsCompleted: [] })),
      reply.call('fs_write', { path: '@project/letter.md', content: 'Dear Ada' }),
      reply.call('fs_apply_patch', state({ currentNodeId: 'done', stepsCompleted: ['ask', 'judge'] })),
      reply.call('fs_apply_patch', state({ stepsCompleted: ['ask', 'judge', 'done'] })),
      reply.text('The letter is written; see [its current state](@state/workflow.md).'),
    ];
    await choose('Run Package Workflow…');
    await row('Write a letter').click();
    await eventually('the words are asked for', async () =>
      /Initial information for the workflow/.test(await editor.page.locator('.quick-input-widget').innerText()),
    );
    await input().fill('A letter, please.');
    await editor.screenshot('package-words');
    await input().press('Enter');
    await editor.panel.frame.getByText('Whom is it for?').first().waitFor(); // a run that has not begun waits for its person, too
    await editor.panel.waitForPhase('WaitingUser');
    await editor.panel.send('For Ada.');
    await eventually('the model is at the second node', () => provider.requests.length === 3);
    await editor.panel.frame.getByText('I think that').waitFor();
    await editor.kill();
    assert.match(stateText()!, /currentNodeId: judge/);

    await open();
    await editor.panel.frame.getByText('Node judge, as judge').first().waitFor();
    await editor.command('Towpath: Continue Run');
    await editor.dialog.text();
    await editor.dialog.click('Allow');
    assert.equal(await editor.panel.waitForPhase(['Completed', 'Failed']), 'Completed');
    await editor.screenshot('package-completed');
    assert.equal(editor.read('letter.md'), 'Dear Ada');
    assert.match(stateText()!, /currentNodeId: done/);
    await editor.panel.frame.getByRole('button', { name: 'its current state' }).click();
    await eventually('the state document is open', () =>
      editor.host.evaluate(async (vscode) =>
        /workflow\.md$/.test(vscode.window.activeTextEditor?.document.fileName ?? ''),
      ),
    );
    const resumed = said(3);
    assert.match(
      resumed,
      /RUN_DIRECTIVE\n- intent: resume\n[\s\S]*NODE_BRIEF\n- nodeId: judge\n[\s\S]*allowedNext: ask \(not good\), done \(good\)\n<\/system-message>$/,
    );
    assert.match(said(4), /"reason":"STEPS_SHRINK"/);
    assert.match(said(6), /NODE_BRIEF\n- nodeId: done\n/);
  });

  it('is seen as a whole in every theme, also in a narrow panel', async () => {
    provider.script = [
      reply.call('fs_write', { path: '@state/artifacts/letter.md', content: 'Dear Ada' }),
      reply.call(
        'fs_apply_patch',
        state({
          currentNodeId: 'judge',
          stepsCompleted: ['ask'],
          variables: { to: 'Ada' },
          artifacts: ['@state/artifacts/letter.md'],
        }),
      ),
      reply.text('Is it good enough for you?'),
    ];
    await choose('Run Package Workflow…');
    await row('Write a letter').click();
    await input().press('Enter');
    await editor.panel.frame.getByText('Is it good enough for you?').first().waitFor();
    await editor.panel.waitForPhase('WaitingUser');
    const { frame } = editor.panel;
    const graph = frame.getByTestId('graph');
    const rows = () =>
      graph
        .locator('[data-node]')
        .evaluateAll((all) => all.map((one) => `${one.getAttribute('data-node')} ${one.getAttribute('data-status')}`));
    assert.deepEqual(await rows(), ['ask completed', 'judge waiting', 'done todo']);
    assert.equal(await graph.locator('[aria-current=step]').getAttribute('data-node'), 'judge');
    await graph.getByRole('button', { name: 'Values (2)' }).press('Enter');
    await graph.getByRole('button', { name: 'Files (1)' }).press('Enter');
    await graph.getByRole('button', { name: '@state/artifacts/letter.md' }).waitFor();
    for (const [name, theme, width] of [
      ['dark', 'Default Dark Modern', 400],
      ['light', 'Default Light Modern', 400],
      ['high-contrast', 'Default High Contrast', 400],
      ['high-contrast-light', 'Default High Contrast Light', 400],
      ['narrow', 'Default Dark Modern', 230],
    ] as const) {
      await editor.host.evaluate(async (vscode, wanted) => {
        await vscode.workspace.getConfiguration('workbench').update('colorTheme', wanted, true);
      }, theme);
      await editor.resizePanel(width);
      const kind = theme.includes('Contrast') ? 'high-contrast' : theme.includes('Light') ? 'light' : 'dark';
      await eventually('the panel has the theme', () =>
        frame.locator('body').evaluate((body, wanted) => body.className.includes(`vscode-${wanted}`), kind),
      );
      await graph.scrollIntoViewIfNeeded();
      await editor.screenshot(`graph-editor-${name}`);
      const sideways = await frame.locator('body').evaluate((body) => body.scrollWidth - body.clientWidth);
      assert.ok(sideways <= 0, `nothing sticks out sideways in ${name} (${sideways} px)`);
    }
    await graph.getByRole('button', { name: '@state/artifacts/letter.md' }).press('Enter');
    await eventually('the file is open', () =>
      editor.host.evaluate(async (vscode) =>
        /letter\.md$/.test(vscode.window.activeTextEditor?.document.fileName ?? ''),
      ),
    );
    await frame.getByTestId('open-diff').last().click();
    await editor.page.locator('.tab', { hasText: 'workflow.md (changes by Towpath)' }).waitFor();
    await editor.command('Towpath: Undo Turn');
    await eventually('the run is back at its first node', async () =>
      isDeepStrictEqual(await rows(), ['ask waiting', 'judge todo', 'done todo']),
    );
    assert.match(stateText()!, /currentNodeId: ask/);
    await editor.screenshot('package-undone');
  });

  it('is opened by the editor’s dialog, as a folder or an archive, and forgotten', async () => {
    const storages = path.join(outer, 'data/User/workspaceStorage');
    const unpacked = () =>
      readdirSync(storages)
        .map((storage) => path.join(storages, storage, 'towpath.towpath/packages'))
        .flatMap((packages) => (existsSync(packages) ? readdirSync(packages) : []))
        .filter((name) => /^[0-9a-f]{64}$/.test(name));
    const manifest = (title: string) => JSON.stringify({ ...JSON.parse(sampleFiles['bmad.json']!), title });
    writePackage(path.join(outer, 'mine'), { 'bmad.json': manifest('A folder of letters') });
    const packed = Object.entries({ ...sampleFiles, 'bmad.json': manifest('Packed letters') });
    writeFileSync(path.join(outer, 'packed.bmad'), zip(packed.map(([name, content]) => ({ name, content }))));
    writeFileSync(path.join(outer, 'broken.bmad'), 'not an archive');

    const open = async (file: string, said: string) => {
      await choose('Open Package…');
      await editor.chooseFile('A package: a .bmad archive, or the bmad.json of a folder', file);
      await editor.told(said);
    };
    await open(path.join(outer, 'mine', 'bmad.json'), 'The package A folder of letters can be used in this workspace.');
    await open(path.join(outer, 'packed.bmad'), 'The package Packed letters can be used in this workspace.');
    await open(path.join(outer, 'broken.bmad'), 'This package cannot be used: broken.bmad: not a whole zip archive');
    assert.equal(unpacked().length, 1);

    await choose('Run Package Workflow…');
    for (const title of ['Letters', 'A folder of letters', 'Packed letters']) await row(title).waitFor();
    await row('Packed letters').click();
    provider.script = [reply.text('Whom is it for?')];
    await eventually('the words are asked for', async () =>
      /Initial information for the workflow/.test(await editor.page.locator('.quick-input-widget').innerText()),
    );
    await input().press('Enter');
    await editor.panel.frame.getByText('Whom is it for?').first().waitFor();
    await editor.panel.waitForPhase('WaitingUser');

    const forget = async (title: string) => {
      await choose('Remove Package…');
      await row(title).click();
    };
    await forget('Packed letters');
    assert.match(await editor.dialog.text(), /Remove Packed letters\?[\s\S]*1 run was started with it/);
    await editor.screenshot('package-forget');
    await editor.dialog.click('Remove');
    await eventually('what was unpacked is gone', () => unpacked().length === 0);
    await forget('A folder of letters');
    await eventually('nothing is left to remove', async () => {
      const all = await actions();
      return isDeepStrictEqual(all, ['Run Package Workflow…', 'Chat with Package Agent…', 'Open Package…']);
    });
    assert.ok(existsSync(path.join(outer, 'mine', 'bmad.json')) && existsSync(path.join(outer, 'packed.bmad')));
    await editor.panel.send('For Ada.');
    await editor.panel.frame.getByText('is no longer here. Open it again.').first().waitFor();
  });

  it('can be opened if there is none yet, and nothing else is offered', async () => {
    const letters = path.join(folder, '.towpath/packages/letters');
    renameSync(letters, path.join(outer, 'letters'));
    try {
      assert.deepEqual(await actions(), ['Open Package…']);
    } finally {
      renameSync(path.join(outer, 'letters'), letters);
    }
  });

  it('has agents to talk to, by a word of their menu or in one’s own words', async () => {
    provider.script = [reply.text('Be kind.'), reply.text('I am Jim.')];
    const talkTo = async (agent: string, words: string) => {
      await choose('Chat with Package Agent…');
      await row(agent).click();
      await eventually('the menu is there', async () =>
        /Letters: /.test(await editor.page.locator('.quick-input-widget').innerText()),
      );
      await input().fill(words);
    };
    await talkTo('Wanda', 'writing tip');
    await row('2. Give a writing tip').waitFor();
    await row('Send “writing tip” to Wanda').waitFor();
    await editor.screenshot('package-menu');
    await editor.page.keyboard.press('Enter');
    await eventually('the first answer is there', () => provider.requests.length === 1);
    await editor.panel.waitForPhase('WaitingUser');
    assert.match(said(0), /^You are Wanda, Writer\.[\s\S]*Give me one tip about letters\.$/);

    await talkTo('Jim', 'Who are you?');
    await row('Send “Who are you?” to Jim').click();
    await eventually('the second answer is there', () => provider.requests.length === 2);
    assert.match(said(1), /^You are Jim\.[\s\S]*Who are you\?$/);
    const tools = provider.requests[1]!.body.tools!.map((tool) => tool.function.name);
    assert.deepEqual([tools.includes('fs_write'), tools.includes('shell_run')], [true, false]);
  });
});
