import assert from 'node:assert/strict';
import { toEnglishText } from '../../../src/protocol/text/l10n.ts';
import { inputProblem, requiredWorkflowInputs } from '../../../src/workflows/plan/inputs.ts';
import { coerceToStateType, parseStateValueType, stateTypeMismatch } from '../../../src/workflows/plan/stateTypes.ts';
import { loadWorkflow } from '../../../src/workflows/read/validate.ts';
import { unsaid } from '../../support/unsaid.ts';
import { Stage, toolNames } from '../stage.ts';

describe('a type of the state', () => {
  const fits: [type: unknown, value: unknown][] = [
    ['str', 'a'],
    ['string', ''],
    ['int', 3],
    ['float', 3],
    ['number', 3.5],
    ['bool', false],
    ['list', []],
    ['list[str]', ['a']],
    ['List[int]', [1, 2]],
    ['dict', { a: 1 }],
    ['Dict[str, int]', { a: 1 }],
    ['object', {}],
    ['any', 'x'],
    ['Optional[int]', 3],
    ['int', null],
    ['Union[int, str]', 'x'],
    ['str | int', 3],
    ['Union[list[int], dict]', [1]],
    [null, 5],
    [['str'], ['a']],
    [{ type: 'str', description: 'A name' }, 'Ann'],
    [
      { type: 'dict', properties: { n: { type: 'int' } } },
      { n: 1, more: 'x' },
    ],
    [
      { name: 'str', age: 'int' },
      { name: 'Ann', age: 30 },
    ],
    [{ type: 'str', choices: ['a', 'b'] }, 'b'],
    [{ type: 'str', pattern: '[a-f]+$' }, 'abc'],
  ];
  for (const [type, value] of fits)
    it(`${JSON.stringify(type)} is ${JSON.stringify(value)}`, () =>
      assert.equal(stateTypeMismatch(parseStateValueType(type)!, value, 'k'), undefined));

  const wrong: [type: unknown, value: unknown, problem: string][] = [
    ['str', 3, '`k` must be `str`, not 3'],
    ['int', 3.5, '`k` must be `int`, not 3.5'],
    ['int', true, '`k` must be `int`, not true'],
    ['bool', 'true', '`k` must be `bool`, not "true"'],
    ['list', { a: 1 }, '`k` must be `list`, not {"a":1}'],
    ['dict', [1], '`k` must be `dict`, not [1]'],
    ['list[str]', ['a', 1], '`k[1]` must be `str`, not 1'],
    ['Optional[int]', 'x', '`k` must be `Optional[int]`, not "x"'],
    [{ type: 'dict', properties: { n: { type: 'int' } } }, { n: 'x' }, '`k.n` must be `int`, not "x"'],
    [{ type: 'dict', properties: { n: { type: 'int', required: true } } }, {}, '`k.n` is missing'],
    [{ type: 'int', min: 1 }, 0, '`k` must be at least 1, but is 0'],
    [{ type: 'float', max: 2 }, 2.5, '`k` must be at most 2, but is 2.5'],
    [{ type: 'str', min_length: 2 }, 'a', '`k` must have a length of at least 2, but has "a"'],
    [
      { type: 'list', items: { type: 'str', max_length: 1 } },
      ['ab'],
      '`k[0]` must have a length of at most 1, but has "ab"',
    ],
    [{ type: 'str', choices: ['a', 'b'] }, 'c', '`k` must be one of "a", "b", but is "c"'],
    [{ type: 'str', pattern: '[a-f]+$' }, 'xyz', '`k` must match [a-f]+$, but is "xyz"'],
    ['str', ['x'.repeat(80)], `\`k\` must be \`str\`, not ["${'x'.repeat(57)}…`],
  ];
  for (const [type, value, problem] of wrong)
    it(problem, () =>
      assert.equal(toEnglishText(stateTypeMismatch(parseStateValueType(type)!, value, 'k') ?? ''), problem),
    );

  for (const type of ['nmber', 'list[wrod]', 5, ['str', 'int'], { type: 'x' }, { a: 'wrod' }])
    it(`${JSON.stringify(type)} is none`, () => assert.equal(parseStateValueType(type), undefined));

  const texts: [type: string, text: string, value: unknown][] = [
    ['int', ' 42 ', 42],
    ['int', 'many', 'many'],
    ['float', '-1.5e2', -150],
    ['bool', 'Yes', true],
    ['bool', 'off', false],
    ['list', '[1, 2]', [1, 2]],
    ['list[str]', 'a, b', ['a', 'b']],
    ['list', '[1,', '[1,'],
    ['dict', '{"a": 1}', { a: 1 }],
    ['dict', 'a', 'a'],
    ['Optional[int]', '7', 7],
    ['str', '7', '7'],
    ['any', '7', '7'],
  ];
  for (const [type, text, value] of texts)
    it(`${type}: the text ${JSON.stringify(text)} is ${JSON.stringify(value)}`, () =>
      assert.deepEqual(coerceToStateType(parseStateValueType(type)!, text), value));
});

