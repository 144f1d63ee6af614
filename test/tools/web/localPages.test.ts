import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { ApprovalRequester } from '../../../src/tools/core/tool.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { alwaysAllowRuleChoices } from '../../../src/tools/policy/rules.ts';
import { BackgroundCommands } from '../../../src/tools/shell/background.ts';
import { createCommandServedPageLookup } from '../../../src/tools/web/localPages.ts';
import { StillClock } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { type Conversation, type ConversationOptions, conversation, data, error } from '../conversation.ts';

/** Serves a file at one address or two, each at a port of its own; tells what it was asked. Two servers know of each other. */
const serverFile = `
const http = require('node:http'), fs = require('node:fs');
const [host, count] = [process.argv[2], Number(process.argv[3] ?? 1)];
const ports = [];
for (let nth = 0; nth < count; nth++) {
  const server = http.createServer((request, response) => {
    const to = { '/next': '/page', '/other': 'http://' + request.headers.host.replace(/\\d+$/, ports[1 - nth]) + '/page',
      '/away': 'http://' + process.argv[4] + '/secret' }[request.url];
    if (to) return response.writeHead(302, { location: to }).end();
    response.setHeader('content-type', 'text/plain');
    response.end(fs.readFileSync('page.txt', 'utf8'));
  });
  server.listen(Number(process.argv[5] ?? 0), host, () => {
    ports[nth] = server.address().port;
    if (ports.filter(Boolean).length === count) console.log('Ready: ' + ports.map((port) => 'http://localhost:' + port + '/').join(' '));
  });
}`;

