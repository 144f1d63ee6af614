import assert from 'node:assert/strict';
import { defaultPolicy, type Rule } from '../../../src/protocol/policy.ts';
import { rulesFor } from '../../../src/tools/gate/rules.ts';
import { faultyServer } from '../../support/mcp/servers.ts';
import { closeAll, node, type Talk, talk } from './talk.ts';

afterEach(closeAll);

describe('MCP: more tools than fit', () => {
  let t: Talk;
  beforeEach(async () => {
    t = await talk({ servers: { farm: node(faultyServer, 'many') } });
    await t.prepare();
  });

  it('are found by what they do', async () => {
    assert.deepEqual(t.names(), ['mcp.search_tools', 'mcp.call_tool']);
    const outcome = await t.call('mcp.search_tools', { query: 'water a garden' });
    const schema = { type: 'object', properties: { text: { type: 'string' } } };
    assert.deepEqual(outcome, {
      ok: true,
      data: { tools: [{ name: 'mcp.farm.tool_7', description: 'Waters the garden.', parameters: schema }] },
    });
    assert.equal(t.asked.calls.length, 0);
  });

  it('are called through the very same gate: question, grant, no', async () => {
    t.answer = 'allow-run';
    const call = () => t.call('mcp.call_tool', { tool: 'mcp.farm.tool_7', arguments: { text: 'roses' } });
    assert.deepEqual(await call(), { ok: true, data: { text: 'tool_7: {"text":"roses"}' } });
    await call();
    await t.call('mcp.farm.tool_7', { text: 'tulips' });
    assert.deepEqual(
      t.asked.calls.map(({ plan }) => [plan.what, plan.details]),
      [['Use tool_7 of the MCP server farm', '{\n  "text": "roses"\n}']],
    );
    t.answer = 'deny';
    const denied = await t.call('mcp.call_tool', { tool: 'mcp.farm.tool_8', arguments: {} });
    assert.equal(!denied.ok && denied.error.code, 'TOOL_DENIED');
  });

  const ruled: [rule: Rule, decision: 'asked' | 'free' | 'denied'][] = [
    [{ effect: 'deny', tool: 'mcp.farm.tool_7' }, 'denied'],
    [{ effect: 'deny', tool: 'mcp.farm.*' }, 'denied'],
    [{ effect: 'deny', tool: 'mcp.call_tool' }, 'denied'],
    [{ effect: 'deny', tool: 'mcp.farm.tool_8' }, 'free'],
    [{ effect: 'ask', tool: 'mcp.farm.tool_7' }, 'asked'],
    [{ effect: 'ask', tool: 'mcp.call_tool' }, 'asked'],
  ];
  for (const [rule, decision] of ruled)
    it(`a rule to ${rule.effect} ${rule.tool}: tool_7 is ${decision} on autopilot`, async () => {
      t.policy = { ...defaultPolicy, preset: 'autopilot', rules: [{ scope: 'user', ...rule }] };
      const outcome = await t.call('mcp.call_tool', { tool: 'mcp.farm.tool_7', arguments: {} });
      assert.equal(outcome.ok, decision !== 'denied');
      assert.equal(t.asked.calls.length, decision === 'asked' ? 1 : 0);
    });

  it('a rule to allow is for the tool that was found, not for all of them', async () => {
    const call = { id: 'x', name: 'mcp.call_tool', arguments: { tool: 'mcp.farm.tool_7', arguments: {} } };
    await t.call(call.name, call.arguments);
    const [rules] = rulesFor({ call, plan: t.asked.calls[0]!.plan });
    assert.deepEqual(
      rules!.map(({ tool }) => tool),
      ['mcp.farm.tool_7'],
    );
    t.policy = { ...defaultPolicy, rules: rules!.map((rule) => ({ scope: 'user', ...rule })) };
    await t.call(call.name, call.arguments);
    assert.equal(t.asked.calls.length, 1);
    t.policy = { ...defaultPolicy, rules: [{ scope: 'user', effect: 'allow', tool: 'mcp.call_tool' }] };
    await t.call(call.name, call.arguments);
    assert.equal(t.asked.calls.length, 2);
  });

  const refused: [what: string, args: object, code: string, message: RegExp][] = [
    ['wrong arguments', { tool: 'mcp.farm.tool_7', arguments: { text: 1 } }, 'TOOL_ARGS_INVALID', /^text: must be string\. mcp\.farm\.tool_7 takes/],
    ['a tool that is not there', { tool: 'mcp.farm.tool_77', arguments: {} }, 'TOOL_NOT_AVAILABLE', /no tool "mcp\.farm\.tool_77"\. Did you mean/],
    ['a tool of ours', { tool: 'fs.write', arguments: {} }, 'TOOL_NOT_AVAILABLE', /no tool "fs\.write"/],
    ['itself', { tool: 'mcp.call_tool', arguments: {} }, 'TOOL_NOT_AVAILABLE', /no tool "mcp\.call_tool"/],
  ]; // biome-ignore format: a table
  for (const [what, args, code, message] of refused)
    it(`${what}: refused without a question`, async () => {
      const outcome = await t.call('mcp.call_tool', args);
      assert.ok(!outcome.ok);
      assert.equal(outcome.error.code, code);
      assert.match(outcome.error.message, message);
      assert.equal(t.asked.calls.length, 0);
    });

  it('the prompt has the same bytes every time', () => {
    const definitions = () => JSON.stringify(t.host.getVisibleTools({ agentId: 'default' }));
    assert.equal(definitions(), definitions());
    assert.ok(definitions().length < 800, definitions());
  });
});