describe('what a run begins with', () => {
  let stage: Stage | undefined;
  afterEach(async () => {
    await stage?.end();
    stage = undefined;
  });
  const yaml = `
state_schema: {count: int, found: list, note: str}
input_schema:
  tags: {type: list, items: {type: str}, default: [a]}
  level: {type: int, required: true, min: 1, max: 5}
nodes:
  - {name: look, run: {type: expression, value: "state.count + state.level", output_key: sum}}
  - {name: tell, uses: state.set, with: {note: [1], found: [x]}}
`;
  const file = () => loadWorkflow(yaml, { tools: toolNames }).value!;

  it('is asked for, and what cannot be used is said at once', () => {
    assert.deepEqual(requiredWorkflowInputs(file()), ['count', 'level']);
    const said = (['count', 'level'] as const).map((key) =>
      ['x', '', '9', '3'].map((text) => inputProblem(file(), key, text)),
    );
    assert.deepEqual(said, [
      ['`count` must be `int`, not "x".', undefined, undefined, undefined],
      ['`level` must be `int`, not "x".', '`level` is required.', '`level` must be at most 5, but is 9.', undefined],
    ]);
  });

  it('is of the declared types, whatever was typed', async () => {
    stage = await Stage.of(yaml);
    assert.equal((await stage.start('go', { count: '2', level: '3' })).phase, 'Completed');
    assert.deepEqual(await stage.state(), { count: 2, level: 3, tags: ['a'], sum: 5, note: [1], found: ['x'] });
  });

  it('refuses to begin with what does not fit', async () => {
    stage = await Stage.of(yaml);
    assert.deepEqual(unsaid((await stage.start('go', { count: 'two', level: '3' })).error), {
      code: 'UNKNOWN',
      message: 'The run cannot start: `count` must be `int`, not "two".',
    });
    assert.deepEqual(stage.steps, []);
  });

  it('refuses to begin without what is needed', async () => {
    stage = await Stage.of(yaml);
    assert.equal(
      (await stage.start('go', { count: '1' })).error?.message,
      'The run cannot start: `level` is required.',
    );
  });

  it('a node that sets something else goes on, and the run says so', async () => {
    stage = await Stage.of(yaml);
    await stage.start('go', { count: '1', level: '1' });
    const { nodes } = (await stage.kept()).graph!;
    assert.deepEqual(nodes.tell!.warnings, ['`note` must be `str`, not [1] (`state_schema`).']);
    assert.equal(nodes.look!.warnings, undefined);
  });

  it('a value of the file that does not fit is told at its line', () => {
    const { value, warnings } = loadWorkflow('state_schema: {n: int}\ninitial_state:\n  n: many\nnodes: [{name: a}]', {
      tools: toolNames,
    });
    assert.ok(value);
    assert.deepEqual(
      warnings.map(({ line, column, message }) => `${line}:${column}: ${message}`),
      ['3:6: `n` must be `int`, not "many" (`state_schema`).'],
    );
  });
});