describe('tools: a page that a command of the run serves', () => {
  let workspace: TemporaryWorkspace;
  let background: BackgroundCommands;
  let clock: StillClock;
  let talking: Conversation;
  /** Of somebody else: it is never to be asked anything. */
  let stranger: Server;
  let asked: string[];

  const talk = (options: ConversationOptions = {}) => {
    talking = conversation(workspace, { tools: builtinTools({ shell: { background } }), ...options });
    return talking;
  };
  const begin = () =>
    new Promise<void>((resolve) => {
      stranger = createServer((request, response) => {
        asked.push(request.url!);
        response.setHeader('content-type', 'text/plain');
        response.end('secret');
      }).listen(0, '127.0.0.1', resolve);
    });
  const strangersPort = () => (stranger.address() as AddressInfo).port;
  const quit = (server: Server) => new Promise((resolve) => server.close(resolve).closeAllConnections());

  before(function () {
    if (process.platform !== 'linux') this.skip(); // elsewhere nothing says whose a port is
  });
  beforeEach(async () => {
    workspace = await temporaryWorkspace({ 'server.cjs': serverFile, 'page.txt': 'before' });
    clock = new StillClock();
    background = new BackgroundCommands({ after: clock.after });
    asked = [];
    await begin();
    talk();
  });
  afterEach(async () => {
    await Promise.all([background.close(), quit(stranger)]);
    workspace.cleanup();
  });

  /** A server of the run; gives its id and ports. `again`: one that can be started anew; `left`: one that its command leaves. */
  async function serve(host = '127.0.0.1', ...more: (number | string)[]): Promise<{ id: string; ports: number[] }> {
    const starting = conversation(workspace, { tools: builtinTools({ shell: { background } }) });
    const plain = [`"${process.execPath}" server.cjs`, host, ...more].join(' ');
    const special: Record<string, string> = {
      again: `"${process.execPath}" again.cjs`,
      left: `setsid ${plain} & while [ ! -e go ]; do sleep 0.02; done`,
    };
    const command = special[String(more.at(-1))] ?? plain;
    const answer = data<{ id: string }>(starting.call('shell.run', { command, background: true }));
    const said = () => starting.events.flatMap((event) => (event.type === 'tool-output' ? [event.text] : [])).join('');
    await eventually('it listens', () => said().includes('Ready'));
    clock.pass(1000);
    const { id } = await answer;
    return { id, ports: [...said().matchAll(/localhost:(\d+)/g)].map(([, port]) => Number(port)) };
  }
  const get = (url: string) => talking.call('web.fetch', { url });
  const refused = async (url: string, reason: string | null = 'PRIVATE_ADDRESS') => {
    const failed = await error(get(url));
    assert.deepEqual([failed.reason ?? null, asked], [reason, []], failed.message);
    return failed;
  };

  it('is got after one question, as it is then; another port is another question', async () => {
    const { id, ports } = await serve('127.0.0.1', 2);
    const [first, second] = ports.map((port) => `http://localhost:${port}/page`);
    assert.equal((await data(get(first!))).text, 'before');
    workspace.write('page.txt', 'after');
    assert.equal((await data(get(`http://localhost:${ports[0]}/next`))).text, 'after');
    assert.equal(talking.asked.length, 1);
    await data(get(second!));
    assert.deepEqual(
      talking.asked.map(({ plan: { what, where, grant, once, guarded } }) => [what, where, grant, once, guarded]),
      ports.map((port) => [
        `Fetch a page of localhost:${port}`,
        `GET http://localhost:${port}/page`,
        `web.fetch port ${port} of the command ${id}`,
        true,
        true,
      ]),
    );
    const [{ plan, call } = assert.fail()] = talking.asked;
    assert.match(
      plan.why,
      /^It is a page of this machine: the background command “.* server\.cjs 127\.0\.0\.1 2” \(.* \(\d+\)\) serves it\. Its response is sent to the model\. Pages of this port need no further approval while the command runs\.$/,
    );
    assert.deepEqual(alwaysAllowRuleChoices({ call, plan }), [], 'no lasting rule is offered');
  });

  it('is the same port by its other names, and when the command starts its server anew', async () => {
    workspace.write(
      'again.cjs',
      `const { spawn } = require('node:child_process'), fs = require('node:fs');
let port = 0;
const start = () => {
  const child = spawn(process.execPath, ['server.cjs', '127.0.0.1', '1', '-', String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.on('data', (text) => { port = /\\d+(?=\\/)/.exec(text)[0]; console.log(String(text) + child.pid); });
  const wait = setInterval(() => { if (fs.existsSync('again')) { fs.rmSync('again'); child.kill(); } }, 20);
  child.on('exit', () => { clearInterval(wait); start(); });
};
start();`,
    );
    const { id, ports } = await serve('', '', 'again');
    const url = `http://localhost:${ports[0]}/page`;
    await data(get(url));
    await data(get(`http://127.0.0.1:${ports[0]}/page`));
    workspace.write('again', '');
    await eventually('it serves anew', () => background.textOf(id)!.split('Ready').length === 3);
    await data(get(url));
    assert.equal(talking.asked.length, 1);
  });

  it('is refused when only something that its command has left behind serves it', async () => {
    const { id, ports } = await serve('127.0.0.1', 1, 'left');
    await data(get(`http://localhost:${ports[0]}/page`));
    workspace.write('go', '');
    await background.find('run', id)!.done;
    assert.match(String(background.find('run', id)!.end?.stillRunning), /\(\d+\)/);
    await refused(`http://localhost:${ports[0]}/`);
    process.kill(Number(/\((\d+)\)/.exec(String(background.find('run', id)!.end?.stillRunning))![1]));
  });

  it('is asked about whatever preset and rules allow, and a no is a no', async () => {
    const { ports } = await serve();
    const url = `http://127.0.0.1:${ports[0]}/page`;
    const rules = [{ scope: 'user' as const, effect: 'allow' as const, tool: 'web.fetch', site: new URL(url).origin }];
    talk({ answer: 'deny', policy: { preset: 'autopilot', rules } });
    assert.equal((await error(get(url))).code, 'TOOL_DENIED');
    assert.equal((await error(get(url))).code, 'TOOL_DENIED');
    assert.equal(talking.asked.length, 2);
  });

  it('of nobody else’s port, whatever the command says, and by no other name of this machine', async () => {
    const { ports } = await serve();
    const other = strangersPort();
    workspace.write('page.txt', `Ready: http://localhost:${other}/`);
    await data(talking.call('shell.run', { command: `echo http://localhost:${other}/` }));
    const [port] = ports;
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((one) => one && !one.internal)?.address;
    for (const url of [
      `http://localhost:${other}/`,
      `http://127.0.0.1:${other}/`,
      `http://a.localhost:${port}/`,
      `http://localhost.:${port}/`,
      `http://0.0.0.0:${port}/`,
      `http://127.0.0.2:${port}/`,
      `http://[::ffff:127.0.0.1]:${port}/`,
      ...(outside?.includes('.') ? [`http://${outside}:${port}/`] : []),
    ])
      await refused(url);
    assert.deepEqual(
      talking.asked.map(({ plan }) => plan.what),
      ['Run a command'],
    );
  });

  it('is not led to another port or place by it', async () => {
    const { ports } = await serve('127.0.0.1', 2, `localhost:${strangersPort()}`);
    for (const path of ['/other', '/away']) {
      const failed = await refused(`http://localhost:${ports[0]}${path}`, null);
      assert.match(failed.message, /redirects to another place, which nobody was asked about/);
    }
  });

  it('is another run’s for another run', async () => {
    const { ports } = await serve();
    const pages = createCommandServedPageLookup(background);
    const url = new URL(`http://localhost:${ports[0]}/`);
    assert.deepEqual([await pages('another', url), (await pages('run', url)) !== undefined], [undefined, true]);
  });

  it('is gone with its command: who has the port then is not asked, by no yes of before', async () => {
    const { id, ports } = await serve();
    const url = `http://localhost:${ports[0]}/page`;
    await data(get(url));
    await background.stop(id, 'person');
    await quit(stranger);
    await new Promise<void>((resolve) => stranger.listen(ports[0], '127.0.0.1', resolve));
    await refused(url);
  });

  it('is looked at again after the question: who took the port meanwhile hears nothing', async () => {
    const { id, ports } = await serve();
    const takeOver: ApprovalRequester = async () => {
      await background.stop(id, 'person');
      await quit(stranger);
      await new Promise<void>((resolve) => stranger.listen(ports[0], '127.0.0.1', resolve));
      return { decision: 'allow' };
    };
    talk({ answer: takeOver });
    await refused(`http://localhost:${ports[0]}/page`);
  });

  it('is looked at again once the connection stands, before anything is sent', async () => {
    const { id, ports } = await serve();
    const url = new URL(`http://localhost:${ports[0]}/`);
    const { reach } = (await createCommandServedPageLookup(background)('run', url))!;
    assert.deepEqual(await reach.addresses(url), ['127.0.0.1']);
    await background.stop(id, 'person');
    await assert.rejects(reach.connected!(url, '127.0.0.1'), { code: 'E_SANDBOX_VIOLATION' });
    await assert.rejects(reach.addresses(url), { code: 'E_SANDBOX_VIOLATION' });
  });

  it('at one address of this machine says nothing of the other, where somebody else may be', async () => {
    const six = createServer((_, response) => response.end('secret'));
    const { ports } = await serve();
    const has6 = await new Promise((resolve) => {
      six.once('error', () => resolve(false)).listen({ port: ports[0], host: '::1' }, () => resolve(true));
    });
    if (has6) await refused(`http://[::1]:${ports[0]}/`);
    assert.equal((await data(get(`http://localhost:${ports[0]}/page`))).text, 'before');
    if (has6) await quit(six);
  });

  it('where nothing says whose a port is has to be named by the output, and is asked about every time', async () => {
    const { ports } = await serve();
    const pages = createCommandServedPageLookup(background, 'darwin');
    const web = { ownPages: pages };
    talk({ tools: builtinTools({ shell: { background }, web }) });
    for (let times = 0; times < 2; times++) await data(get(`http://localhost:${ports[0]}/page`));
    assert.deepEqual(
      talking.asked.map(({ plan }) => plan.grant),
      [undefined, undefined],
    );
    assert.match(talking.asked[0]!.plan.why, /this system does not show which process/);
    await refused(`http://localhost:${strangersPort()}/`);
    await refused(`http://localhost:${String(ports[0]).slice(0, -1)}/`);
  });
});
