import assert from 'node:assert/strict';
import { toEnglishText } from '../../../src/protocol/text/l10n.ts';
import type { LocalizableText } from '../../../src/protocol/text/localized.ts';
import {
  evaluateCondition,
  evaluateTemplateExpression,
  expressionProblem,
  renderTemplate,
  templateProblem,
} from '../../../src/workflows/template/template.ts';

const state = { name: 'Ann', list: [1, 2], deep: { key: 'v' }, no: 'no', json: '{"a": [1]}', n: 3, empty: [] };
const scope = { state, variables: { base: 'http://x' }, ...state };

// Holds templates-come-from-files.
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
    ['{{ "Stop at a word’s end" | truncate(12, leeway=0) }}', 'Stop at...'],
    ['{{ "Stop at a word’s end" | truncate(12, true, "…", 0) }}', 'Stop at a w…'],
    ['{{ "as long as it is" | truncate(12) }}', 'as long as it is'],
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
    it(`${text} → ${JSON.stringify(value)}`, () => assert.deepEqual(renderTemplate(text, scope), value));

  const wrong: [text: string, message: string][] = [
    ['{{ state.n + state.none }}', '`{{ state.n + state.none }}` cannot be filled in: there is no `state.none`.'],
    [
      '{{ state.name | fromjson }}',
      '`{{ state.name | fromjson }}` cannot be filled in: Unexpected token \'A\', "Ann" is not valid JSON.',
    ],
    [
      `Hello ${'dear '.repeat(20)}{{ state.none.upper() }}`,
      `\`Hello ${'dear '.repeat(14)}dea…\` cannot be filled in: there is no \`state.none\`, so no \`upper\` of it.`,
    ],
  ];
  for (const [text, message] of wrong)
    it(`says which one cannot be filled in: ${text.slice(0, 30)}`, () =>
      assert.throws(() => renderTemplate(text, scope), { message }));

  it('says which words to use', () =>
    assert.equal(
      toEnglishText(expressionProblem('state.a && state.b') ?? ''),
      'This is not a Jinja template (Unexpected character: &). Write `and`, `or`.',
    ));

  const grown = 'namespace(x="aaaaaaaaaa")';
  const endless: [name: string, text: string, message: RegExp][] = [
    ['loops', '{% for i in range(9000) %}{% for j in range(9000) %}{% endfor %}{% endfor %}', /more than (300000 steps|1 s)/],
    ['doubling', `{% set n = ${grown} %}{% for i in range(40) %}{% set n.x = n.x ~ n.x %}{% endfor %}`, /5000000 characters|more than 1 s/],
    ['replacing', `{% set n = ${grown} %}{% for i in range(9) %}{% set n.x = n.x | replace("a", n.x) %}{% endfor %}`, /5000000 characters|more than 1 s/],
  ]; // biome-ignore format: a table
  for (const [name, text, message] of endless)
    it(`${name} without an end: refused`, () => assert.throws(() => renderTemplate(text, scope), message));

  it('has a time limit beside the steps, which may be long ones', () => {
    const { now } = performance;
    let ms = 0;
    performance.now = () => {
      ms += 300;
      return ms;
    };
    try {
      assert.throws(() => renderTemplate('{{ 1 + 2 * 3 - 4 }}', scope), {
        message: 'This template takes more than 1 s.',
      });
      assert.equal(renderTemplate('{{ 1 }}', scope), 1);
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
      assert.match(toEnglishText(expressionProblem(text) ?? ''), tooDeep);
      assert.throws(() => renderTemplate(text, scope), { message: tooDeep });
    });

  it('does not make a value of each character of a long text', () => {
    const text = 'é😀'.repeat(100_000);
    assert.equal(renderTemplate('{{ text | first }}{{ text | last }}', { text }), 'é😀');
    assert.throws(() => renderTemplate('{{ text | list }}', { text }), /more than 10000 characters cannot be iterated/);
  });

  it('does not go down into what a model gave it', () =>
    assert.throws(
      () => renderTemplate('{{ text | fromjson }}', { text: '['.repeat(100_000) }),
      /nested more than 50 levels deep/,
    ));

  it('may be as long as people write them', () => {
    const names = Array.from({ length: 500 }, (_, index) => `"name ${index}"`);
    assert.equal(renderTemplate(`{{ [${names.join(', ')}] | length }}`, scope), 500);
    assert.equal(renderTemplate(`${'word '.repeat(20_000)}{{ state.n }}`, scope), `${'word '.repeat(20_000)}3`);
    const deep = `${'{% if state.n %}'.repeat(20)}yes${'{% endif %}'.repeat(20)}`;
    assert.equal(renderTemplate(deep, scope), 'yes');
    assert.equal(renderTemplate(`{{ ${Array.from({ length: 90 }, () => 'state.n').join(' + ')} }}`, scope), 270);
  });

  it('cannot count without an end', () =>
    assert.throws(() => renderTemplate('{% for x in range(1000000000) %}{% endfor %}', scope), /at most 10000/));
});

