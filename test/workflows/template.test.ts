import assert from 'node:assert/strict';
import { expressionProblem, holds, render } from '../../src/workflows/template.ts';

const state = { name: 'Ann', list: [1, 2], deep: { key: 'v' }, no: 'no', json: '{"a": [1]}', n: 3, empty: [] };
const scope = { state, variables: { base: 'http://x' }, ...state };

describe('a template', () => {
  const cases: [text: string, value: unknown][] = [
    ['plain', 'plain'],
    ['{{ state.name }}', 'Ann'],
    ['Hello {{ state.name | upper }}!', 'Hello ANN!'],
    ['{{ state.list }}', [1, 2]],
    ['  {{ state.deep }}\n', { key: 'v' }],
    ['{{ state["deep"].key }}', 'v'],
    ['{{ state.get("n") + 1 }}', 4],
    ['{{ state.none }}', null],
    ['{{ state.none | default("d") }}', 'd'],
    ['{{ state.json | fromjson }}', { a: [1] }],
    ['{{ (state.json | fromjson).a | first }}', 1],
    ['{{ state.deep | json }}', '{"key": "v"}'],
    ['{{ "abcdefgh" | truncate(5) }}', 'ab...'],
    ['{{ "" | sha256 }}', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['{% for one in state.list %}{{ loop.index }}:{{ one }} {% endfor %}', '1:1 2:2 '],
    ['{{ "yes" if state.n > 2 else "no" }}', 'yes'],
    ['{{ len(state.list) }} at {{ variables.base }}', '2 at http://x'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shells write it so, and templates leave it alone
    ['echo ${HOME}', 'echo ${HOME}'],
    ['{{ state.constructor }}', null],
    ['{{ state.name.constructor }}', null],
  ];
  for (const [text, value] of cases)
    it(`${text} → ${JSON.stringify(value)}`, () => assert.deepEqual(render(text, scope), value));

  const wrong: [text: string, message: string][] = [
    [
      '{{ state.n + state.none }}',
      '`{{ state.n + state.none }}` cannot be filled in: Cannot perform operation + on undefined values.',
    ],
    [
      '{{ state.name | fromjson }}',
      '`{{ state.name | fromjson }}` cannot be filled in: Unexpected token \'A\', "Ann" is not valid JSON.',
    ],
    [
      `Hello ${'dear '.repeat(20)}{{ state.none.upper() }}`,
      `\`Hello ${'dear '.repeat(14)}dea…\` cannot be filled in: Cannot call something that is not a function: got UndefinedValue.`,
    ],
  ];
  for (const [text, message] of wrong)
    it(`says which one cannot be filled in: ${text.slice(0, 30)}`, () =>
      assert.throws(() => render(text, scope), { message }));

  it('says which words to use', () =>
    assert.equal(
      expressionProblem('state.a && state.b'),
      'This is not a Jinja template (Unexpected character: &). Write `and`, `or`.',
    ));

  const grown = 'namespace(x="aaaaaaaaaa")';
  const endless: [name: string, text: string, message: RegExp][] = [
    ['loops', '{% for i in range(9000) %}{% for j in range(9000) %}{% endfor %}{% endfor %}', /more than (300000 steps|1 s)/],
    ['doubling', `{% set n = ${grown} %}{% for i in range(40) %}{% set n.x = n.x ~ n.x %}{% endfor %}`, /5000000 characters/],
    ['replacing', `{% set n = ${grown} %}{% for i in range(9) %}{% set n.x = n.x | replace("a", n.x) %}{% endfor %}`, /5000000 characters/],
  ]; // biome-ignore format: a table
  for (const [name, text, message] of endless)
    it(`${name} without an end: refused`, () => assert.throws(() => render(text, scope), message));

  it('has a time limit beside the steps, which may be long ones', () => {
    const { now } = performance;
    let ms = 0;
    performance.now = () => {
      ms += 300;
      return ms;
    };
    try {
      assert.throws(() => render('{{ 1 + 2 * 3 - 4 }}', scope), { message: 'This template takes more than 1 s.' });
      assert.equal(render('{{ 1 }}', scope), 1);
    } finally {
      performance.now = now;
    }
  });

  const size = 250_000;
  const of = (piece: string) => piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
  const tooDeep =
    /levels deep|at most 200 operators|at most 20000 characters|at most 500 blanks|not a Jinja template|Python/;
  const hostile: [name: string, text: string][] = [
    ['braces that are never closed', of('{{')],
    ['a lambda after braces that are never closed', `${of('{{')} lambda`],
    ['blocks that are never closed', of('{%')],
    ['brackets', `{{ ${'('.repeat(5000)}1${')'.repeat(5000)} }}`],
    ['lists', `{{ ${'['.repeat(900)}${']'.repeat(900)} }}`],
    ['blocks in blocks', `${'{% if 1 %}'.repeat(60)}${'{% endif %}'.repeat(60)}`],
    ['blocks that end as others', '{% if 1 %}{% endfor %}'.repeat(60)],
    ['one elif after the other', `{% if 1 %}${'{% elif 1 %}'.repeat(60)}{% endif %}`],
    ['not not', `{{ ${'not '.repeat(4000)}1 }}`],
    ['signs', `{{ ${'- '.repeat(4000)}x }}`],
    ['a long sum', `{{ 1${' + 1'.repeat(4000)} }}`],
    ['filters', `{{ x${' | trim'.repeat(2000)} }}`],
    ['members', `{{ x${'.a'.repeat(4000)} }}`],
    ['calls of calls', `{{ x${'()'.repeat(4000)} }}`],
    ['else, else', `{{ 1${' if 1 else 1'.repeat(1000)} }}`],
    ['blanks', `x${of(' ')}{{ 1 }}`],
    ['a long expression', `{{ [${'1,'.repeat(20_000)}] }}`],
    ['a text that seems to end it', `{{ "}}" ${'+ 1 '.repeat(10_000)} }}`],
  ];
  for (const [name, text] of hostile)
    it(`of ${name} is refused before anything goes down into it`, () => {
      assert.match(expressionProblem(text) ?? '', tooDeep);
      assert.throws(() => render(text, scope), { message: tooDeep });
    });

  it('does not go down into what a model gave it', () =>
    assert.throws(
      () => render('{{ text | fromjson }}', { text: '['.repeat(100_000) }),
      /nested more than 50 levels deep/,
    ));

  it('may be as long as people write them', () => {
    const names = Array.from({ length: 500 }, (_, index) => `"name ${index}"`);
    assert.equal(render(`{{ [${names.join(', ')}] | length }}`, scope), 500);
    assert.equal(render(`${'word '.repeat(20_000)}{{ state.n }}`, scope), `${'word '.repeat(20_000)}3`);
    const deep = `${'{% if state.n %}'.repeat(20)}yes${'{% endif %}'.repeat(20)}`;
    assert.equal(render(deep, scope), 'yes');
    assert.equal(render(`{{ ${Array.from({ length: 90 }, () => 'state.n').join(' + ')} }}`, scope), 270);
  });

  it('cannot count without an end', () =>
    assert.throws(() => render('{% for x in range(1000000000) %}{% endfor %}', scope), /at most 10000/));
});

describe('a condition', () => {
  const cases: [condition: string | boolean, holds: boolean][] = [
    [true, true],
    ['state.n > 2', true],
    ["state['n'] == 3 and not state.none", true],
    ['{{ state.n > 5 }}', false],
    ['state.list', true],
    ['state.empty', false],
    ['state.no', false],
    ['!name', false],
    ['!nothing', true],
    ['state.none > 2', false],
    ['state.n != 3', false],
    ["'n' in state.name", true],
    ['state.get("missing", 7) > 6', true],
    ['state.name is defined and state.none is not defined', true],
    ['state.flag == True', false],
  ];
  for (const [condition, expected] of cases)
    it(`${condition} → ${expected}`, () => assert.equal(holds(condition, scope), expected));
});
