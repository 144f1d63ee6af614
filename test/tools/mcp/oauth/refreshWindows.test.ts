import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { eventually } from '../../../support/eventually.ts';
import { AuthorizationServer } from '../../../support/mcp/authorizationServer.ts';
import { ProtectedServer } from '../../../support/mcp/protectedServer.ts';
import { SignInWindow } from '../../../support/mcp/signIn.ts';

const program = path.resolve(import.meta.dirname, '../../../support/mcp/signInProcess.ts');

let issuer: AuthorizationServer;
let server: ProtectedServer;
let window: SignInWindow;
let children: ChildProcess[];

beforeEach(async () => {
  issuer = await AuthorizationServer.start();
  server = await ProtectedServer.start(issuer);
  window = new SignInWindow();
  children = [];
  assert.equal(await window.signInOf(server.url).signIn(), true);
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  window.remove();
  await Promise.all([issuer.close(), server.close()]);
});

const refreshes = () => issuer.requests('/token', 'refresh_token').length;

interface Started {
  process: ChildProcess;
  lines(): string[];
}

function start(): Started {
  const child = spawn(process.execPath, ['--import', 'tsx', program, window.folder, server.url], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  let text = '';
  child.stdout!.on('data', (data) => {
    text += data;
  });
  return { process: child, lines: () => text.split('\n').slice(0, -1) };
}

const isReady = ({ lines }: Started) => lines()[0] === 'ready';

describe('MCP: windows that refresh a sign-in', () => {
  it('refresh once if eight of them find the token ended', async () => {
    const windows = Array.from({ length: 8 }, start);
    await eventually('all windows are open', () => windows.every(isReady));
    issuer.end();
    const sentBefore = server.sent.length;
    // The first answer comes when all have been refused, so that all want a refresh.
    issuer.behavior.beforeToken = () => eventually('all are refused', () => server.sent.length >= sentBefore + 8);
    for (const one of windows) one.process.stdin!.write('go\n');
    await eventually('all windows have an answer', () => windows.every(({ lines }) => lines().length === 2));
    assert.deepEqual(
      windows.map(({ lines }) => lines()[1]),
      Array(8).fill('200'),
    );
    assert.equal(refreshes(), 1);
  });

  it('refresh once more, and keep the sign-in, if one is killed in between', async () => {
    issuer.behavior.rotates = false;
    const [killed, next] = [start(), start()];
    await eventually('both windows are open', () => isReady(killed) && isReady(next));
    issuer.end();
    let count = 0;
    issuer.behavior.beforeToken = async () => {
      count += 1;
      if (count === 1) await eventually('the window is killed', () => killed.process.signalCode !== null);
    };
    killed.process.stdin!.write('go\n');
    await eventually('it refreshes', () => refreshes() === 1);
    killed.process.kill('SIGKILL');
    next.process.stdin!.write('go\n');
    await eventually('the other has an answer', () => next.lines().length === 2);
    assert.equal(next.lines()[1], '200');
    assert.equal(refreshes(), 2);
  });

  it('wait for a secret that another window has just stored', async () => {
    issuer.end();
    const signIn = window.signInOf(server.url);
    const before = { ...window.secrets.all() };
    let isBehind = true;
    let looks = 0;
    const late = {
      ...window.secrets,
      get: async (name: string) => {
        looks += 1;
        return isBehind ? before[name] : window.secrets.get(name);
      },
    };
    const other = new SignInWindow(window.folder, late).signInOf(server.url);
    const [name] = Object.keys(before);
    const rejected = JSON.parse(before[name!]!).tokens.access;
    const fresh = await signIn.replacement(rejected, undefined);
    const waiting = other.replacement(rejected, undefined);
    await eventually('it looks again', () => looks > 4);
    isBehind = false;
    assert.equal(await waiting, fresh);
    assert.equal(refreshes(), 1);
  });

  it('share one refresh within a window', async () => {
    issuer.end();
    const signIn = window.signInOf(server.url);
    const rejected = (await signIn.accessToken())!;
    const all = await Promise.all(Array.from({ length: 20 }, () => signIn.replacement(rejected, undefined)));
    assert.equal(new Set(all).size, 1);
    assert.equal(refreshes(), 1);
  });
});
