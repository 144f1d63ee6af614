import assert from 'node:assert/strict';
import { doctorServerFindings } from '../../../src/extension/doctor/serverFindings.ts';
import { faultyServer } from '../../support/mcp/servers.ts';
import { closeAll, node, talk } from '../../tools/mcp/talk.ts';

afterEach(closeAll);

describe('what Doctor says of MCP servers', () => {
  const examine = async (t: Awaited<ReturnType<typeof talk>>, signal = new AbortController().signal) =>
    (await doctorServerFindings(t.servers, signal, () => {})).map(({ level, text }) => `${level}: ${text}`);

  it('each with what it is: not allowed yet, running, failed with why, stopped by the person; nobody is asked', async () => {
    const servers = { good: node(faultyServer), bad: node(faultyServer, 'exits-at-once'), still: node(faultyServer) };
    const t = await talk({ servers });
    const unknown = ['good', 'bad', 'still'].map(
      (name) => `fact: ${name} (.vscode/mcp.json) is not allowed yet; the next run asks`,
    );
    assert.deepEqual(await examine(t), unknown);
    assert.deepEqual(t.asked.servers, []);

    await t.prepare();
    await t.servers.stop(t.server('still'));
    const asked = t.asked.servers.length;
    assert.deepEqual(await examine(t), [
      'ok: good (.vscode/mcp.json) runs, with 2 tools',
      'problem: The MCP server "bad" ended on its own (code 3).',
      'fact: still (.vscode/mcp.json) is stopped',
    ]);
    assert.equal(t.asked.servers.length, asked);
  });

  it('what is allowed and was not started in this window is started to see it', async () => {
    const before = await talk({ servers: { good: node(faultyServer) } });
    await before.prepare();
    const t = await before.again();
    assert.deepEqual(await examine(t), ['ok: good (.vscode/mcp.json) runs, with 2 tools']);
  });

  it('is stopped at once, and says how far it came', async () => {
    const before = await talk({ servers: { slow: node(faultyServer, 'hangs-at-initialize') } });
    before.limits.startMs = 1000;
    await before.prepare();
    const stop = new AbortController();
    const findings = examine(before, stop.signal);
    stop.abort();
    assert.equal((await findings).length, 1);
  });

  it('a configuration that is wrong, and none', async () => {
    const [finding] = await examine(await talk('{ "servers": '));
    assert.match(finding!, /^problem: /);
    assert.deepEqual(await examine(await talk({})), ['fact: None is configured, or the workspace is not trusted']);
  });
});
