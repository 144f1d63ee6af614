import assert from 'node:assert/strict';
import {
  addSymbolCompletions,
  type CompletionSources,
  mentionCompletions,
  symbolCompletions,
} from '../../../src/extension/mentions/completions.ts';
import { mentionTextOf } from '../../../src/protocol/content/mentionText.ts';

describe('What is offered after an @', () => {
  const known: CompletionSources = {
    open: [
      { path: 'src/other.ts', active: false },
      { path: 'src/open.ts', active: true, selection: { startLine: 3, endLine: 9, text: 'const' } },
    ],
    errors: 2,
    warnings: 1,
    git: true,
    terminal: 'bash',
  };
  const nothing: CompletionSources = { open: [], errors: 0, warnings: 0, git: false };
  const rows = (query: string, now: CompletionSources, found: string[]) =>
    mentionCompletions(query, now, found).map(({ mention, label, detail }) =>
      [mentionTextOf(mention), mention.kind, label, detail ?? ''].join(' | '),
    );

  it('is what is at hand first: the selection, problems, changes, open files with the one in front before others', () =>
    assert.deepEqual(rows('', known, ['README.md', 'src/', 'src/open.ts']), [
      '@selection | selection | selection | src/open.ts:3-9',
      '@problems | problems | problems | 2 errors, 1 warning',
      '@changes | changes | changes | not committed',
      '@terminal | terminal | terminal | last command in bash',
      '@src/open.ts | file | open.ts | src · open',
      '@src/other.ts | file | other.ts | src · open',
      '@README.md | file | README.md | ',
      '@src | folder | src/ | ',
    ]));

  it('is nothing that is not there', () => assert.deepEqual(rows('', nothing, []), []));

  it('is what the words begin or stand in; an open file is not guessed from scattered letters', () => {
    assert.deepEqual(rows('pro', known, ['src/profile.ts']), [
      '@problems | problems | problems | 2 errors, 1 warning',
      '@src/profile.ts | file | profile.ts | src',
    ]);
    assert.deepEqual(rows('oth', known, []), ['@src/other.ts | file | other.ts | src · open']);
    assert.deepEqual(rows('srt', known, []), []);
  });

  it('is 50 at most', () =>
    assert.equal(
      mentionCompletions(
        '',
        known,
        Array.from({ length: 80 }, (_, at) => `a${at}`),
      ).length,
      50,
    ));

  it('has symbols last, by their lines, and room for them', () => {
    const symbols = symbolCompletions([
      { symbol: 'parse', kind: 'function', path: 'src/p.ts', line: 3, endLine: 9 },
      { symbol: 'Parser', kind: 'class', path: 'src/p.ts', line: 12, endLine: 12 },
    ]);
    assert.deepEqual(symbols, [
      {
        mention: { kind: 'lines', path: 'src/p.ts', from: 3, to: 9 },
        label: 'parse',
        detail: 'function · src/p.ts:3',
      },
      {
        mention: { kind: 'lines', path: 'src/p.ts', from: 12, to: 42 },
        label: 'Parser',
        detail: 'class · src/p.ts:12',
      },
    ]);
    const all = mentionCompletions(
      '',
      known,
      Array.from({ length: 80 }, (_, at) => `a${at}`),
    );
    const both = addSymbolCompletions(all, symbols);
    assert.deepEqual([both.length, both.at(-1)], [50, symbols[1]]);
  });
});
