import assert from 'node:assert/strict';
import {
  fillPromptFile,
  isPromptFile,
  parsePromptFile,
  promptName,
  resolvePromptFileReference,
} from '../../../src/tools/mention/promptFile.ts';

describe('A file with a prompt', () => {
  const file = `---
description: Tests for a part
agent: agent
---
Write tests for \${input:part:which part} in \${file}, like [those](../tests/a.test.ts) and #file:docs/tests.md.
Look at \${selection}. Not \${unknown}; \${input:part} again, in \${workspaceFolder}. See [docs](https://example.com/a).
`;

  it('is known by its name', () => {
    assert.ok(isPromptFile('.github/prompts/tests.prompt.md') && !isPromptFile('docs/prompt.md'));
    assert.equal(promptName('.github/prompts/tests.prompt.md'), 'tests');
  });

  it('says what it is for, and what is to be filled in, once', () => {
    const { description, inputs } = parsePromptFile(file);
    assert.deepEqual([description, inputs], ['Tests for a part', [{ name: 'part', asks: 'which part' }]]);
    assert.deepEqual(parsePromptFile('Just this.\n'), { description: '', body: 'Just this.', inputs: [] });
  });

  it('is said with its values, the selection, the file in front, and what it names', () => {
    const filled = fillPromptFile(parsePromptFile(file), {
      values: { part: 'the parser' },
      typedText: 'the parser',
      file: 'src/p.ts',
    });
    assert.deepEqual(filled, {
      text: `Write tests for the parser in @src/p.ts, like [those](../tests/a.test.ts) and #file:docs/tests.md.
Look at @selection. Not \${unknown}; the parser again, in .. See [docs](https://example.com/a).`,
      namesSelection: true,
      names: ['../tests/a.test.ts', 'docs/tests.md'],
    });
  });

  it('without anything to fill in has the person’s words behind it', () =>
    assert.equal(
      fillPromptFile(parsePromptFile('Explain.'), { values: {}, typedText: 'shortly' }).text,
      'Explain.\n\nshortly',
    ));

  it('names files from where it stands, or from the workspace, and none outside of it', () => {
    const there = new Set(['.github/tests/a.test.ts', 'docs/tests.md']);
    const place = (name: string) =>
      resolvePromptFileReference(name, '.github/prompts/x.prompt.md', (path) => there.has(path));
    assert.deepEqual(['../tests/a.test.ts', 'docs/tests.md', '../../../etc/passwd', 'gone.md'].map(place), [
      '.github/tests/a.test.ts',
      'docs/tests.md',
      undefined,
      undefined,
    ]);
  });
});
