import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../support/editor/project.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';

interface Binding {
  command: string;
  key: string;
  mac?: string;
  when?: string;
}

const { keybindings } = JSON.parse(readFileSync(path.join(projectRoot, 'package.json'), 'utf8')).contributes as {
  keybindings: Binding[];
};

/** What the editor tells of its platform, and how keys are spelled there. */
const platforms = [
  { name: 'Linux', agent: 'X11; Linux x86_64', key: ({ key }: Binding) => key },
  { name: 'Windows', agent: 'Windows NT 10.0; Win64; x64', key: ({ key }: Binding) => key },
  { name: 'macOS', agent: 'Macintosh; Intel Mac OS X 10_15_7', key: ({ key, mac = key }: Binding) => mac },
];

describe('the keys that Towpath comes with', () => {
  it('are four, and those of a review and of changes, which need the focus for them', () => {
    const isOfReview = ({ command }: Binding) => /^towpath\.reviews?\./.test(command);
    const ofChanges = keybindings.filter(isOfChange);
    assert.deepEqual(
      ofChanges.map(({ command }) => command.replace('towpath.', '')),
      ['nextChange', 'previousChange', 'undoChangeAtCursor', 'markChangeReviewed'],
    );
    for (const { command, when } of ofChanges)
      assert.match(when!, /^editorTextFocus && towpath\.changesInEditor/, command);
    assert.deepEqual(
      keybindings.filter((one) => !isOfReview(one) && !isOfChange(one)).map(({ command }) => command),
      ['towpath.focus', 'towpath.addSelection', 'towpath.stop', 'towpath.answer'],
    );
    const ofReview = keybindings.filter(isOfReview);
    assert.deepEqual(
      ofReview.map(({ command }) => command.replace('towpath.', '')),
      ['review.allow', 'review.allowChanged', 'review.deny', 'reviews.allow', 'reviews.deny'],
    );
    for (const { command, when } of ofReview)
      assert.match(when!, /^editorTextFocus && (resourceScheme == towpath-review|.*towpath\.reviewsSeveral)/, command);
  });

  it('a key of the text of an editor is not free there', () => {
    assert.ok(isFreeInEditors({ when: 'inQuickInput && !isComposing || a && inChatInput' }));
    for (const when of [undefined, 'editorFocus && findWidgetVisible', 'inQuickInput || editorFocus', '!inChatInput'])
      assert.ok(!isFreeInEditors({ ...(when && { when }) }), when);
  });

  for (const { name, agent, key } of platforms)
    describe(`on ${name}`, () => {
      let editor: Towpath;
      before(async () => {
        editor = await openTowpath({ panelClosed: true, builtIn: 'all', agent });
      });
      after(() => editor?.stop());

      it('are free: the editor’s own list has none of them, and none that begins or goes on with one', async () => {
        const list = await editor.host.evaluate(async (vscode) => {
          await vscode.commands.executeCommand('workbench.action.openDefaultKeybindingsFile');
          return vscode.window.activeTextEditor!.document.getText();
        });
        const all = JSON.parse(list.replace(/^\s*\/\/.*$/gm, '')) as Binding[];
        assert.ok(all.length > 500, `only ${all.length} keys are known`);
        assert.equal(all.filter(({ key }) => key.includes('cmd+')).length > 100, name === 'macOS');
        const others = all.filter(({ command }) => !command.startsWith('towpath.'));
        for (const binding of keybindings) {
          const ours = spelled(key(binding));
          assert.ok(
            all.some((one) => one.command === binding.command && spelled(one.key) === ours),
            `${binding.command} is not at ${ours}`,
          );
          const isOfEditor = binding.command.startsWith('towpath.review') || isOfChange(binding);
          const taken = others.filter((one) => one.key.split(' ').some((stroke) => spelled(stroke) === ours));
          assert.deepEqual(
            taken.filter((one) => !(isOfEditor && isFreeInEditors(one))),
            [],
          );
        }
      });
    });
});

const isOfChange = ({ when = '' }: Binding): boolean => when.includes('towpath.changesInEditor');

/** Whatever the order of the modifiers. */
const spelled = (stroke: string): string => stroke.split('+').sort().join('+');

/** Where the focus is in no text editor. */
const elsewhere = ['inQuickInput', 'inChatInput'];

/** The key does something only where the focus is in no text editor. */
const isFreeInEditors = ({ when = '' }: Pick<Binding, 'when'>): boolean =>
  when.split('||').every((clause) => clause.split('&&').some((term) => elsewhere.includes(term.trim())));
