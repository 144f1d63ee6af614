import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type ts from 'typescript';
import { built } from '../support/programs.ts';
import { formerFile, germanFile, type Keys, keysOf, placeholdersOf, programOf, tellersOf } from './keys.ts';
import { leftOf } from './left.ts';
import { notForPeople, speaking } from './notForPeople.ts';

// Holds stored-text-is-english.
describe('The words for people', function () {
  this.timeout(120_000); // all of the code is read as the compiler reads it
  const german = JSON.parse(readFileSync(germanFile, 'utf8')) as Record<string, string>;
  /** Former sentences of the code, each with the present one: journals of earlier versions hold them. */
  const former = JSON.parse(readFileSync(formerFile, 'utf8')) as Record<string, string>;
  let program: ts.Program;
  let found: Keys;
  before(() => {
    program = programOf();
    found = keysOf(program);
  });

  it('are all known from the code', () => assert.deepEqual(found.unknown, []));

  it('are all there in German, and no others are', () => {
    const lacking = [...found.keys].filter(([key]) => !Object.hasOwn(german, key));
    assert.deepEqual(
      lacking.map(([key, places]) => `${places[0]} ${key}`),
      [],
    );
    assert.deepEqual(
      Object.keys(german).filter((key) => !found.keys.has(key) && !Object.hasOwn(former, key)),
      [],
    );
  });

  it('of stored runs from before a sentence was reworded are translated as the sentence is today', () => {
    for (const [before, now] of Object.entries(former)) {
      assert.ok(found.keys.has(now), now);
      assert.equal(found.keys.has(before), false, before);
      assert.deepEqual(placeholdersOf(before), placeholdersOf(now));
      assert.equal(german[before], german[now], before);
    }
  });

  it('have the same values in German, each as often', () => {
    const wrong = Object.entries(german).filter(
      ([english, words]) => String(placeholdersOf(english)) !== String(placeholdersOf(words)),
    );
    assert.deepEqual(wrong, []);
  });

  it('begin and end in German as in English with blanks, or with what says that more follows', () => {
    const edges = (words: string) => [/^\s*/.exec(words)![0], /…?\s*$/.exec(words)![0]];
    const wrong = Object.entries(german).filter(([english, words]) => String(edges(english)) !== String(edges(words)));
    assert.deepEqual(wrong, []);
  });

  it('stand in order in the bundle', () => assert.deepEqual(Object.keys(german), Object.keys(german).sort()));

  it('are told by few below the editor’s part, and by no program that knows no language', async () => {
    const tellers = tellersOf(program);
    assert.deepEqual(
      tellers.filter((file) => /^src\/(llm|tools|runs|engine|workflows|check)\//.test(file)).sort(),
      speaking,
    );
    const telling = 'Object.hasOwn(bundle, '; // what `t` does and nothing else
    const knowsWords = async (name: string) => (await built(name, undefined, false)).files.get(name)!.includes(telling);
    assert.deepEqual(await Promise.all(['panel.js', 'parser.cjs', 'worker.mjs'].map(knowsWords)), [true, false, false]);
  });

  it('leave nothing in English in the editor’s part and in the panel', () => {
    const left = leftOf(program, (file) => /^(src\/extension|webview)\//.test(file));
    const isExcused = (line: string) => notForPeople.some(({ file, words }) => isOf(file, words, line));
    assert.deepEqual(
      left.filter((line) => !isExcused(line)),
      [],
    );
    const needless = notForPeople.filter(({ file, words }) => !left.some((line) => isOf(file, words, line)));
    assert.deepEqual(needless, []);
  });

  function isOf(file: string, words: RegExp, line: string): boolean {
    const [, name, said] = /^(.*?):\d+ (.*)$/.exec(line)!;
    return name!.startsWith(file) && words.test(said!);
  }
});
