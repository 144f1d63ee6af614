import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { defaultApprovalPolicy } from '../../../src/protocol/content/policy.ts';
import type { PermissionRule } from '../../../src/protocol/content/rule.ts';
import { alwaysAllowRuleChoices } from '../../../src/tools/policy/rules.ts';
import { faultyServer } from '../../support/mcp/servers.ts';
import { closeAll, inside, node, type Talk, talk } from './talk.ts';

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

  const ruled: [rule: PermissionRule, decision: 'asked' | 'free' | 'denied'][] = [
    [{ effect: 'deny', tool: 'mcp.farm.tool_7' }, 'denied'],
    [{ effect: 'deny', tool: 'mcp.farm.*' }, 'denied'],
    [{ effect: 'deny', tool: 'mcp.call_tool' }, 'denied'],
    [{ effect: 'deny', tool: 'mcp.farm.tool_8' }, 'free'],
    [{ effect: 'ask', tool: 'mcp.farm.tool_7' }, 'asked'],
    [{ effect: 'ask', tool: 'mcp.call_tool' }, 'asked'],
  ];
  for (const [rule, decision] of ruled)
    it(`a rule to ${rule.effect} ${rule.tool}: tool_7 is ${decision} on autopilot`, async () => {
      t.policy = { ...defaultApprovalPolicy, preset: 'autopilot', rules: [{ scope: 'user', ...rule }] };
      const outcome = await t.call('mcp.call_tool', { tool: 'mcp.farm.tool_7', arguments: {} });
      assert.equal(outcome.ok, decision !== 'denied');
      assert.equal(t.asked.calls.length, decision === 'asked' ? 1 : 0);
    });

  it('a rule to allow is for the tool that was found, not for all of them', async () => {
    const call = { id: 'x', name: 'mcp.call_tool', arguments: { tool: 'mcp.farm.tool_7', arguments: {} } };
    await t.call(call.name, call.arguments);
    const [rules] = alwaysAllowRuleChoices({ call, plan: t.asked.calls[0]!.plan });
    assert.deepEqual(
      rules!.map(({ tool }) => tool),
      ['mcp.farm.tool_7'],
    );
    t.policy = { ...defaultApprovalPolicy, rules: rules!.map((rule) => ({ scope: 'user', ...rule })) };
    await t.call(call.name, call.arguments);
    assert.equal(t.asked.calls.length, 1);
    t.policy = { ...defaultApprovalPolicy, rules: [{ scope: 'user', effect: 'allow', tool: 'mcp.call_tool' }] };
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

describe('MCP: words that are longer than the prompt has room for', () => {
  const rules = `Ends with its rules: never call it twice.`;
  const long = `Begins. ${'It goes on. '.repeat(400)}${rules}`;
  const hint = 'An argument. '.repeat(60).trim();
  const listed = [
    { name: 'scrape', description: long, inputSchema: { type: 'object', properties: { url: { type: 'string', description: hint } } } },
    { name: 'short', description: 'Is short.', inputSchema: { type: 'object', properties: {} } },
  ]; // biome-ignore format: one a line
  const offering = async (tools: object[]) => {
    const t = await talk({});
    const file = inside(t.workspace, 'tools.json');
    writeFileSync(file, JSON.stringify(tools));
    t.configure({ servers: { fire: node(faultyServer, 'listed', file) } });
    await t.prepare();
    return t;
  };

  it('are told with both of their ends, and whole by the name of the tool, as it is known here or on a wire', async () => {
    const t = await offering(listed);
    assert.deepEqual(t.names(), ['mcp.fire.scrape', 'mcp.fire.short', 'mcp.search_tools']);
    const [scrape] = t.host.getVisibleTools({ agentId: 'default' });
    assert.equal(scrape!.description.length, 2000);
    assert.match(scrape!.description, /^Begins\..*mcp\.search_tools with this tool's name.*never call it twice\.$/);
    for (const query of ['mcp.fire.scrape', ' mcp_fire_scrape ']) {
      const outcome = await t.call('mcp.search_tools', { query });
      const parameters = { type: 'object', properties: { url: { type: 'string', description: hint } } };
      const tools = [{ name: 'mcp.fire.scrape', description: long, parameters }];
      assert.deepEqual(outcome, { ok: true, data: { tools } });
    }
    assert.equal(t.asked.calls.length, 0);
  });

  it('are longer for a model with a large window', async () => {
    const t = await offering([
      { ...listed[0], description: `${'x'.repeat(2890)} end` },
      { ...listed[0], name: 'longer' },
    ]);
    const lengths = (contextWindow?: number) =>
      t.host.getVisibleTools({ agentId: 'default', contextWindow }).map(({ description }) => description.length);
    assert.deepEqual(lengths(200_000).slice(0, 2), [2894, 3000]);
    assert.deepEqual(lengths(32_000).slice(0, 2), [1999, 2000]);
    assert.deepEqual(lengths().slice(0, 2), [1999, 2000]);
  });

  it('are found by what stands in the part that the prompt leaves out', async () => {
    const middle = [{ ...listed[0], description: long.replace('goes on', 'waters gardens') }, listed[1]!];
    const t = await offering(middle);
    const outcome = await t.call('mcp.search_tools', { query: 'gardens' });
    const { tools } = (outcome as { data: { tools: { name: string; description: string }[] } }).data;
    assert.deepEqual(
      tools.map(({ name, description }) => [name, description.length]),
      [['mcp.fire.scrape', 2000]],
    );
  });

  it('are whole for a tool behind the search, too', async () => {
    const many = Array.from({ length: 21 }, (_, at) => ({ ...listed[1], name: `short_${at}` }));
    const t = await offering([...many, listed[0]!]);
    const outcome = await t.call('mcp.search_tools', { query: 'mcp.fire.scrape' });
    assert.ok(JSON.stringify(outcome).includes(long));
  });

  it('where nothing is left out, there is no search', async () => {
    const t = await offering([listed[1]!]);
    assert.deepEqual(t.names(), ['mcp.fire.short']);
  });

  it('the search costs less than 250 characters', async () => {
    const t = await offering(listed);
    const search = t.host.getVisibleTools({ agentId: 'default' }).at(-1);
    assert.ok(JSON.stringify(search).length < 250, JSON.stringify(search));
  });
});
