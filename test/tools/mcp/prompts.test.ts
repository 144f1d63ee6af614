import assert from 'node:assert/strict';
import { fetchServerPrompt, serverPrompts } from '../../../src/tools/mcp/prompts.ts';
import { referenceServer } from '../../support/mcp/servers.ts';
import { closeAll, node, type Talk, talk } from './talk.ts';

afterEach(closeAll);

describe('MCP: prompts of a server', () => {
  const signal = new AbortController().signal;
  let t: Talk;
  beforeEach(async () => {
    t = await talk({ servers: { everything: node(referenceServer('everything')) } });
  });
  const prompts = () => serverPrompts(t.servers.servers, signal);

  it('are those of servers that run', async () => {
    assert.deepEqual(await prompts(), []);
    await t.prepare();
    const names = (await prompts()).map(({ name, inputs }) => [name, ...inputs.map((one) => one.name)].join(' '));
    assert.ok(
      names.some((one) => one.startsWith('simple') || one.startsWith('args')),
      names.join(', '),
    );
  });

  it('give their words, filled in', async () => {
    await t.prepare();
    const one = (await prompts()).find(({ inputs }) => inputs.some(({ needed }) => needed))!;
    const values = Object.fromEntries(one.inputs.map(({ name }) => [name, 'Paris']));
    const { text } = await fetchServerPrompt(one, values, signal);
    assert.match(text, /Paris/);
  });

  it('are none of a server that does not answer', async () => {
    await t.prepare();
    assert.deepEqual(await serverPrompts(t.servers.servers, AbortSignal.abort(new Error('late'))), []);
  });
});
