import assert from 'node:assert/strict';
import { isTestFailure, type TestFailure, testFailureText } from '../../../src/extension/mentions/failure.ts';

type Uri = NonNullable<TestFailure['test']['uri']>;
const uri = { fsPath: '/w/a.test.ts' } as Uri;
const shown = () => 'a.test.ts';

describe('What a failed test is named by', () => {
  const failure = (message: object, label = 'adds'): TestFailure =>
    ({ test: { id: 'one', label, uri }, message }) as unknown as TestFailure;

  it('is its label, and what the editor shows of it', () => {
    const position = { line: 6 };
    const stackTrace = [{ label: 'add', uri, position }, { label: 'run' }];
    assert.deepEqual(
      testFailureText(failure({ message: 'Not equal.', expectedOutput: '3', actualOutput: '4', stackTrace }), shown),
      { name: 'adds', text: 'Not equal.\n\nExpected:\n3\n\nActual:\n4\n\n  at add (a.test.ts:7)\n  at run' },
    );
  });

  it('has Markdown as it is written, and no more than a message takes', () => {
    const value = 'x'.repeat(30_000);
    const { name, text } = testFailureText(failure({ message: { value } }, 'a\nb'), shown);
    assert.deepEqual([name, text.length], ['a ⏎ b', 20_000]);
  });

  it('is told from whatever else a menu gives', () => {
    assert.ok(isTestFailure(failure({ message: '' })));
    for (const other of [undefined, null, 'test', { test: {} }, uri]) assert.ok(!isTestFailure(other));
  });
});
