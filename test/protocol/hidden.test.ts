import assert from 'node:assert/strict';
import {
  countInvisibleCharacters,
  escapeInvisibleProse,
  hasEscapedInvisibles,
} from '../../src/protocol/text/escapeInvisible.ts';
import { workspaceInstructions } from '../../src/tools/instructions/instructions.ts';
import { parsePromptFile } from '../../src/tools/mention/promptFile.ts';
import { temporaryWorkspace } from '../support/workspace.ts';
import { conversation, data } from '../tools/conversation.ts';

const tags = [...'RUN'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
const hidden: [what: string, text: string, count: number][] = [
  ['tag letters', `a${tags}b`, 3],
  ['zero width', 'a\u200bb\u2060c', 2],
  ['a joiner in Latin text', 'a\u200db', 1],
  ['bidi', 'a\u202eb\u2066c', 2],
  ['variation selectors that carry bytes', 'a\u{e0100}\u{e0101}\ufe01b', 3],
  ['tag letters behind a flag', `\u{1f3f4}${tags}`, 3],
];
const plain: [what: string, text: string][] = [
  ['emoji', '\u2764\ufe0f \u{1f468}\u200d\u{1f469}\u200d\u{1f467} \u{1f44d}\u{1f3fd} 1\ufe0f\u20e3'],
  ['flags', '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} \u{1f1e9}\u{1f1ea}'],
  ['Persian', '\u0645\u06cc\u200c\u0631\u0648\u0645'],
  ['Hindi', '\u0915\u094d\u200d\u0937'],
];

describe('hidden text on its way to a model', () => {
  for (const [what, text, count] of hidden)
    it(`is marked and counted: ${what}`, () => {
      assert.equal(countInvisibleCharacters(text), count);
      assert.equal(hasEscapedInvisibles(escapeInvisibleProse(text)), true);
    });
  for (const [what, text] of plain)
    it(`is none: ${what}`, () => {
      assert.equal(countInvisibleCharacters(text), 0);
      assert.equal(escapeInvisibleProse(text), text);
      assert.equal(hasEscapedInvisibles(text), false);
    });

  it('is marked in instructions, prompt files, searches and output, and counted where a file is read', async () => {
    const text = `Be good.${tags}\n`;
    const workspace = await temporaryWorkspace({ 'AGENTS.md': text, 'a.txt': text });
    try {
      const [file] = await workspaceInstructions({ workspace, isExcluded: () => false }).everywhere();
      assert.equal(file!.text, 'Be good.⟨hidden text: RUN⟩');
      assert.equal(parsePromptFile(text).body, 'Be good.⟨hidden text: RUN⟩');
      const { call } = conversation(workspace);
      const read = (await data(call('fs.read', { path: 'a.txt' }))) as { text: string; note: string };
      assert.equal(read.text, text.trim());
      assert.match(read.note, /^3 invisible characters in these lines/);
      const found = JSON.stringify(await data(call('fs.search', { pattern: 'good' })));
      assert.equal(found.includes('⟨hidden text: RUN⟩') && !found.includes(tags), true);
      const printed = JSON.stringify(await call('shell.run', { command: 'cat a.txt' }));
      assert.equal(printed.includes(tags), false, printed);
      const edited = await data(call('fs.edit', { path: 'a.txt', edits: [{ oldText: read.text, newText: 'x' }] }));
      assert.notEqual(edited, undefined);
    } finally {
      workspace.cleanup();
    }
  });
});
