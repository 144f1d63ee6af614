import assert from 'node:assert/strict';
import { toolNames } from '../../../src/tools/definitions/definitions.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { type AgentAbility, repositoryAgentAbilities } from '../../../src/workflows/agents/agentAbilities.ts';

const abilities = (...allow: string[]) => repositoryAgentAbilities({ tools: { allow, deny: [] }, isReadOnly: false });
const effects: Readonly<Record<string, AgentAbility[]>> = { change: ['change'], execute: ['run', 'web'] };

describe('what an agent of a repository can do, as its user is told', () => {
  for (const { definition, risk } of builtinTools().filter((tool) => tool.risk !== 'read'))
    it(`names the effect of ${definition.name}`, () =>
      assert.ok(effects[risk]!.includes(abilities(definition.name)[0]!), abilities(definition.name).join()));

  it('names reading for the tools of the editor, too', () => {
    for (const name of toolNames().filter((one) => one.startsWith('code.')))
      assert.deepEqual(abilities(name), ['read']);
  });

  it('names nothing for questions and to-do lists', () => {
    assert.deepEqual(abilities('ask.person', 'plan.update'), []);
  });

  it('names servers, and everything without a list', () => {
    assert.deepEqual(abilities('mcp.tracker.*'), ['mcp']);
    const all = repositoryAgentAbilities({ tools: { deny: [] }, isReadOnly: false });
    assert.deepEqual(all, ['read', 'change', 'run', 'web', 'mcp']);
  });
});
