import assert from 'node:assert/strict';
import { truncateToolCall } from '../../../src/llm/core/truncate.ts';

const long = 'word '.repeat(2000);
const call = (args: Record<string, unknown>) => ({ id: 'a', name: 'fs.write', arguments: args });
const short = (args: Record<string, unknown>, most = 600) => truncateToolCall(call(args), most).arguments;

describe('a call with long arguments, as it is sent later', () => {
  it('is the very same when they are short', () => {
    const one = call({ path: 'a', content: 'x' });
    assert.equal(truncateToolCall(one, 600), one);
  });

  it('has its long texts cut where they stand, and says that it is cut', () => {
    const { arguments: args, cut } = truncateToolCall(call({ path: 'a', edits: [{ old: long, new: 'x' }] }), 600);
    const [edit] = args.edits as [{ old: string; new: string }];
    assert.deepEqual([args.path, edit.new, cut], ['a', 'x', true]);
    assert.match(edit.old, /^word [\s\S]+\n… 9,400 characters left out …\n[\s\S]+word $/);
  });

  const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`name${at}`, 'value']));
  const cases: [what: string, args: Record<string, unknown>][] = [
    ['a long text', { content: long }],
    ['many short texts in a list', { lines: long.split(' ') }],
    ['a deep object', { a: { b: { c: Array.from({ length: 300 }, (_, at) => ({ at, text: 'x'.repeat(20) })) } } }],
    ['many names', many],
    ['one very long name', { [long]: 1 }],
    ['a hundred long texts', Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`n${at}`, long]))],
    ['numbers', { at: Array.from({ length: 5000 }, (_, at) => at) }],
  ];
  for (const [what, args] of cases)
    for (const most of [600, 75])
      it(`is an object still, and short: ${what}, ${most}`, () => {
        const text = JSON.stringify(short(args, most));
        assert.ok(text.length <= most * 2 + 100, `${text.length} characters`);
        const back = JSON.parse(text);
        assert.ok(typeof back === 'object' && back !== null && !Array.isArray(back));
      });

  it('what was no JSON is cut as the text that it is', () => {
    const { malformed, cut } = truncateToolCall({ id: 'a', name: 'x', arguments: {}, malformed: long }, 600);
    assert.ok(malformed!.length < 700 && cut);
  });

  it('a name that objects have by themselves is a name like any other', () => {
    const args = JSON.parse(`{"__proto__": ${JSON.stringify(long)}, "path": "a"}`);
    assert.deepEqual(Object.keys(short(args)), ['__proto__', 'path']);
  });
});
