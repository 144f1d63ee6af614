import assert from 'node:assert/strict';
import {
  type ElicitationValue,
  elicitationContent,
  fieldProblem,
  parseElicitation,
  secretField,
} from '../../../../src/tools/mcp/elicitation/elicitationForm.ts';

const form = (properties: object, required: string[] = []) =>
  parseElicitation({ message: 'Please', requestedSchema: { type: 'object', properties, required } });

const fieldsOf = (properties: object, required?: string[]) => {
  const request = form(properties, required);
  return request?.mode === 'form' ? request.fields : assert.fail('no form');
};

describe('MCP: a form of a server', () => {
  const unusable: [what: string, params: object][] = [
    ['no message', { requestedSchema: { properties: {} } }],
    ['no schema', { message: 'x' }],
    ['an object in it', { message: 'x', requestedSchema: { properties: { a: { type: 'object' } } } }],
    ['a list without choices', { message: 'x', requestedSchema: { properties: { a: { type: 'array' } } } }],
    ['an address that is none', { message: 'x', mode: 'url', url: 'pay' }],
    ['an address of a program', { message: 'x', mode: 'url', url: 'vscode://install' }],
    ['an address that is not encrypted', { message: 'x', mode: 'url', url: 'http://pay.example/' }],
    ['another mode', { message: 'x', mode: 'voice' }],
    ['too many fields', { message: 'x', requestedSchema: { properties: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [i, { type: 'string' }])) } }],
  ]; // biome-ignore format: a table
  for (const [what, params] of unusable)
    it(`with ${what} is not shown`, () => assert.equal(parseElicitation(params as Record<string, unknown>), undefined));

  const titled = [{ const: 'r', title: 'Red' }, { const: 'b', title: 'Blue' }]; // biome-ignore format: a table
  const red = { value: 'r', label: 'Red' };
  const choices: [what: string, schema: object, expected: unknown][] = [
    ['values', { type: 'string', enum: ['r'] }, [{ value: 'r', label: 'r' }]],
    ['values with names', { type: 'string', enum: ['r'], enumNames: ['Red'] }, [red]],
    ['titled values', { type: 'string', oneOf: titled }, [red, { value: 'b', label: 'Blue' }]],
    ['several of them', { type: 'array', items: { anyOf: titled } }, [red, { value: 'b', label: 'Blue' }]],
  ];
  for (const [what, schema, expected] of choices)
    it(`offers ${what}`, () => assert.deepEqual(fieldsOf({ a: schema })[0]!.choices, expected));

  const values: [what: string, schema: object, value: ElicitationValue | undefined, problem: unknown][] = [
    ['a text', { type: 'string' }, 'x', undefined],
    ['a number for a text', { type: 'string' }, 1, { kind: 'type' }],
    ['too short', { type: 'string', minLength: 2 }, 'x', { kind: 'min', limit: 2 }],
    ['too long', { type: 'string', maxLength: 2 }, 'xyz', { kind: 'max', limit: 2 }],
    ['an address of mail', { type: 'string', format: 'email' }, 'a@b.example', undefined],
    ['no address of mail', { type: 'string', format: 'email' }, 'a b', { kind: 'format' }],
    ['a day that there is not', { type: 'string', format: 'date' }, '2026-13-01', { kind: 'format' }],
    ['an unknown format', { type: 'string', format: 'constructor' }, 'x', undefined],
    ['too large', { type: 'number', maximum: 2 }, 2.5, { kind: 'max', limit: 2 }],
    ['half of an integer', { type: 'integer' }, 2.5, { kind: 'type' }],
    ['no number', { type: 'number' }, Number.NaN, { kind: 'type' }],
    ['another choice', { type: 'string', enum: ['a'] }, 'b', { kind: 'choice' }],
    ['too few choices', { type: 'array', items: { enum: ['a', 'b'] }, minItems: 2 }, ['a'], { kind: 'min', limit: 2 }],
    ['several choices', { type: 'array', items: { enum: ['a', 'b'] } }, ['b', 'a'], undefined],
    ['nothing', { type: 'string' }, undefined, { kind: 'missing' }],
  ];
  for (const [what, schema, value, problem] of values)
    it(`checks ${what}`, () => assert.deepEqual(fieldProblem(fieldsOf({ a: schema }, ['a'])[0]!, value), problem));

  it('is completed with defaults that fit, and sent only whole', () => {
    const fields = fieldsOf(
      { a: { type: 'integer', default: 3 }, b: { type: 'boolean' }, c: { type: 'string', enum: ['x'], default: 'y' } },
      ['b'],
    );
    assert.deepEqual(elicitationContent(fields, { b: false }), { a: 3, b: false });
    assert.equal(elicitationContent(fields, {}), undefined);
  });

  const secrets: [name: string, schema: object, isSecret: boolean][] = [
    ['password', {}, true],
    ['userApiKey', {}, true],
    ['x', { title: 'Your access token' }, true],
    ['x', { description: 'The PIN of the card' }, true],
    ['x', { format: 'password' }, true],
    ['name', { title: 'Your name' }, false],
    ['spinner', { description: 'Which opinion?' }, false],
    ['keyboard', {}, false],
  ];
  for (const [name, schema, isSecret] of secrets)
    it(`${isSecret ? 'finds a secret in' : 'takes no secret from'} ${name} ${JSON.stringify(schema)}`, () =>
      assert.equal(secretField(fieldsOf({ [name]: { type: 'string', ...schema } })) !== undefined, isSecret));
});
