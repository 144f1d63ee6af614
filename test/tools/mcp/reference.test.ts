import assert from 'node:assert/strict';
import { everythingOverHttp, referenceServer } from '../../support/mcp/servers.ts';
import { closeAll, node, type Talk, talk } from './talk.ts';

afterEach(closeAll);

const everything = { servers: { everything: node(referenceServer('everything')) } };
const textOf = (outcome: Awaited<ReturnType<Talk['call']>>) => {
  if (!outcome.ok) assert.fail(JSON.stringify(outcome.error));
  return (outcome.data as { text: string }).text;
};

describe('the reference servers, as child processes', () => {
  it('everything', async () => {
    const t = await talk(everything);
    await t.prepare();
    console.log(t.servers.problems, t.server('everything').state, t.logged, t.said, t.names());
    assert.equal(textOf(await t.call('mcp.everything.echo', { message: 'hi' })), 'Echo: hi');
    console.log(t.asked.tools.map((x) => [x.added.map((y) => y.name), x.changed.map((y) => y.name)]));
    await new Promise((r) => setTimeout(r, 1000));
    console.log(t.servers.waitingTools(t.server('everything')));
    for (const [name, args] of [
      ['get-tiny-image', {}],
      ['get-structured-content', { location: 'New York' }],
      ['get-resource-links', {}],
      ['get-resource-reference', {}],
      ['get-roots-list', {}],
      ['trigger-long-running-operation', { duration: 0.5, steps: 3 }],
      ['get-sum', { a: 1 }],
      ['get-annotated-message', { messageType: 'error', includeImage: true }],
    ] as const)
      console.log(name, JSON.stringify(await t.call(`mcp.everything.${name}`, args)));
    console.log(t.events.filter((e) => e.type === 'tool-output'));
    console.log(JSON.stringify(await t.call('mcp.read_resource', { server: 'everything' })).slice(0, 500));
  });
  for (const kind of ['streamableHttp', 'sse'] as const)
    it(kind, async () => {
      const s = await everythingOverHttp(kind);
      const t = await talk({ servers: { e: { url: s.url } } });
      await t.prepare();
      console.log(t.server('e').state, t.logged, t.names().length);
      assert.equal(textOf(await t.call('mcp.e.echo', { message: 'hi' })), 'Echo: hi');
      await t.close();
      s.close();
    });
});
