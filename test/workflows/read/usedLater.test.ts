import assert from 'node:assert/strict';
import { resultFieldsReadLater } from '../../../src/workflows/read/usedLater.ts';
import { loadWorkflow } from '../../../src/workflows/read/validate.ts';
import { toolNames } from '../stage.ts';

const load = (yaml: string) => {
  const { value, problems } = loadWorkflow(yaml, { tools: [...toolNames, 'mcp.ship.it'] });
  assert.deepEqual(problems, []);
  return value!;
};
const check = (yaml: string, node: string, step: number, expected: string[], others: Record<string, string> = {}) => {
  const workflows = new Map(Object.entries(others).map(([name, text]) => [name, load(text)]));
  assert.deepEqual(resultFieldsReadLater(load(yaml), workflows, node, step), expected);
};

describe('names that a workflow reads of the result of a step', () => {
  const next = (value: string) => `  - {name: next, uses: state.set, with: {x: "${value}"}}\n`;
  const deploy = (output: string) => `nodes:\n  - {name: deploy, uses: mcp.ship.it, with: {a: 1}${output}}\n`;

  it('under the key that its file gives it', () =>
    check(`${deploy(', output: d')}${next('{{ state.d.version }} {{ d.url }} {{ state.other }}')}`, 'deploy', 0, [
      'version',
      'url',
    ]));

  it('in conditions, and whole', () =>
    check(
      `${deploy(', output: d, goto: [{if: state.d.ok, to: next}, {to: next}]')}${next('{{ state.d }}')}`,
      'deploy',
      0,
      ['ok', 'd'],
    ));

  it('in the map of its own output', () =>
    check(`${deploy(', output: {v: "{{ result.version }}"}')}${next('{{ state.v.url }}')}`, 'deploy', 0, ['version']));

  it('without an output, what its action gives', () =>
    check(
      `nodes:\n  - {name: deploy, uses: shell.run, with: {command: "echo {{ state.exitCode }}"}}\n${next('{{ state.exitCode }} {{ state.input }}')}`,
      'deploy',
      0,
      ['exitCode'],
    ));

  it('of the step that is meant, of several', () =>
    check(
      `nodes:\n  - name: deploy\n    steps: [{uses: shell.run, with: {command: a}, output: a}, {uses: shell.run, with: {command: "b {{ state.a.output | quote }}"}, output: b}]\n${next('{{ state.b.exitCode }}')}`,
      'deploy',
      0,
      ['output'],
    ));

  it('in another workflow', () =>
    check('nodes: [{name: outer, uses: workflow.run, with: {workflow: inner}}]', 'outer/deploy', 0, ['version'], {
      inner: `${deploy(', output: d')}${next('{{ state.d.version }}')}`,
    }));

  it('not where the node is gone from the file', () => check(deploy(''), 'gone', 0, []));
});