describe('Jinja in a template', () => {
  const found = [
    { file: 'b.ts', severity: 2, tags: ['ui'] },
    { file: 'a.ts', severity: 5, tags: [] },
    { file: 'c.ts', severity: 2 },
  ];
  const values = { ...scope, state: { ...state, found, words: ['b', 'A', 'c'], prices: [1.5, 0.5], none: null } };
  const cases: [text: string, value: unknown][] = [
    ['{{ [3, 1, 2] | sum }} {{ state.prices | sum }} {{ [] | sum }}', '6 2.0 0'],
    ['{{ state.found | sum(attribute="severity") }}', 9],
    ['{{ [3, 1, 2] | min }} {{ [3, 1, 2] | max }} {{ state.words | max }}', '1 3 c'],
    ['{{ (state.found | max(attribute="severity")).file }}', 'a.ts'],
    ['{{ 2.5 | round }} {{ 3.5 | round }} {{ 2.345 | round(2) }} {{ 7 | round }}', '2.0 4.0 2.35 7.0'],
    ['{{ 2.1 | round(0, "ceil") }} {{ -2.1 | round(method="floor") | int }}', '3.0 -3'],
    ['{{ state.found | count }} {{ "two words" | wordcount }} {{ state.missing | d("d") }}', '3 2 d'],
    ['{{ state.found | selectattr("severity", "ge", 3) | map(attribute="file") | join(", ") }}', 'a.ts'],
    ['{{ state.found | rejectattr("tags") | list | length }}', 2],
    ['{{ state.words | map("upper") | join(" ") }}', 'B A C'],
    ['{{ [1, 2, 3, 4] | select("divisibleby", 2) | list }}', [2, 4]],
    ['{{ [0, 1, ""] | select | list }}', [1]],
    ['{% for severity, files in state.found | groupby("severity") %}{{ severity }}:{{ files | length }} {% endfor %}', '2:2 5:1 '],
    ['{{ state.found | join(" ", attribute="file") }} {{ [{"a": 1}] | join }}', 'b.ts a.ts c.ts {"a": 1}'],
    ['{{ state.empty | first }}', null],
    ['[{{ state.empty | last }}]', '[]'],
    ['{{ "abc" | first }}{{ "abc" | last }} {{ "abc" | list }}', 'ac ["a", "b", "c"]'],
    ['{{ state.empty | max }}', null],
    ['{{ "a b/c&d" | urlencode }} {{ {"q": "a b"} | urlencode }}', 'a%20b/c%26d q=a%20b'],
    ['{{ state.list | tojson(2) }}', '[\n  1,\n  2\n]'],
    ['{{ 6 is divisibleby(3) }} {{ 6 is not divisibleby(4) }} {{ state.n is sameas(3) }}', 'true true true'],
    ['{{ "b" is in(state.words) and 4 is gt(state.n) }}', true],
    ['{% macro line(file, mark="-") %}{{ mark }} {{ file }}{% endmacro %}{{ line("a") }}{{ line("b", mark="*") }}', '- a* b'],
    ['{% macro box() %}[{{ caller() }}]{% endmacro %}{% call box() %}in{% endcall %}', '[in]'],
    ['{{ state.gone.key | default("d") }} {{ state.gone.key is defined }}', 'd false'],
    ['{% if state.gone and state.gone.key %}yes{% else %}no{% endif %}', 'no'],
  ]; // biome-ignore format: a table
  for (const [text, value] of cases)
    it(`${text} → ${JSON.stringify(value)}`, () => assert.deepEqual(renderTemplate(text, values), value));

  const wrong: [text: string, why: string][] = [
    ['{{ state.gone.text }}', 'there is no `state.gone`, so no `text` of it.'],
    ['{{ state.none.text }}', '`state.none` is nothing (null), so no `text` of it.'],
    ['{{ state.gone | upper }}', 'there is no `state.gone`.'],
    ['{{ state.words | sum }}', '`sum` adds numbers, but there is a text ("b").'],
    ['{{ [1, "a"] | max }}', 'a text ("a") and a whole number (1) cannot be ordered.'],
    ['{{ len(state.gone) }}', 'there is no `state.gone`.'],
    ['{% for one in state.gone %}{{ one }}{% endfor %}', 'there is no `state.gone`.'],
    ['{{ state["gone"]["my text"] }}', 'there is no `state.gone`, so no `my text` of it.'],
    ['{{ state.get("gone").text }}', 'the value to search in is nothing (null), so no `text` of it.'],
    ['{{ state.gone.key is none }}', 'there is no `state.gone`, so no `key` of it.'],
    ['{{ "abc" | round }}', '`round` takes a number, not a text ("abc").'],
  ];
  for (const [text, why] of wrong)
    it(`${text}: ${why}`, () =>
      assert.throws(() => renderTemplate(text, values), { message: `\`${text}\` cannot be filled in: ${why}` }));

  const refused: [text: string, problem: RegExp][] = [
    ['{{ x | nope }}', /^There is no filter `nope`\. There are `abs`, .*`wordcount`\.$/],
    ['{{ x | lenght }}', /^There is no filter `lenght`\. Did you mean "length"\?/],
    ['{{ x | escape }}', /^There is no filter `escape`\./],
    ['{{ x | map("uper") }}', /^There is no filter `uper`\. Did you mean "upper"/],
    ['{{ x | select("od") }}', /^There is no test `od`\. Did you mean "odd"/],
    ['{{ x | selectattr("a", "bigger", 1) }}', /^There is no test `bigger`\./],
    ['{{ x is prime }}', /^There is no test `prime`\. There are `boolean`, /],
    ['{{ x is divisibleby }}', /^The test `divisibleby` takes a value: `is divisibleby\(…\)`\.$/],
    ['{{ x is odd(2) }}', /^The test `odd` takes no value: `is odd`\.$/],
    ['{{ x is divisibleby 3 }}', /in parentheses: `is divisibleby\(3\)`\.$/],
    ['{% raw %}{{ x }}{% endraw %}', /\(Unknown statement type: raw\)\. Write literal braces as text: `\{\{ "\{\{" \}\}`\.$/],
    ['{% include "x" %}', /There are `if`, `for`, `set`, `macro`, `call` and `filter`\.$/],
    ['{{ "%s" % x }}', /^`"…" % …` is Python, which Towpath does not run\. Use `~`/],
    ['{{ sum(x) }}', /^`sum\(\)` is Python, which Towpath does not run\. Use `\| sum` instead\.$/],
    ['{{ line(x) }}', /^`line\(\)` is Python/],
    ['{% filter nope %}x{% endfilter %}', /^`\{% filter nope %\}` is not supported/],
  ]; // biome-ignore format: a table
  for (const [text, problem] of refused)
    it(`is refused when it is loaded: ${text}`, () =>
      assert.match(toEnglishText(templateProblem(text) ?? ''), problem));

  it('tells what is empty because a map has no such key, and not what may be missing', () => {
    const told: string[] = [];
    const tell = (warning: LocalizableText) => void told.push(toEnglishText(warning));
    const result = { exitCode: 0, output: 'fine' };
    const say = (text: string) => renderTemplate(text, { state: { result } }, tell);
    assert.equal(say('Look: {{ state.result.stdout }}'), 'Look: ');
    assert.deepEqual(told.splice(0), [
      '`state.result.stdout` is empty: `state.result` has no `stdout`, only `exitCode`, `output`.',
    ]);
    for (const text of [
      '{{ state.result.stdout | default("") }}',
      '{% if state.result.stdout %}x{% endif %}',
      '{{ state.later }}',
      '{{ state.result.get("stdout") }}',
    ])
      say(text);
    assert.equal(evaluateCondition('state.result.stdout', { state: { result } }), false);
    assert.deepEqual(told, []);
    evaluateTemplateExpression('state.result.stdout', { state: { result } }, tell);
    assert.equal(told.length, 1);
  });
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
    ['state.empty == []', true],
    ['state.deep == {"key": "v"}', true],
    ['state.list != [1, 3]', true],
    ['state.none.key is not defined', true],
    ['state.none == "x"', false],
    ['state.n != 3', false],
    ["'n' in state.name", true],
    ['state.get("missing", 7) > 6', true],
    ['state.name is defined and state.none is not defined', true],
    ['state.flag == True', false],
  ];
  for (const [condition, expected] of cases)
    it(`${condition} → ${expected}`, () => assert.equal(evaluateCondition(condition, scope), expected));

  const open: [condition: string, why: string][] = [
    ['state.none > 2', 'there is no `state.none`.'],
    ['state.list[7] > 2', 'there is no `state.list[7]`.'],
    ['state.none.key == 2', 'there is no `state.none`, so no `key` of it.'],
    ['state.name >= 4', '`>=` cannot be combined with a text ("Ann") and a whole number (4).'],
    ['state.list | upper', 'the filter `upper` does not take a list in this form.'],
  ];
  for (const [condition, why] of open)
    it(`${condition} cannot be evaluated: ${why}`, () =>
      assert.throws(() => evaluateCondition(condition, scope), {
        message: `\`${condition}\` cannot be evaluated: ${why}`,
      }));
});
