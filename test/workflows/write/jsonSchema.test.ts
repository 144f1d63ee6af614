import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { createWorkflowJsonSchemas } from '../../../src/workflows/write/jsonSchema.ts';

const ajv = new Ajv2020({ strict: false });
const { workflow, agent } = createWorkflowJsonSchemas();
const [isWorkflow, isAgent] = [ajv.compile(workflow), ajv.compile(agent)];
const templates = path.resolve(import.meta.dirname, '../../../src/workflows/templates');

describe('the JSON schema that editors complete and check with', () => {
  for (const name of readdirSync(templates))
    it(`knows every key of the template ${name}`, () => {
      isWorkflow(parse(readFileSync(path.join(templates, name), 'utf8')));
      assert.deepEqual(isWorkflow.errors, null);
    });

  const cases: [what: string, text: string, fits: boolean][] = [
    [
      'a key of the dialect’s other hosts',
      'version: 1\nsettings: {auto_trace: true}\nnodes: [{name: a, action: llm.chat}]',
      true,
    ],
    ['an edge to several nodes', 'nodes: [{name: a}]\nedges: [{from: a, to: [a, a], parallel: true}]', true],
    ['a key that is none', 'nodes: [{name: a, use: x}]', false],
    ['Python', 'nodes: [{name: a, run: "return {}"}]', false],
  ];
  for (const [what, text, fits] of cases)
    it(`${fits ? 'takes' : 'refuses'} ${what}`, () => assert.equal(isWorkflow(parse(text)), fits));

  it('refuses a policy of an agent that would widen', () => {
    assert.equal(isAgent({ instructions: 'x', approval: 'ask' }), true);
    assert.equal(isAgent({ instructions: 'x', approval: 'autopilot' }), false);
  });
});
