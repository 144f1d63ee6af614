import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { oneWindow } from '../support/editor/oneWindow.ts';
import type { Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

describe('workflows', () => {
  let editor: Towpath;
  let provider: Provider;
  let letGo: () => void;
  const broken = 'nodes:\n  - name: a\n    run: |\n      return {}\n';
  const begin = oneWindow({ files: { 'one.txt': 'one\n', '.towpath/workflows/broken.yaml': broken } });
  beforeEach(async () => {
    const seen = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    provider = await startProvider(({ messages }) => {
      const asked = messages.at(-1)!.content!;
      if (asked.startsWith('Which mistakes')) return reply.text('one.txt:1 is wrong.');
      return asked.startsWith('Two readings')
        ? reply.text('## The review').after(seen)
        : reply.text('None is missing.');
    });
    editor = await begin({
      'towpath.model': 'openai-compatible/scripted',
      'towpath.providers': {
        'openai-compatible': { baseUrl: provider.url, prices: { '*': { input: 1000, output: 1000 } } },
      },
    });
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: editor.folder });
    if (!existsSync(path.join(editor.folder, '.git'))) {
      git('init', '-q');
      git('add', '.');
      git('commit', '-qm', 'One');
    }
    writeFileSync(path.join(editor.folder, 'one.txt'), 'two\n');
  });
  afterEach(() => provider.close());

  const problems = () =>
    editor.host.evaluate(async (vscode) =>
      vscode.languages
        .getDiagnostics()
        .flatMap(
          ([uri, all]: [
            { path: string },
            { source?: string; message: string; range: { start: { line: number; character: number } } }[],
          ]) =>
            all
              .filter((one) => one.source === 'Towpath')
              .map(
                ({ range, message }) =>
                  `${uri.path.split('/').at(-1)}:${range.start.line + 1}:${range.start.character + 1}: ${message}`,
              ),
        ),
    ) as Promise<string[]>;

  it('are begun from a template, run from the palette and seen at work; a bad file says what is wrong with it', async () => {
    await eventually('the bad file is found', async () => (await problems()).length > 0);
    assert.deepEqual(await problems(), [
      'broken.yaml:3:5: Towpath does not run Python. Use an action (`uses:`), `run: {type: expression, value: …}` with a Jinja expression, or `shell.run` for a program.',
    ]);

    const pick = (text: string) =>
      editor.page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first().click();
    await editor.command('Towpath: New Workflow from Template…');
    await pick('Review my changes');
    await eventually('the file is there', () => editor.read('.towpath/workflows/review-changes.yaml') !== undefined);
    await editor.page.locator('.codelens-decoration', { hasText: 'Run Workflow' }).first().waitFor();

    await editor.command('Towpath: Run Workflow…');
    await pick('Review my changes');
    const { frame } = editor.panel;
    await frame.locator('[data-node="verdict"][data-status="running"]').waitFor();
    await editor.screenshot('workflow-runs');
    letGo();
    await frame.getByRole('heading', { name: 'The review' }).waitFor();
    await editor.panel.waitForPhase('Completed');
    const done = await frame
      .locator('[data-node]')
      .evaluateAll((rows) => rows.map((row) => `${row.getAttribute('data-node')} ${row.getAttribute('data-status')}`));
    assert.deepEqual(done, [
      'changes completed',
      'no_answer passed',
      'nothing passed',
      ...['read', 'mistakes', 'tests', 'verdict'].map((name) => `${name} completed`),
    ]);
    await editor.screenshot('workflow-done');
  });

  it('go over a list, with another workflow for each item; of one that failed, Retry does that item alone', async () => {
    const write = (name: string, yaml: string) =>
      writeFileSync(path.join(editor.folder, '.towpath/workflows', name), yaml);
    write(
      'each.yaml',
      [
        'name: Copies',
        'variables: {names: [one, two, three]}',
        'nodes:',
        '  - name: copies',
        '    foreach: variables.names',
        '    item: name',
        '    max_workers: 1',
        '    uses: workflow.run',
        '    with: {workflow: copy, inputs: {name: "{{ name }}"}}',
        '    output: copies',
        '  - name: say',
        '    uses: state.set',
        `    with: {content: "{{ state.copies | map(attribute='made') | join(' and ') }}"}`,
        '    goto: [{if: "state.copies[0].made >= 4", to: say}, {to: __end__}]',
      ].join('\n'),
    );
    write(
      'copy.yaml',
      [
        'name: A copy',
        'state_schema: {name: str}',
        'nodes:',
        '  - name: read',
        '    uses: fs.read',
        '    with: {path: "{{ state.name }}.txt"}',
        '    output: source',
        '  - name: make',
        '    uses: state.set',
        '    with: {made: "{{ state.source.text | trim }}"}',
      ].join('\n'),
    );
    writeFileSync(path.join(editor.folder, 'three.txt'), '3\n');
    await editor.command('Towpath: Run Workflow…');
    await editor.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Copies' }).first().click();
    await editor.panel.waitForPhase('Failed');
    const { frame } = editor.panel;
    assert.match(await frame.locator('[data-node="copies"]').innerText(), /2 of 3/);
    await frame.locator('[data-node="copies[1]"][data-status="failed"]').waitFor();
    assert.equal(await frame.locator('[data-node^="copies[0]"]').count(), 0, 'what is done is quiet');
    await editor.screenshot('workflow-list');
    writeFileSync(path.join(editor.folder, 'two.txt'), '2\n');
    writeFileSync(path.join(editor.folder, 'three.txt'), 'another\n');
    await frame.getByRole('button', { name: 'Retry', exact: true }).click();
    await editor.panel.waitForPhase('Completed');
    await editor.panel.shows('two and 2 and 3');
    await editor.panel.shows('it is false'); // what cannot be worked out is said at its node
    const pages = editor.page.locator('.quick-input-list .monaco-list-row');
    const shown = (heading: string) =>
      eventually(`the page ${heading}`, async () => {
        const found = editor.page
          .frames()
          .map((one) => one.getByRole('heading', { name: heading, exact: true }).count());
        return (await Promise.all(found.map((count) => count.catch(() => 0)))).some((count) => count === 1);
      });
    await editor.command('Towpath: Help…');
    await pages.filter({ hasText: 'Approvals, presets' }).waitFor();
    await editor.screenshot('help-pages');
    await editor.page.keyboard.type('every connection'); // what a page is about is looked through, too
    await pages.filter({ hasText: 'Approvals, presets' }).waitFor({ state: 'detached' });
    await editor.page.keyboard.press('Enter');
    await shown('What leaves this machine');
    await editor.screenshot('help-privacy');
    await editor.host.evaluate((vscode) => vscode.commands.executeCommand('towpath.help', 'workflows')); // as a hover's link does
    await shown('A first file');
  });

  it('ask the person, go on from a failure, run words as they are, say what is large, and rest at their limit', async () => {
    const yaml = [
      'name: Everything else',
      'limits: {cost: 0.01}',
      'nodes:',
      '  - name: choose',
      '    uses: ask.person',
      '    with: {questions: [{question: Which word?, answers: [{label: "a; touch hacked"}, {label: "two  words"}]}]}',
      '    output: choice',
      '  - name: dear',
      '    uses: llm.call',
      '    with: {messages: [{role: user, content: What is it?}]}',
      '    output: said',
      '  - name: missing',
      '    uses: fs.read',
      '    with: {path: nowhere.txt}',
      '    on_error: continue',
      '    output: source',
      '  - name: touch',
      '    uses: shell.run',
      '    with: {command: [touch, "{{ state.choice.answers[0].chosen[0] }}"]}',
      '    output: touched',
      '  - name: large',
      '    uses: state.set',
      `    with: {long: "{% for n in range(1100) %}${'x'.repeat(1000)}{% endfor %}", done: null}`,
      '  - name: say',
      '    uses: state.set',
      '    with: {content: "{{ state.touched.exitCode }} {{ state.error.code }} {{ state.done is none }}"}',
    ].join('\n');
    const file = path.join(editor.folder, '.towpath/workflows/rest.yaml');
    writeFileSync(file, yaml);
    const { frame } = editor.panel;
    await editor.command('Towpath: Run Workflow…');
    await editor.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Everything else' }).first().click();
    await frame.getByText('a; touch hacked').first().click();
    await editor.panel.shows('The limit of $0.01 of this workflow is reached: $0.02.');
    await editor.screenshot('workflow-limit');
    await frame.getByRole('button', { name: 'Continue', exact: true }).click();
    assert.match(await editor.dialog.text(), /touch 'a; touch hacked'/);
    await editor.dialog.click('Allow');
    await editor.panel.waitForPhase('Completed');
    await editor.panel.shows('0 ENOENT true');
    assert.equal(editor.read('a; touch hacked'), '');
    assert.equal(editor.read('hacked'), undefined);
    await editor.panel.shows('Failed, and continued');
    await editor.panel.shows('contains more than 1 MB');
    await editor.screenshot('workflow-rest');

    const [hover, completion] = (await editor.host.evaluate(async (vscode, at) => {
      const uri = vscode.Uri.file(at);
      const text = (await vscode.workspace.openTextDocument(uri)).getText();
      const place = (words: string) => {
        const before = text.slice(0, text.indexOf(words) + words.length).split('\n');
        return new vscode.Position(before.length - 1, before.at(-1)!.length);
      };
      const hovers = await vscode.commands.executeCommand('vscode.executeHoverProvider', uri, place('uses: shell.r'));
      const list = await vscode.commands.executeCommand(
        'vscode.executeCompletionItemProvider',
        uri,
        place('state.touched.'),
      );
      return [
        (hovers as { contents: { value: string }[] }[])
          .flatMap(({ contents }) => contents.map(({ value }) => value))
          .join('\n'),
        (list as { items: { label: string | { label: string } }[] }).items
          .map(({ label }) => (typeof label === 'string' ? label : label.label))
          .join(' '),
      ];
    }, file)) as [string, string];
    assert.match(hover, /exitCode/);
    assert.match(completion, /\bexitCode\b.*\boutput\b/);
  });

  it('rest where the next answer would pass what a run may cost, and go on from there once more is allowed', async () => {
    const node = (name: string) => [
      `  - name: ${name}`,
      '    uses: llm.call',
      `    with: {messages: [{role: user, content: "The ${name} question"}]}`,
      `    output: ${name}`,
    ];
    const say = ['  - name: say', '    uses: state.set', '    with: {content: "Both are answered."}'];
    const yaml = ['name: Two questions', 'nodes:', ...node('first'), ...node('second'), ...say].join('\n');
    writeFileSync(path.join(editor.folder, '.towpath/workflows/two.yaml'), yaml);
    await editor.host.evaluate(async (vscode) => {
      await vscode.workspace.getConfiguration().update('towpath.limits.run', 0.02, vscode.ConfigurationTarget.Global);
    });
    const { frame } = editor.panel;
    const status = (name: string, status: string) =>
      frame.locator(`[data-node="${name}"][data-status="${status}"]`).waitFor();
    const asked = () => provider.requests.map(({ body }) => body.messages.at(-1)!.content);
    await editor.command('Towpath: Run Workflow…');
    await editor.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Two questions' }).first().click();
    await editor.panel.shows("$0.02 of this run's $0.02 are spent");
    await status('first', 'completed');
    assert.deepEqual(asked(), ['The first question']);
    await editor.screenshot('workflow-money');
    const another = frame.getByTestId('raise-limit');
    await another.click();
    await editor.dialog.escape();
    assert.deepEqual(asked(), ['The first question'], 'closing the dialog allows nothing');
    await another.click();
    await editor.dialog.click('Raise Limit by $0.02');
    await editor.panel.waitForPhase('Completed');
    await editor.panel.shows('Both are answered.');
    assert.deepEqual(asked(), ['The first question', 'The second question'], 'and what was paid is not asked again');
  });
});
