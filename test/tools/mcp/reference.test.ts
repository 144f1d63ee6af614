import assert from 'node:assert/strict';
import { everythingOverHttp, referenceServer } from '../../support/mcp/servers.ts';
import { closeAll, node, type Talk, talk } from './talk.ts';

afterEach(closeAll);

const dataOf = (outcome: Awaited<ReturnType<Talk['call']>>) => {
  if (!outcome.ok) assert.fail(JSON.stringify(outcome.error));
  return outcome.data as { text: string; [key: string]: unknown };
};

describe('MCP: the reference servers as child processes', () => {
  describe('everything', () => {
    let t: Talk;
    beforeEach(async () => {
      t = await talk({ servers: { everything: node(referenceServer('everything')) } });
      await t.prepare();
    });

    it('a tool is asked about with server, name and arguments, then run', async () => {
      assert.deepEqual(dataOf(await t.call('mcp.everything.echo', { message: 'hi' })), { text: 'Echo: hi' });
      const [{ plan }] = t.asked.calls as [(typeof t.asked.calls)[0]];
      const { run: _, origin, ...shown } = plan;
      assert.deepEqual(shown, {
        what: 'Use echo of the MCP server everything',
        title: 'Echo Tool',
        where: `${process.execPath} ${referenceServer('everything')}`,
        why: 'The server reports that this is read-only. Towpath cannot verify that.',
        details: '{\n  "message": "hi"\n}',
        grant: `mcp ${origin!.identity} ${origin!.definition}`,
      });
    });

    it('Allow for This Run covers the same tool, and no other', async () => {
      t.answer = 'allow-run';
      for (const name of ['echo', 'echo', 'get-sum'])
        await t.call(`mcp.everything.${name}`, { message: 'x', a: 1, b: 2 });
      assert.deepEqual(
        t.asked.calls.map(({ call }) => call.name),
        ['mcp.everything.echo', 'mcp.everything.get-sum'],
      );
    });

    it('a no is told, and nothing reaches the server', async () => {
      t.answer = 'deny';
      const outcome = await t.call('mcp.everything.echo', { message: 'hi' });
      assert.equal(!outcome.ok && outcome.error.code, 'TOOL_DENIED');
    });

    it('arguments are checked against the server’s schema before anybody is asked', async () => {
      const outcome = await t.call('mcp.everything.get-sum', { a: 'one' });
      assert.deepEqual(outcome, {
        ok: false,
        error: {
          code: 'TOOL_ARGS_INVALID',
          message: "must have required property 'b'. mcp.everything.get-sum takes {a: number, b: number}.",
        },
      });
      assert.deepEqual(t.asked.calls, []);
    });

    it('images are shown, sounds would be named; structured content and resources are passed on', async () => {
      const call = async (name: string, args = {}) => dataOf(await t.call(`mcp.everything.${name}`, args));
      const picture = await t.call('mcp.everything.get-tiny-image');
      assert.match(dataOf(picture).text, /\n\[image 1: image\/png, 4 kB\]\n/);
      const [image, ...more] = (picture.ok && picture.attachments) || [];
      assert.deepEqual([image?.mediaType, image?.name, more], ['image/png', 'image 1', []]);
      assert.ok(image?.data.startsWith('iVBORw0KGgo'), 'the bytes of a PNG');
      const weather = await call('get-structured-content', { location: 'New York' });
      assert.deepEqual(weather, { structured: { temperature: 33, conditions: 'Cloudy', humidity: 82 } });
      assert.match(
        (await call('get-resource-reference')).text,
        /\[resource demo:\/\/resource\/dynamic\/text\/1\]\nResource 1/,
      );
      assert.match(
        (await call('get-resource-links')).text,
        /\[resource Text Resource 2: demo:\S+ .*read it with mcp\.read_resource\]/,
      );
    });

    it('progress is shown in the card, and the open folders are told', async () => {
      const long = await t.call('mcp.everything.trigger-long-running-operation', { duration: 0.6, steps: 2 });
      assert.ok(long.ok);
      const output = t.events.flatMap((event) => (event.type === 'tool-output' ? [event.text] : []));
      assert.equal(output[0], '1 of 2\n');
      const roots = dataOf(await t.call('mcp.everything.get-roots-list'));
      assert.ok(roots.text.includes(`file://${t.workspace.root}`), roots.text);
    });

    it('resources are listed and read after a question', async () => {
      const list = dataOf(await t.call('mcp.read_resource', { server: 'everything' })) as unknown as {
        resources: { uri: string }[];
      };
      const { uri } = list.resources[0]!;
      assert.match(dataOf(await t.call('mcp.read_resource', { server: 'everything', uri })).text, /architecture/i);
      assert.deepEqual(
        t.asked.calls.map(({ plan }) => plan.what),
        ['List the resources of the MCP server everything', 'Read a resource of the MCP server everything'],
      );
    });
  });

  it('filesystem: what only reads runs without a question once that is trusted, what writes is asked about', async () => {
    const t = await talk({ servers: { files: node(referenceServer('filesystem'), '.') } });
    t.person.approveServer = async () => 'trust';
    await t.prepare();
    const path = `${t.workspace.root}/a.txt`;
    const { text } = dataOf(await t.call('mcp.files.read_text_file', { path }));
    assert.equal(text, 'one\n');
    assert.deepEqual(t.asked.calls, []);
    assert.ok((await t.call('mcp.files.write_file', { path, content: 'two\n' })).ok);
    assert.equal(t.asked.calls.length, 1);
    assert.equal(t.workspace.read('a.txt'), 'two\n');
  });

  it('memory: keeps what it is told', async () => {
    const file = 'memory.json';
    const t = await talk({
      servers: {
        // biome-ignore lint/suspicious/noTemplateCurlyInString: VS Code's own variable
        memory: { ...node(referenceServer('memory')), env: { MEMORY_FILE_PATH: '${workspaceFolder}/memory.json' } },
      },
    });
    await t.prepare();
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['pulls barges'] }];
    assert.ok((await t.call('mcp.memory.create_entities', { entities })).ok);
    assert.match(t.workspace.read(file), /pulls barges/);
    const { structured } = dataOf(await t.call('mcp.memory.search_nodes', { query: 'barges' }));
    assert.deepEqual((structured as { entities: unknown }).entities, entities);
  });
});

describe('MCP: the reference server over HTTP', () => {
  const cases = [
    ['streamable HTTP', 'streamableHttp', {}],
    ['SSE, found by falling back', 'sse', {}],
    ['SSE, as configured', 'sse', { type: 'sse' }],
  ] as const;
  for (const [what, transport, more] of cases)
    it(what, async () => {
      const server = await everythingOverHttp(transport);
      try {
        const t = await talk({ servers: { far: { url: server.url, ...more } } });
        await t.prepare();
        assert.deepEqual(t.server('far').state, { phase: 'running' });
        assert.deepEqual(dataOf(await t.call('mcp.far.echo', { message: 'hi' })), { text: 'Echo: hi' });
        await t.servers.close();
      } finally {
        server.close();
      }
    });

  it('a server that goes away is marked failed, and the call says so', async () => {
    const server = await everythingOverHttp('streamableHttp');
    const t = await talk({ servers: { far: { url: server.url } } });
    await t.prepare();
    server.close();
    const outcome = await t.call('mcp.far.echo', { message: 'hi' });
    assert.equal(!outcome.ok && outcome.error.code, 'TOOL_EXEC_FAILED');
    assert.equal(t.server('far').state.phase, 'failed');
  });
});
