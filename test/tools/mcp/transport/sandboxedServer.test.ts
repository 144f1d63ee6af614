import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type TemporarySandbox, temporarySandbox } from '../../../support/commandSandbox.ts';
import { closeAll, inside, node, type Talk, talk } from '../talk.ts';

const script = path.join(import.meta.dirname, '../../../support/mcp/confined.mjs');
const unconfined = { servers: { s: node('server.mjs') } };
const confined = { servers: { s: { ...node('server.mjs'), sandboxEnabled: true } } };

const textOf = (outcome: Awaited<ReturnType<Talk['call']>>) =>
  outcome.ok ? (outcome.data as { text: string }).text : outcome.error.message;

// Holds sandboxed-server-stays-inside.
describe('an MCP server in the sandbox', function () {
  this.timeout(60_000);
  let sandbox: TemporarySandbox;
  let server: Server;
  before(async function () {
    const made = await temporarySandbox();
    if (!made) return this.skip();
    sandbox = made;
    server = createServer((_, answer) => answer.end('hi')).listen(0, '127.0.0.1');
  });
  afterEach(closeAll);
  after(async () => {
    server?.close();
    await sandbox?.cleanup();
  });

  const begin = async (config: object = confined) => {
    const t = await talk(config);
    t.sandbox = sandbox;
    copyFileSync(script, inside(t.workspace, 'server.mjs')); // folders for temporary files are others inside
    execFileSync('git', ['init', '-q'], { cwd: t.workspace.root });
    writeFileSync(inside(t.workspace, '.gitignore'), 'out/\n');
    mkdirSync(inside(t.workspace, 'out'));
    await t.prepare();
    return t;
  };
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

  it('runs, sees changes at once, and writes only where Git ignores, which is kept when it stops', async () => {
    const t = await begin();
    assert.deepEqual(t.server('s').state, { phase: 'running' }, t.logged.join('\n'));
    assert.equal(textOf(await t.call('mcp.s.read', { path: 'a.txt' })), 'one\n');
    writeFileSync(inside(t.workspace, 'a.txt'), 'two\n');
    assert.equal(textOf(await t.call('mcp.s.read', { path: 'a.txt' })), 'two\n');
    assert.match(textOf(await t.call('mcp.s.write', { path: 'b.txt' })), /failed: (EROFS|EACCES|EPERM)/);
    assert.match(textOf(await t.call('mcp.s.write', { path: path.join(sandbox.home, 'x') })), /failed: /);
    assert.equal(textOf(await t.call('mcp.s.write', { path: 'out/c.txt' })), 'written');
    assert.equal(existsSync(inside(t.workspace, 'out/c.txt')), false, 'it is aside');
    await t.servers.stop(t.server('s'));
    assert.equal(readFileSync(inside(t.workspace, 'out/c.txt'), 'utf8'), 'written');
    assert.equal(existsSync(inside(t.workspace, 'b.txt')), false);
    assert.equal(t.asked.calls.length, 5, 'its calls ask as ever');
  });

  it('connects to a host only after an answer, which is remembered for the server', async () => {
    const asked: string[] = [];
    const t = await begin();
    t.person.approveSite = async (_, site) => {
      asked.push(site);
      return asked.length > 1;
    };
    assert.doesNotMatch(textOf(await t.call('mcp.s.get', { url: url() })), /status 200/);
    await t.servers.restart(t.server('s'));
    assert.equal(textOf(await t.call('mcp.s.get', { url: url() })), 'status 200');
    await t.servers.restart(t.server('s'));
    assert.equal(textOf(await t.call('mcp.s.get', { url: url() })), 'status 200');
    assert.equal(asked.length, 2);
    assert.match(asked[0]!, /127\.0\.0\.1:\d+$/);
  });

  it('is put there by the user, too, without another approval', async () => {
    const t = await begin(unconfined);
    assert.equal(textOf(await t.call('mcp.s.write', { path: 'b.txt' })), 'written');
    await t.servers.setSandboxed(t.server('s'), true);
    assert.match(textOf(await t.call('mcp.s.write', { path: 'c.txt' })), /failed: /);
    assert.equal(t.asked.servers.length, 1);
  });
});

// Holds sandboxed-server-stays-inside.
describe('an MCP server that must run in the sandbox, without one', () => {
  afterEach(closeAll);

  it('does not start, and says why', async () => {
    const t = await talk(confined);
    await t.prepare();
    const { state } = t.server('s');
    assert.deepEqual(state, {
      phase: 'failed',
      problem: 'The MCP server "s" was not started: the sandbox is not available (bubblewrap is not installed).',
    });
    assert.deepEqual(
      t.names().filter((name) => name.startsWith('mcp.')),
      [],
    );
  });
});
