import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fetchServerPrompt, serverPrompts } from '../../../src/tools/mcp/prompts.ts';
import { eventually } from '../../support/eventually.ts';
import { closeAll, inside, node, type Talk, talk } from './talk.ts';

const script = path.join(import.meta.dirname, '../../support/mcp/answers.mjs');
const open: Server[] = [];

afterEach(async () => {
  await closeAll();
  for (const server of open.splice(0)) server.close();
});

const schema = { type: 'object', properties: { text: { type: 'string' } } };
const work = { name: 'work', description: 'Works.', inputSchema: schema };
const other = { name: 'other', inputSchema: schema };
const file = (t: Talk) => inside(t.workspace, 'answers.json');
const list = (t: Talk, ...tools: unknown[]) =>
  writeFileSync(file(t), JSON.stringify({ 'tools/list': { result: { tools, nextCursor: null } } }));

describe('MCP: what the user allowed, and lists that are read item by item', () => {
  /** What is asked in another window, once the server lists these tools. */
  async function askedLater(before: unknown[], after: unknown[]) {
    const t = await talk({});
    list(t, ...before);
    t.configure({ servers: { s: node(script, file(t)) } });
    await t.prepare();
    list(t, ...after);
    const later = await t.again();
    await later.prepare();
    const { servers, tools } = later.asked;
    const names = tools.flatMap(({ added, changed, removed }) => [
      ...added.map(({ name }) => `new ${name}`),
      ...changed.map(({ now }) => `changed ${now.name}`),
      ...removed.map(({ name }) => `gone ${name}`),
    ]);
    return { servers: servers.length, names, tools: later.names().filter((name) => name.startsWith('mcp.s.')) };
  }
  const all = ['mcp.s.work', 'mcp.s.other'];
  const cases: [what: string, before: unknown[], after: unknown[], names: string[], tools: string[]][] = [
    ['nothing changes', [work, other], [work, other], [], all],
    ['what was absent is null', [work, other], [{ ...work, title: null, annotations: null }, other], [], all],
    ['what was null is absent', [{ ...work, title: null, annotations: null }, other], [work, other], [], all],
    ['nulls stay', [{ ...work, title: null }, other], [{ ...work, title: null }, other], [], all],
    ['an odd tool comes', [work], [work, { name: 7 }], [], ['mcp.s.work']],
    ['an odd tool stays', [work, { name: 7 }], [work, { name: 7 }], [], ['mcp.s.work']],
    ['a tool becomes odd, and the others are not asked about', [work, other], [work, { ...other, inputSchema: [] }], [], ['mcp.s.work']],
    ['a description changes beside an odd tool', [work, { name: 7 }], [{ ...work, description: 'Else.' }, { name: 7 }], ['changed work'], ['mcp.s.work']],
    ['a description changes and there are nulls', [work], [{ ...work, description: 'Else.', title: null }], ['changed work'], ['mcp.s.work']],
    ['a claim to only read comes', [work], [{ ...work, annotations: { readOnlyHint: true, title: null } }], ['changed work'], ['mcp.s.work']],
  ]; // biome-ignore format: a table
  for (const [what, before, after, names, tools] of cases)
    it(`${what}`, async () => {
      assert.deepEqual(await askedLater(before, after), { servers: 0, names, tools });
    });

  const noLists: [what: string, answer: object, why: string][] = [
    ['no list', { result: { tools: 'work' } }, 'the answer is not a list'],
    ['nothing', { result: {} }, 'the answer is not a list'],
    ['an error', { error: { message: 'Not today.' } }, 'it says: Not today'],
  ];
  for (const [what, answer, why] of noLists)
    it(`${what} in place of the list is told in one sentence`, async () => {
      const t = await talk({});
      writeFileSync(file(t), JSON.stringify({ 'tools/list': answer }));
      t.configure({ servers: { s: node(script, file(t)) } });
      await t.prepare();
      const problem = `The MCP server "s" did not list its tools: ${why}.`;
      assert.deepEqual(t.server('s').state, { phase: 'failed', problem });
    });

  it('a notification with what may be left out is taken', async () => {
    const t = await talk({});
    const params = { level: 'info', logger: null, data: 'kept', _meta: null };
    const before = [
      { method: 'notifications/message', params },
      { method: 'notifications/message', params: null },
    ];
    writeFileSync(file(t), JSON.stringify({ 'tools/call': { before } }));
    t.configure({ servers: { s: node(script, file(t)) } });
    await t.prepare();
    assert.deepEqual(await t.call('mcp.s.work'), { ok: true, data: { text: 'done' } });
    await eventually('it is logged', () => t.logged.includes('s: info: kept'));
  });

  it('a prompt with what may be left out is offered, and one that does not fit is named', async () => {
    const t = await talk({});
    const inputs = [{ name: 'topic', description: null, required: null }];
    const prompts = [
      { name: 'ask', description: null, arguments: inputs },
      { name: 'all', arguments: null },
      { name: 7 },
    ];
    const messages = [
      { role: 'user', content: { type: 'text', text: 'one', annotations: null } },
      { role: null, content: 'two' },
      { role: 'user', content: { type: 'text', text: null } },
      { role: 'user', content: [{ type: 'text', text: 'three' }] },
    ];
    const answers = {
      'prompts/list': { result: { prompts, nextCursor: null } },
      'prompts/get': { result: { messages } },
    };
    writeFileSync(file(t), JSON.stringify(answers));
    t.configure({ servers: { s: node(script, file(t)) } });
    await t.prepare();
    const { signal } = new AbortController();
    const offered = await serverPrompts(t.servers.servers, signal);
    assert.deepEqual(
      offered.map(({ name, inputs }) => [name, inputs]),
      [
        ['ask', [{ name: 'topic', asks: 'topic', needed: false }]],
        ['all', []],
      ],
    );
    assert.deepEqual(t.server('s').leftOut, [{ kind: 'prompts', names: ['7'], of: 3 }]);
    const { text } = await fetchServerPrompt(offered[0]!, {}, signal);
    assert.equal(text, 'one\ntwo\n[left out: a part of type "text" that does not fit the protocol]\nthree');
  });

  it('a claim that is no boolean is none: the tool of a trusted server is asked about', async () => {
    const t = await talk({});
    t.person.approveServer = async () => 'trust';
    list(t, { ...work, annotations: { readOnlyHint: 'true' } });
    t.configure({ servers: { s: node(script, file(t)) } });
    await t.prepare();
    assert.ok((await t.call('mcp.s.work')).ok);
    assert.equal(t.asked.calls.length, 1);
  });
});

