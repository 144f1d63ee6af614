import assert from 'node:assert/strict';
import { AuthorizationServer } from '../../../support/mcp/authorizationServer.ts';
import { ProtectedServer } from '../../../support/mcp/protectedServer.ts';
import { SignInWindow } from '../../../support/mcp/signIn.ts';
import { closeAll, type Talk, talk } from '../talk.ts';

let issuer: AuthorizationServer;
let server: ProtectedServer;
let window: SignInWindow;
let t: Talk;

beforeEach(async () => {
  issuer = await AuthorizationServer.start();
  server = await ProtectedServer.start(issuer);
  window = new SignInWindow();
  t = await open({ url: server.url });
});
afterEach(async () => {
  await closeAll();
  window.remove();
  await Promise.all([issuer.close(), server.close()]);
});

async function open(config: object): Promise<Talk> {
  const opened = await talk({ servers: { tracker: config } });
  opened.signIn = ({ url, ...more }) => window.signInOf(url, more);
  return opened;
}

const state = () => t.server('tracker').state;
const failed = (what: string) => ({ phase: 'failed', problem: `The MCP server "tracker" ${what}.` });
const signIn = () => t.server('tracker').signIn!;

async function signedIn(): Promise<void> {
  await t.prepare();
  assert.deepEqual(state(), failed('requires a sign-in'));
  assert.equal(await signIn().signIn(), true);
  await t.prepare();
  assert.deepEqual(state(), { phase: 'running' });
}

async function call(text: string): Promise<string> {
  const outcome = await t.call('mcp.tracker.echo', { text });
  return outcome.ok ? JSON.stringify(outcome) : outcome.error.message;
}

describe('MCP: a server with a sign-in', () => {
  it('is marked, works after the sign-in, and in another run without one', async () => {
    await signedIn();
    assert.match(await call('hello'), /hello/);
    t = await open({ url: server.url });
    await t.prepare();
    assert.deepEqual(state(), { phase: 'running' });
    assert.equal(window.user.confirmed.length, 1);
  });

  it('is no longer marked after a sign-in in another window', async () => {
    await t.prepare();
    assert.equal(signIn().required?.kind, 'missing');
    assert.equal(await new SignInWindow(window.folder).signInOf(server.url).signIn(), true);
    await t.prepare();
    assert.deepEqual(state(), { phase: 'running' });
    assert.equal(signIn().required, undefined);
    assert.match(await call('hello'), /hello/);
    assert.deepEqual(window.user.confirmed, []);
  });

  it('is marked when the sign-in ends during a run, and works again without a restart of the window', async () => {
    await signedIn();
    issuer.end(true);
    assert.match(await call('hello'), /requires a new sign-in, because the previous one has expired/);
    assert.deepEqual(state(), failed('requires a new sign-in, because the previous one has expired'));
    assert.equal(signIn().required?.kind, 'expired');
    assert.equal(await signIn().signIn(), true);
    await t.prepare();
    assert.match(await call('hello'), /hello/);
  });

  it('goes on when only a call needs more permissions', async () => {
    await signedIn();
    server.behavior.callScope = 'write';
    assert.match(await call('hello'), /requires a sign-in with more permissions/);
    assert.deepEqual(state(), { phase: 'running' });
    assert.equal(signIn().required?.scope, 'write');
    assert.equal(await signIn().signIn(), true);
    assert.match(await call('hello'), /hello/);
  });

  it('goes on when the sign-in page does not answer', async () => {
    await signedIn();
    issuer.end();
    issuer.behavior.tokenStatus = 503;
    assert.match(await call('hello'), /could not be renewed \(the sign-in page has an error/);
    assert.deepEqual(state(), { phase: 'running' });
    issuer.behavior.tokenStatus = 200;
    assert.match(await call('hello'), /hello/);
  });

  it('cannot write a token into a result or a log', async () => {
    await signedIn();
    server.says = (authorization) => `I got ${authorization}`;
    assert.match(await call('x'), /I got Bearer •••/);
    issuer.end(); // the next call has a new token, which arrives during the call
    assert.match(await call('x'), /I got Bearer •••/);
    assert.doesNotMatch(JSON.stringify([t.logged, t.events, state()]), /access-|refresh-/);
  });

  it('uses a client of the configuration, whose secret is an input', async () => {
    issuer.behavior.hasRegistration = false;
    issuer.clients.set('mine', 'my-secret');
    t = await talk({
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as people write it
      servers: { tracker: { url: server.url, oauth: { clientId: 'mine', clientSecret: '${input:secret}' } } },
      inputs: [{ type: 'promptString', id: 'secret', default: 'my-secret' }],
    });
    t.signIn = ({ url, ...more }) => window.signInOf(url, more);
    await signedIn();
    assert.equal(issuer.requests('/register').length, 0);
  });

  it('takes no secret that is written into a file', async () => {
    t = await open({ url: server.url, oauth: { clientId: 'mine', clientSecret: 'in-the-file' } });
    await t.prepare();
    assert.match(t.servers.problems.join(), /oauth\.clientSecret: a secret is an input/);
  });

  it('works in the older way over SSE, too', async () => {
    t = await open({ type: 'sse', url: server.url });
    await t.prepare();
    assert.deepEqual(state(), failed('requires a sign-in'));
    assert.equal(await signIn().signIn(), true);
    await t.prepare();
    assert.match(server.sent.at(-1)!, /^Bearer access-/);
    assert.deepEqual(state(), failed('answered 405')); // the token is accepted, and the server has no SSE
  });

  it('keeps its own header, for which no sign-in helps', async () => {
    t = await open({ url: server.url, headers: { Authorization: 'Bearer own' } });
    await t.prepare();
    assert.deepEqual(state(), failed('answered 401: its headers do not give access'));
  });

  it('sends no token where it redirects to', async () => {
    await signedIn();
    const other = await AuthorizationServer.start();
    server.behavior.redirectsTo = `${other.url}/mcp`;
    await call('hello');
    assert.deepEqual(other.received, []);
    await other.close();
  });
});
