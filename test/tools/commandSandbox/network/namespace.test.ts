import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  type NetworkNamespace,
  proxySocketName,
  startNetworkNamespace,
} from '../../../../src/tools/commandSandbox/network/namespace.ts';
import { startSandboxProxy } from '../../../../src/tools/commandSandbox/network/proxy.ts';
import { readProcessTable } from '../../../../src/tools/shell/processTable.ts';
import { eventually } from '../../../support/eventually.ts';
import { bodyOf, type Listening, listen } from '../../../support/listening.ts';
import { built } from '../../../support/programs.ts';

const bubblewrap = '/usr/bin/bwrap';

/** Whether this machine lets this user create a network namespace and join it. */
function canSandbox(): boolean {
  try {
    execFileSync(bubblewrap, ['--unshare-user', '--unshare-net', '--ro-bind', '/', '/', 'true'], { stdio: 'ignore' });
    execFileSync('nsenter', ['--version'], { stdio: 'ignore' });
    return process.platform === 'linux';
  } catch {
    return false;
  }
}

/** Whether a process has this text in its command line. */
const isRunning = (text: string): boolean =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .some((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
      } catch {
        return false; // it has ended
      }
    });

describe('a network namespace', () => {
  let folder: string;
  let forwarder: string;
  let server: Listening;
  let namespace: NetworkNamespace;
  let proxy: Awaited<ReturnType<typeof startSandboxProxy>>;
  const asked: string[] = [];
  const allowed = new Set<string>();

  before(async function () {
    if (!canSandbox()) return this.skip();
    folder = mkdtempSync(path.join(tmpdir(), 'towpath-namespace-'));
    forwarder = path.join(folder, 'sandboxForwarder.cjs');
    writeFileSync(forwarder, (await built('sandboxForwarder.cjs')).files.get('sandboxForwarder.cjs')!);
    server = await listen(async (request, response) => {
      const { length } = await bodyOf(request);
      response.end(`hello ${request.url}${length > 0 ? ` ${length}` : ''}`);
    });
    proxy = await startSandboxProxy({
      socketPath: path.join(folder, proxySocketName),
      lookup: async () => ['127.0.0.1'],
      isAllowedAddress: () => true,
      async access({ host, port }) {
        asked.push(`${host}:${port}`);
        return allowed.has(host) ? 'allow' : 'deny';
      },
    });
    namespace = await startNetworkNamespace({ program: bubblewrap, forwarder, socketFolder: folder });
  });
  beforeEach(() => {
    asked.length = 0;
    allowed.clear();
  });
  after(async () => {
    namespace?.end();
    await namespace?.ended;
    await proxy?.close();
    await server?.close();
    if (folder) rmSync(folder, { recursive: true });
  });

  /** Runs a program in the namespace. Returns its output, or its exit code if it failed. */
  async function run(...command: string[]): Promise<string> {
    const join = ['--user', '--net', '--preserve-credentials', '-t', String(namespace.pid), '--'];
    const env = { PATH: process.env.PATH, ...namespace.environment };
    const { stdout } = await promisify(execFile)('nsenter', [...join, ...command], { env }).catch(
      ({ code, stdout, stderr }) => ({ stdout: `failed (${code}): ${stdout}${stderr}` }),
    );
    return stdout;
  }
  const runNode = (script: string) => run(process.execPath, '-e', script);
  const connecting = (options: string) =>
    runNode(`require('node:net').connect(${options}).on('connect', () => { console.log('connected'); process.exit(); })
      .on('error', ({ code }) => console.log(code))`);

  it('leads a program to an allowed host', async () => {
    allowed.add('shop.example');
    assert.equal(await run('curl', '-s', `http://shop.example:${server.port}/a`), 'hello /a');
    assert.equal(await run('curl', '-s', '--proxytunnel', `http://shop.example:${server.port}/b`), 'hello /b');
    assert.deepEqual(asked, [`shop.example:${server.port}`, `shop.example:${server.port}`]);
  });

  it('tells a program that a host is denied', async () => {
    const text = 'Blocked by the sandbox: network access to shop.example\n';
    assert.equal(await run('curl', '-s', `http://shop.example:${server.port}/`), text);
    assert.match(await run('curl', '-sS', 'https://shop.example/'), /^failed \(56\): .*403/);
  });

  it('has no way around the proxy: not by IPv4, IPv6 or a name, and not to a host that listens on all addresses', async () => {
    assert.equal(await connecting(`${server.port}, '127.0.0.1'`), 'ECONNREFUSED\n');
    assert.equal(await connecting(`${server.port}, '::1'`), 'ECONNREFUSED\n');
    assert.equal(await connecting(`443, '93.184.215.14'`), 'ENETUNREACH\n');
    assert.equal(await connecting(`443, '2606:2800:21f:cb07:6820:80da:af6b:8b2c'`), 'ENETUNREACH\n');
    assert.match(await connecting(`443, 'shop.example'`), /^(EAI_AGAIN|ENOTFOUND)\n$/);
    assert.deepEqual(asked, []);
  });

  it('has no abstract Unix sockets of the host', async () => {
    const name = `towpath-test-${process.pid}`;
    const abstract = createServer((socket) => socket.destroy()).listen(`\0${name}`);
    try {
      await once(abstract, 'listening');
      assert.equal(await connecting(`'\\0${name}'`), 'ECONNREFUSED\n');
    } finally {
      abstract.close();
    }
  });

  it('has a loopback interface of its own', async () => {
    const script = `const server = require('node:http').createServer((_, response) => response.end('own'));
      server.listen(8080, '127.0.0.1', () => require('node:child_process').execFile('curl', ['-s', 'http://localhost:8080/'],
        (_, text) => { console.log(text); process.exit(); }));`;
    assert.equal(await runNode(script), 'own\n');
  });

  it('carries large bodies, and goes on after connections that broke off', async () => {
    allowed.add('shop.example');
    await runNode(`const socket = require('node:net').connect(3128, '::1', () => socket.resetAndDestroy())`);
    const script = `const { connect } = require('node:net');
      const target = 'shop.example:${server.port}';
      const socket = connect({ port: 3128, allowHalfOpen: true });
      socket.write('POST http://' + target + '/large HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\nContent-Length: 3000000\\r\\n\\r\\n');
      socket.write(Buffer.alloc(3000000)); socket.pipe(process.stdout)`;
    assert.match(await runNode(script), /hello \/large 3000000$/);
  });

  it('allows mounts and further namespaces to those who join', async () => {
    const uid = String(process.getuid!());
    const nested = [bubblewrap, '--unshare-user', '--uid', uid, '--ro-bind', '/', '/', 'curl', '-s'];
    const mounted = path.join(folder, 'mounted');
    const script = `mkdir ${mounted} ${mounted}/lower ${mounted}/upper ${mounted}/work && mount -t overlay -o userxattr,lowerdir=${mounted}/lower,upperdir=${mounted}/upper,workdir=${mounted}/work overlay ${mounted}/lower && "$@"`;
    allowed.add('shop.example');
    const url = `http://shop.example:${server.port}/nested`;
    assert.equal(await run('unshare', '--mount', 'sh', '-c', script, 'sh', ...nested, url), 'hello /nested');
  });

  it('ends with its forwarder', async () => {
    const other = await startNetworkNamespace({ program: bubblewrap, forwarder, socketFolder: folder });
    assert.notEqual(other.pid, namespace.pid);
    other.end();
    await other.ended;
    await eventually('the process has ended', async () => !(await readProcessTable()).has(other.pid));
  });

  it('does not start after a stop, or without its programs', async () => {
    const options = { program: bubblewrap, forwarder, socketFolder: folder };
    await assert.rejects(
      startNetworkNamespace({ ...options, signal: AbortSignal.abort(new Error('Stop')) }),
      /^Error: Stop$/,
    );
    const controller = new AbortController();
    const socketFolder = path.join(folder, 'stopped');
    const starting = startNetworkNamespace({ ...options, socketFolder, signal: controller.signal });
    controller.abort(new Error('Stop'));
    await assert.rejects(starting, /^Error: Stop$/);
    await eventually('nothing is left', () => !isRunning(socketFolder));
    await assert.rejects(
      startNetworkNamespace({ ...options, program: '/none/bwrap' }),
      /could not be started: .*ENOENT/,
    );
    await assert.rejects(
      startNetworkNamespace({ ...options, forwarder: '/none.cjs' }),
      /could not be started: .*\/none\.cjs/s,
    );
  });
});