describe('MCP over HTTP: messages with what may be left out', () => {
  const answers = (call: (id: number) => object, asEvents: boolean): RequestListener =>
    async function answer(request, response) {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      let text = '';
      for await (const piece of request.setEncoding('utf8')) text += piece;
      const { id, method, params } = JSON.parse(text);
      if (id === undefined) return void response.writeHead(202).end();
      const serverInfo = { name: 'far', version: null };
      const greeting = {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo,
        instructions: null,
      };
      const rest =
        method === 'initialize' ? { result: greeting } : { result: { tools: [work, { name: 7 }], _meta: null } };
      const message = JSON.stringify({
        jsonrpc: '2.0',
        id,
        ...(method === 'tools/call' ? call(id) : { ...rest, error: null }),
      });
      if (!asEvents) return void response.setHeader('content-type', 'application/json').end(message);
      response.setHeader('content-type', 'text/event-stream');
      const half = Math.floor(message.length / 2);
      response.write(`: hello\r\n\r\nid: 1\r\ndata: ${message.slice(0, half)}`);
      setImmediate(() => response.end(`${message.slice(half)}\r\n\r\n`));
    };
  const cases: [what: string, call: () => object, outcome: RegExp][] = [
    ['a result', () => ({ result: { content: [{ type: 'text', text: 'done', annotations: null }], isError: null } }), /"text":"done"/],
    ['an error without a code', () => ({ error: { message: 'not today' }, result: null }), /says: not today"/],
    ['an error of its own form', () => ({ error: 'not today' }), /says: not today"/],
    ['line ends in a text', () => ({ result: { content: [{ type: 'text', text: 'one\r\ntwo\u2028three' }], _meta: null } }), /one\\ntwo/],
  ]; // biome-ignore format: a table
  for (const asEvents of [false, true])
    for (const [what, call, outcome] of cases)
      it(`${what}, ${asEvents ? 'as an event' : 'as JSON'}`, async () => {
        const server = createServer(answers(call, asEvents));
        open.push(server);
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        const t = await talk({
          servers: { far: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` } },
        });
        await t.prepare();
        assert.deepEqual(t.server('far').state, { phase: 'running' });
        assert.deepEqual(t.server('far').leftOut, [{ kind: 'tools', names: ['7'], of: 2 }]);
        assert.match(JSON.stringify(await t.call('mcp.far.work')), outcome);
        assert.deepEqual(t.server('far').state, { phase: 'running' });
      });
});
