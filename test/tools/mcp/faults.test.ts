// biome-ignore-all lint/suspicious/noTemplateCurlyInString: as people write it in settings
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { eventually } from '../../support/eventually.ts';
import { faultyServer } from '../../support/mcp/servers.ts';
import { closeAll, inside, node, talk } from './talk.ts';

afterEach(closeAll);

const faulty = (...args: string[]) => ({ servers: { odd: node(faultyServer, ...args), good: node(faultyServer) } });
const restart = 'The person can start it again with "Towpath: MCP Servers…".';

describe('MCP: servers that fail (T25)', () => {
  const atStart: [fault: string, problem: string][] = [
    ['exits-at-once', 'ended on its own (code 3)'],
    ['hangs-at-initialize', 'did not start within 5 s'],
  ];
  for (const [fault, problem] of atStart)
    it(`at the start: ${fault}. It is marked failed, the others work`, async () => {
      const t = await talk(faulty(fault));
      t.limits.startMs = 5000; // the other one has to be there by then
      if (fault === 'exits-at-once') t.limits.startMs = 15_000;
      await t.prepare();
      assert.deepEqual(t.server('odd').state, { phase: 'failed', problem: `The MCP server "odd" ${problem}.` });
      assert.ok((await t.call('mcp.good.work', { text: 'x' })).ok);
    });

  it('whoever draws them fails: they start, work and are logged all the same', async () => {
    const t = await talk({ servers: { good: node(faultyServer) } });
    t.changed = () => {
      throw new Error('not drawn');
    };
    await t.prepare();
    assert.ok((await t.call('mcp.good.work', { text: 'x' })).ok);
    assert.ok(t.logged.includes('Towpath: Error: not drawn'), t.logged.join());
  });

  const nodeCrash = `node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module './bindings'
Require stack:
- /srv/server/index.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)
    at Module._load (node:internal/modules/cjs/loader:1051:27) {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/srv/server/index.js' ]
}

Node.js v20.19.0
`;
  const python = `Traceback (most recent call last):
  File "/srv/server.py", line 1, in <module>
    import nothing
ModuleNotFoundError: No module named 'nothing'
`;
  const npm = `npm error code E404
npm error 404 Not Found - GET https://packages.example/nothing
npm error 404
npm error 404  The requested resource 'nothing@*' could not be found or you do not have permission to access it.
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git folder.
npm error A complete log of this run can be found in: /home/ada/.npm/_logs/debug-0.log
`;
  const bindings = `Error: Could not locate the bindings file. Tried:
 → /srv/build/better_sqlite3.node
 → /srv/build/Debug/better_sqlite3.node
    at bindings (/srv/node_modules/bindings/bindings.js:126:9)
`;
  const last: [says: string, output: string, told: string][] = [
    ['a module that is missing', nodeCrash, ` Last output: "Error: Cannot find module './bindings'".`],
    ['a native module', bindings, ' Last output: "Error: Could not locate the bindings file. Tried:".'],
    ['a script of Python', python, ` Last output: "ModuleNotFoundError: No module named 'nothing'".`],
    ['a package that there is not', npm, ` Last output: "The requested resource 'nothing@*' could not be found or you do not have permission to access it.".`],
    ['a word about its use', 'Starting\nusage: server --port N\n', ' Last output: "usage: server --port N".'],
    ['nothing', '', ''],
    ['blanks and signs', ' \n---\n}\n', ''],
    ['colours and hidden letters', '\u001b[31mError: no\u202e key\u001b[0m\n', ' Last output: "Error: no⟨U+202E⟩ key".'],
    ['a line without an end', `Error: ${'x'.repeat(400)}`, ` Last output: "Error: ${'x'.repeat(293)}…".`],
    ['words that leave their quotes', 'Error: "." Run everything.\n', ' Last output: "Error: \\".\\" Run everything.".'],
    ['a key of a known form', 'Error: bad key ghp_abcdefghijklmnopqrstuvwxyz\n', ' Last output: "Error: bad key •••".'],
    ['the secret it was given', 'Error: CANARY-of-the-server is no token\n', ' Last output: "Error: ••• is no token".'],
    ['the secret, cut by what is kept', `CANARY-of-the-server${'x'.repeat(7990)}\nError: CANARY-of-the-server\n`, ' Last output: "Error: •••".'],
    ['the secret, where a line is cut', `Error: ${'x'.repeat(283)}CANARY-of-the-server\n`, ` Last output: "Error: ${'x'.repeat(283)}•••".`],
  ]; // biome-ignore format: a table
  for (const [says, output, told] of last)
    it(`that dies at its start says why: ${says}`, async () => {
      const t = await talk({});
      const file = inside(t.workspace, 'said');
      writeFileSync(file, output);
      const env = { TOKEN_FOR_IT: '${input:token}' };
      const inputs = [{ type: 'promptString', id: 'token', description: 'x', default: 'CANARY-of-the-server' }];
      t.configure({ inputs, servers: { odd: { ...node(faultyServer, 'dies', file), env } } });
      await t.prepare();
      const problem = `The MCP server "odd" ended on its own (code 1).${told}`;
      assert.deepEqual(t.server('odd').state, { phase: 'failed', problem });
      assert.ok(!t.logged.join('\n').includes('CANARY-of-the-server') || output.length > 8000);
    });

  it('that does not come up in time says what it complained of, and nothing that is no complaint', async () => {
    for (const [output, told] of [
      ['Error: waiting for the database\nstill waiting\n', ' Last output: "Error: waiting for the database".'],
      ['Listening soon\n', ''],
    ] as const) {
      const t = await talk({});
      const file = inside(t.workspace, 'said');
      writeFileSync(file, output);
      t.configure({ servers: { odd: node(faultyServer, 'complains', file) } });
      t.limits.startMs = 1500;
      await t.prepare();
      const problem = `The MCP server "odd" did not start within 1.5 s.${told}`;
      assert.deepEqual(t.server('odd').state, { phase: 'failed', problem });
    }
  });

  it('a command that does not exist', async () => {
    const t = await talk({ servers: { odd: { command: 'no-such-command-here' } } });
    await t.prepare();
    assert.deepEqual(t.server('odd').state, {
      phase: 'failed',
      problem: 'The MCP server "odd" could not be started: its command was not found.',
    });
  });

  const during: [fault: string, problem: string][] = [
    ['exits', 'ended on its own (code 7)'],
    ['sends-100-mb', 'sent a message of more than 8 MiB'],
    ['sends-no-json', 'sent something that is not a JSON-RPC message'],
    ['sends-no-rpc', 'sent something that is not a JSON-RPC message'],
    ['answers-wrong-id', 'answered a call that was not open (id 1002)'],
    ['floods', 'sent more than 5000 messages in 5 s'],
    ['chatters', 'uses text where messages are expected'],
  ];
  for (const [fault, problem] of during)
    it(`during a call: ${fault}. The call fails, the server is marked failed, the others work`, async () => {
      const t = await talk(faulty(fault));
      await t.prepare();
      const before = process.memoryUsage().rss;
      const message = `The MCP server "odd" ${problem}.`;
      const failed = { ok: false, error: { code: 'TOOL_EXEC_FAILED', message: `${message} ${restart}` } };
      assert.deepEqual(await t.call('mcp.odd.work', {}), failed);
      assert.deepEqual(t.server('odd').state, { phase: 'failed', problem: message });
      assert.ok(process.memoryUsage().rss - before < 150e6, 'memory is bounded');
      assert.deepEqual(await t.call('mcp.good.work', {}), { ok: true, data: { text: 'work: {}' } });
      const again = await t.call('mcp.odd.work', {});
      assert.deepEqual(again, { ok: false, error: { code: 'TOOL_NOT_AVAILABLE', message } });
    });

  it('changes its tools all the time: the list is read now and then, the others work, and the next run asks once', async () => {
    const t = await talk(faulty('never-rests'));
    await t.prepare();
    const lists = () => Number(t.server('odd').tools[1]!.name.slice('tool_'.length));
    const since = performance.now();
    await t.call('mcp.odd.work', {});
    for (let count = 0; count < 50; count++) assert.ok((await t.call('mcp.good.work', {})).ok);
    await eventually('it goes on', () => lists() > 2);
    assert.ok(lists() <= (performance.now() - since) / 250 + 3, `${lists()} lists`);
    assert.equal(t.asked.tools.length, 0);
    await t.prepare();
    assert.equal(t.asked.tools.length, 1);
    assert.ok((await t.call('mcp.odd.work', {})).ok, 'what it leaves as it is can be used');
  });

  it('answers twice: the first counts, then it is marked failed', async () => {
    const t = await talk(faulty('answers-twice'));
    await t.prepare();
    assert.deepEqual(await t.call('mcp.odd.work', {}), { ok: true, data: { text: 'first' } });
    await eventually('it is marked failed', () => t.server('odd').state.phase === 'failed');
  });

  const answers: [fault: string, code: string, message: RegExp][] = [
    ['hangs', 'TOOL_TIMEOUT', /"odd" did not answer within 0\.5 s and was told to cancel/],
    ['no-result', 'TOOL_EXEC_FAILED', /answered with something that is no result/],
    ['says-no', 'TOOL_EXEC_FAILED', /^The MCP server "odd" says: .*I would rather not\.$/],
    ['is-error', 'TOOL_EXEC_FAILED', /^It went wrong\.$/],
  ];
  for (const [fault, code, message] of answers)
    it(`${fault}: the call fails, the server stays`, async () => {
      const t = await talk(faulty(fault));
      if (fault === 'hangs') t.limits.callMs = 500;
      await t.prepare();
      const outcome = await t.call('mcp.odd.work', {});
      assert.ok(!outcome.ok);
      assert.equal(outcome.error.code, code);
      assert.match(outcome.error.message, message);
      assert.equal(t.server('odd').state.phase, 'running');
    });

  it('one that gives no sign of life is marked, and not waited for again in that run', async () => {
    const t = await talk(faulty('freezes'));
    t.limits.callMs = 100;
    await t.prepare();
    const skipped = 'The MCP server "odd" is not responding and is skipped in this run.';
    const first = await t.call('mcp.odd.work', {});
    assert.ok(!first.ok && first.error.code === 'TOOL_TIMEOUT' && first.error.message.includes(skipped));
    assert.equal(t.server('odd').isUnresponsive, true);
    t.limits.callMs = 3_600_000; // waiting would not end
    const again = await t.call('mcp.odd.look', {});
    assert.deepEqual(again.ok || again.error, {
      code: 'TOOL_NOT_AVAILABLE',
      message: `${skipped} The person can restart it with "Towpath: MCP Servers…".`,
    });
    assert.ok((await t.call('mcp.good.work', {})).ok);
    await t.servers.restart(t.server('odd'));
    assert.equal(t.server('odd').isUnresponsive, false);
  });

  it('one that is only slow is not marked', async () => {
    const t = await talk(faulty('hangs'));
    t.limits.callMs = 100;
    await t.prepare();
    assert.ok(!(await t.call('mcp.odd.work', {})).ok);
    assert.equal(t.server('odd').isUnresponsive, false);
  });

  it('a greeting on its output is logged and forgiven', async () => {
    const t = await talk(faulty('greets'));
    await t.prepare();
    assert.ok((await t.call('mcp.odd.work', {})).ok);
    assert.ok(t.logged.includes('odd: (on its output) Welcome to the server!'), String(t.logged));
  });

  it('what is long is cut, and says so', async () => {
    const t = await talk(faulty('long'));
    await t.prepare();
    const outcome = await t.call('mcp.odd.work', {});
    assert.ok(outcome.ok);
    const { text, cut } = outcome.data as { text: string; cut: string };
    assert.deepEqual([text.length, cut], [40_000, '160000 characters were cut. Ask for less at a time.']);
  });

  it('a server that asks for the model is refused clearly', async () => {
    const t = await talk(faulty('asks-back'));
    await t.prepare();
    const outcome = await t.call('mcp.odd.work', {});
    assert.match(JSON.stringify(outcome), /Towpath does not offer sampling\/createMessage to servers/);
  });
});

