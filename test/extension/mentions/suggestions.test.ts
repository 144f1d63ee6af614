import assert from 'node:assert/strict';
import {
  promptSuggestionsForWorkspace,
  type SuggestionWorkspaceState,
} from '../../../src/extension/mentions/suggestions.ts';

describe('What an empty panel offers', () => {
  const quiet: SuggestionWorkspaceState = { errors: 0, changes: 0, readme: 'README.md', instructs: true, tested: true };
  const labels = (seen: Partial<SuggestionWorkspaceState>) =>
    promptSuggestionsForWorkspace({ ...quiet, ...seen }).map(({ label }) => label);

  for (const [of, seen, offered] of [
    [
      'what is wrong and not committed, before all else',
      { errors: 2, changes: 1, front: { path: 'src/a.ts', todo: 7 } },
      ['Fix the 2 errors', 'Review my changes in 1 file', 'Implement the rest of the plan in a.ts:7'],
    ],
    [
      'the file in front',
      { errors: 1, front: { path: 'src/a.ts' } },
      ['Fix the error', 'Explain a.ts', 'Explain this project'],
    ],
    [
      'tests, where there are none',
      { tested: false, front: { path: 'src/a.ts' } },
      ['Write the first test, for a.ts', 'Explain a.ts', 'Explain this project'],
    ],
    [
      'what is missing',
      { readme: undefined, instructs: false },
      ['Write a README', 'Write an AGENTS.md', 'Suggest improvements'],
    ],
    ['what there is always', {}, ['Explain this project', 'Suggest improvements']],
  ] as [string, Partial<SuggestionWorkspaceState>, string[]][])
    it(of, () => assert.deepEqual(labels(seen), offered));

  it('says it with what it is about', () =>
    assert.deepEqual(promptSuggestionsForWorkspace({ ...quiet, changes: 3 })[0], {
      label: 'Review my changes in 3 files',
      text: 'Review my changes (@changes): what is wrong, risky or missing? Change nothing.',
      mentions: [{ kind: 'changes' }],
    }));
});