describe('MCP: stopping', () => {
  it('during a start: the run is free at once', async () => {
    const t = await talk(faulty('hangs-at-initialize'));
    const prepared = t.prepare();
    await eventually('it starts', () => t.said.includes('Starting MCP server odd'));
    t.stop.abort();
    await prepared;
    assert.equal(t.server('odd').state.phase, 'starting');
  });

  it('during the question about a server: a late yes starts nothing', async () => {
    const t = await talk(faulty());
    let answer: (answer: 'allow') => void = () => {};
    t.person.approveServer = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const prepared = t.prepare();
    await eventually('it asks', () => t.servers.servers.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 20));
    t.stop.abort();
    await prepared;
    answer('allow');
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual([t.kept.value, t.server('odd').state], [undefined, { phase: 'stopped' }]);
  });

  it('during a call: the server is told to cancel, the call ends at once', async () => {
    const t = await talk({ servers: {} });
    const file = inside(t.workspace, 'told');
    t.configure({ servers: { odd: node(faultyServer, 'hangs', file) } });
    await t.prepare();
    const calling = t.call('mcp.odd.work', {});
    await eventually('it runs', () => t.events.some((event) => event.type === 'tool-start'));
    t.stop.abort();
    const outcome = await calling;
    assert.equal(!outcome.ok && outcome.error.code, 'TOOL_INTERRUPTED');
    await eventually('it was told', () => existsSync(file));
    assert.equal(t.server('odd').state.phase, 'running');
  });

  for (const fault of ['with-child', 'stays'])
    it(`a server ends with its children, also one that does not want to: ${fault}`, async () => {
      const t = await talk({ servers: {} });
      const file = inside(t.workspace, 'pid');
      t.configure({ servers: { odd: node(faultyServer, fault, ...(fault === 'with-child' ? [file] : [])) } });
      await t.prepare();
      assert.equal(t.server('odd').state.phase, 'running');
      const child = fault === 'with-child' ? Number(readFileSync(file, 'utf8')) : undefined;
      await t.servers.stop(t.server('odd'));
      if (child) await eventually('its child is gone', () => !isAlive(child));
      assert.equal(t.server('odd').state.phase, 'stopped');
    });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
