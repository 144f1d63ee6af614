import assert from 'node:assert/strict';
import { createAuthorizedFetch } from '../../../../src/tools/mcp/oauth/authorizedFetch.ts';
import { loopbackRedirect } from '../../../../src/tools/mcp/oauth/loopbackRedirect.ts';
import type { ServerSignIn } from '../../../../src/tools/mcp/oauth/serverSignIn.ts';
import { SignInRequiredError } from '../../../../src/tools/mcp/oauth/signInErrors.ts';
import { AuthorizationServer } from '../../../support/mcp/authorizationServer.ts';
import { ProtectedServer } from '../../../support/mcp/protectedServer.ts';
import { SignInWindow } from '../../../support/mcp/signIn.ts';

let issuer: AuthorizationServer;
/** Another site, which must never receive a token. */
let other: AuthorizationServer;
let server: ProtectedServer;
let window: SignInWindow;
let signIn: ServerSignIn;

beforeEach(async () => {
  [issuer, other] = [await AuthorizationServer.start(), await AuthorizationServer.start()];
  server = await ProtectedServer.start(issuer);
  window = new SignInWindow();
  signIn = window.signInOf(server.url);
});
afterEach(async () => {
  assert.deepEqual(other.tokensSent, [], 'tokens at another site');
  window.remove();
  await Promise.all([issuer.close(), other.close(), server.close()]);
});

/** Calls the tool as the server's client does. */
async function call(by = signIn, text = 'hello'): Promise<string> {
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text } } };
  const response = await createAuthorizedFetch(fetch, by)(server.url, {
    method: 'POST',
    body: JSON.stringify(request),
  });
  if (!response.ok) return String(response.status);
  return ((await response.json()) as { result: { content: [{ text: string }] } }).result.content[0].text;
}

const requiresSignIn = (kind: string) => (error: unknown) => {
  assert.ok(error instanceof SignInRequiredError, String(error));
  assert.equal(error.challenge.kind, kind);
  return true;
};

async function signedIn(): Promise<void> {
  await assert.rejects(call(), requiresSignIn('missing'));
  assert.equal(await signIn.signIn(), true);
  assert.equal(await call(), 'hello');
}

// Holds tokens-to-their-server.
// Holds tokens-in-secret-storage.
describe('MCP: the sign-in to a server', () => {
  it('names server, site and scopes before the browser opens, and the tool works afterwards', async () => {
    server.behavior.scope = 'issues:read issues:write';
    await signedIn();
    assert.deepEqual(window.user.confirmed, [
      {
        server: 'tracker',
        serverHost: new URL(server.url).host,
        signInHost: new URL(issuer.url).host,
        tokenHost: new URL(issuer.url).host,
        scopes: ['issues:read', 'issues:write'],
      },
    ]);
    const [authorized] = issuer.requests('/authorize');
    const given = Object.fromEntries(authorized!.parameters);
    assert.equal(given.resource, server.url);
    assert.equal(given.code_challenge_method, 'S256');
    assert.match(given.redirect_uri!, /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    assert.equal(given.scope, 'issues:read issues:write');
    assert.deepEqual(window.user.pages, [302, 200]);
    assert.equal(issuer.requests('/register').length, 1);
  });

  it('asks once if it is started twice', async () => {
    await assert.rejects(call(), requiresSignIn('missing'));
    assert.deepEqual(await Promise.all([signIn.signIn(), signIn.signIn()]), [true, true]);
    assert.equal(window.user.confirmed.length, 1);
  });

  it('does nothing when the user declines', async () => {
    window.user.by = undefined;
    await assert.rejects(call(), requiresSignIn('missing'));
    assert.equal(await signIn.signIn(), false);
    assert.deepEqual(
      issuer.received.map(({ path }) => path),
      ['/.well-known/oauth-authorization-server'],
    );
  });

  it('ends when the user cancels while it waits, and closes its port', async () => {
    window.user.browse = async () => window.user.cancel.abort();
    await assert.rejects(call(), requiresSignIn('missing'));
    assert.equal(await signIn.signIn(), false);
    const back = new URL(window.user.addresses[0]!).searchParams.get('redirect_uri')!;
    await assert.rejects(fetch(back), TypeError);
    assert.equal(await signIn.isSignedIn(), false);
  });

  it('stores the tokens in the secret storage only, and no message contains one', async () => {
    await signedIn();
    const [value] = Object.values(window.secrets.all());
    const { tokens } = JSON.parse(value!);
    assert.match(tokens.access, /^access-/);
    assert.deepEqual(new Set(signIn.secrets), new Set([tokens.access, tokens.refresh]));
    assert.equal(await window.signInOf(server.url).isSignedIn(), true);
  });

  it('serves another window without another sign-in', async () => {
    await signedIn();
    const next = new SignInWindow(window.folder);
    assert.equal(await call(next.signInOf(server.url)), 'hello');
    assert.deepEqual(next.user.confirmed, []);
  });

  it('lives in memory without a secret storage, and says so', async () => {
    const failing = { get: async () => undefined, store: async () => {}, delete: async () => {} };
    window = new SignInWindow(window.folder, { ...window.secrets, ...failing });
    signIn = window.signInOf(server.url);
    await signedIn();
    assert.deepEqual(window.notStored, ['tracker']);
    issuer.end();
    assert.equal(await call(), 'hello'); // refreshed
    assert.equal(await new SignInWindow(window.folder).signInOf(server.url).isSignedIn(), false);
  });

  it('takes the next way back if the first is not accepted for a registration', async () => {
    issuer.behavior.acceptsRedirect = (uri) => uri.startsWith('http:');
    const editor = { open: async () => ({ uri: 'vscode://towpath.towpath/mcp-sign-in', close: () => {} }) };
    window.dependencies.ways = () => [editor, loopbackRedirect({ page: String })];
    await signedIn();
    assert.equal(issuer.requests('/register').length, 2);
  });

  it('uses a client that the user registered, with its secret', async () => {
    issuer.behavior.hasRegistration = false;
    issuer.clients.set('mine', 'my-secret');
    signIn = window.signInOf(server.url, { clientId: 'mine', clientSecret: 'my-secret' });
    await signedIn();
    assert.ok(signIn.secrets.includes('my-secret'));
    issuer.end();
    assert.equal(await call(), 'hello');
  });

  it('says what to do where no client can be registered', async () => {
    issuer.behavior.hasRegistration = false;
    await assert.rejects(call(), requiresSignIn('missing'));
    await assert.rejects(signIn.signIn(), /registers no clients/);
  });

  it('uses the client ID metadata document where the server supports it', async () => {
    const document = 'https://example.com/towpath.json';
    window.dependencies.clientMetadata = () => document;
    issuer.behavior.supportsMetadataDocuments = true;
    issuer.clients.set(document, undefined);
    await signedIn();
    assert.equal(issuer.requests('/authorize')[0]!.parameters.get('client_id'), document);
    assert.equal(issuer.requests('/register').length, 0);
  });

  it('registers a client where the server does not support the document', async () => {
    window.dependencies.clientMetadata = () => 'https://example.com/towpath.json';
    await signedIn();
    assert.equal(issuer.requests('/register').length, 1);
  });

  it('requests more scopes when a call needs them, and keeps those that it had', async () => {
    server.behavior.scope = 'issues:read';
    await signedIn();
    server.behavior.callScope = 'issues:write';
    await assert.rejects(call(), requiresSignIn('scope'));
    assert.equal(await signIn.signIn(), true);
    assert.equal(await call(), 'hello');
    assert.deepEqual(window.user.confirmed[1]!.scopes, ['issues:read', 'issues:write']);
    assert.equal(issuer.requests('/register').length, 2); // another port, so another way back
  });

  it('stops after three sign-ins that the server refuses', async () => {
    server.behavior.scope = 'a';
    await signedIn();
    server.behavior.callScope = 'never';
    issuer.behavior.beforeToken = async () => {
      server.behavior.callScope = `${server.behavior.callScope}-more`;
    };
    for (const _ of [2, 3]) {
      await assert.rejects(call(), requiresSignIn('scope'));
      assert.equal(await signIn.signIn(), true);
    }
    await assert.rejects(call(), requiresSignIn('scope'));
    await assert.rejects(signIn.signIn(), /still refuses after 3 sign-ins/);
    assert.equal(window.user.confirmed.length, 3);
  });

  it('asks for a token in the headers where a server has no sign-in', async () => {
    server.behavior.hasMetadata = false;
    await assert.rejects(call(), requiresSignIn('missing'));
    await assert.rejects(signIn.signIn(), /offers no sign-in/);
  });

  it('does not touch a request with a header of the configuration', async () => {
    const response = await createAuthorizedFetch(fetch, signIn)(server.url, {
      headers: { Authorization: 'Bearer own' },
    });
    assert.equal(response.status, 401);
    assert.deepEqual(server.sent, ['Bearer own']);
  });
});

describe('MCP: the end of a sign-in', () => {
  it('refreshes a token before it ends, without an answer of 401', async () => {
    issuer.behavior.expiresIn = 1;
    await signedIn();
    assert.ok(issuer.requests('/token', 'refresh_token').length >= 1);
    assert.equal(server.sent.filter((sent) => sent === undefined).length, 1);
  });

  it('refreshes a token that the server no longer accepts', async () => {
    await signedIn();
    issuer.end();
    assert.equal(await call(), 'hello');
    const [refresh] = issuer.requests('/token', 'refresh_token');
    assert.equal(refresh!.parameters.get('resource'), server.url);
  });

  it('asks once when a refresh is refused', async () => {
    await signedIn();
    issuer.end(true);
    await assert.rejects(call(), requiresSignIn('expired'));
    await assert.rejects(call(), requiresSignIn('expired'));
    assert.equal(issuer.requests('/token', 'refresh_token').length, 1);
    assert.equal(await signIn.signIn(), true);
    assert.equal(await call(), 'hello');
  });

  it('keeps the tokens when the sign-in server cannot answer', async () => {
    await signedIn();
    issuer.end();
    issuer.behavior.tokenStatus = 503;
    await assert.rejects(call(), /has an error at the moment/);
    issuer.behavior.tokenStatus = 200;
    assert.equal(await call(), 'hello');
  });

  it('signs out: revoked and forgotten', async () => {
    await signedIn();
    const [, refresh] = signIn.secrets;
    assert.equal(await signIn.signOut(), true);
    assert.equal(issuer.requests('/revoke')[0]!.parameters.get('token'), refresh);
    assert.deepEqual(window.secrets.all(), {});
    await assert.rejects(call(), requiresSignIn('missing'));
  });

  it('signs out where the server cannot revoke', async () => {
    issuer.behavior.hasRevocation = false;
    await signedIn();
    assert.equal(await signIn.signOut(), false);
    assert.deepEqual(window.secrets.all(), {});
  });
});

describe('MCP: a sign-in that is attacked', () => {
  const fails = async (reason: RegExp) => {
    await assert.rejects(call(), requiresSignIn('missing'));
    await assert.rejects(signIn.signIn(), reason);
    assert.deepEqual(window.secrets.all(), {}, 'something was stored');
  };

  it('refuses metadata of another server', async () => {
    server.behavior.resource = 'https://evil.example/mcp';
    await fails(/describe another server \(evil\.example\)/);
    assert.deepEqual(window.user.confirmed, []);
  });

  it('refuses metadata of another issuer', async () => {
    issuer.behavior.issuer = 'https://evil.example';
    await fails(/came from another site \(evil\.example\)/);
    assert.deepEqual(window.user.confirmed, []);
  });

  it('refuses an answer of another issuer, before its code is used', async () => {
    issuer.behavior.iss = 'https://evil.example';
    await fails(/came from another site \(evil\.example\)/);
    assert.equal(issuer.requests('/token').length, 0);
  });

  it('refuses an answer without the issuer that the server promises', async () => {
    issuer.behavior.saysIss = true;
    await fails(/does not name the site/);
    assert.equal(issuer.requests('/token').length, 0);
  });

  // Holds sign-in-state-once.
  it('ignores an answer with another state, and goes on waiting', async () => {
    issuer.behavior.state = (sent) => sent.replace(/./, (first) => (first === 'a' ? 'b' : 'a'));
    const browse = window.user.browse;
    window.user.browse = async (address) => {
      await browse(address);
      assert.equal(window.user.pages.at(-1), 400);
      issuer.behavior.state = (sent) => sent;
      await browse(address);
      assert.equal(window.user.pages.at(-1), 200);
      assert.equal(window.redirects.deliver(new URL(address).searchParams), false, 'the state was valid twice');
    };
    await signedIn();
  });

  it('says when the user declines on the page', async () => {
    issuer.behavior.error = 'access_denied';
    await fails(/declined on the sign-in page/);
  });

  it('sends no code to where the token endpoint redirects', async () => {
    issuer.behavior.redirectsTokensTo = `${other.url}/token`;
    await fails(/has an error at the moment/);
  });

  it('sends no refresh token to where the token endpoint redirects, and keeps the sign-in', async () => {
    await signedIn();
    issuer.end();
    issuer.behavior.redirectsTokensTo = `${other.url}/token`;
    await assert.rejects(call(), /has an error at the moment/);
    issuer.behavior.redirectsTokensTo = undefined;
    assert.equal(await call(), 'hello');
  });

  it('sends no refresh token to another issuer that the server names later', async () => {
    await signedIn();
    issuer.end();
    server.behavior.authorizationServers = [other.url];
    await assert.rejects(call(), requiresSignIn('expired'));
    assert.equal(issuer.requests('/token', 'refresh_token').length, 0);
  });

  it('registers another client at another issuer', async () => {
    await signedIn();
    issuer.end();
    server.behavior.authorizationServers = [other.url];
    await assert.rejects(call(), requiresSignIn('expired'));
    assert.equal(await signIn.signIn(), true);
    const sent = [...other.received];
    assert.deepEqual(
      sent.filter(({ path }) => path !== '/token').map(({ path }) => path),
      ['/.well-known/oauth-authorization-server', '/register', '/authorize'],
    );
    const [exchange] = other.requests('/token');
    assert.equal(exchange!.parameters.get('refresh_token'), null);
    other.received.length = 0; // its own code, which it issued
  });

  it('sends no token to another origin', async () => {
    await signedIn();
    await createAuthorizedFetch(fetch, signIn)(`${other.url}/mcp`);
    assert.equal(other.received[0]!.authorization, undefined);
  });

  it('follows no address of this machine for a server elsewhere', async () => {
    const requested: string[] = [];
    window.dependencies.send = async (url) => {
      requested.push(String(url));
      return Response.json({ resource: 'https://tracker.example/mcp', authorization_servers: [other.url] });
    };
    await assert.rejects(window.signInOf('https://tracker.example/mcp').signIn(), /not https/);
    assert.deepEqual(requested, ['https://tracker.example/.well-known/oauth-protected-resource/mcp']);
  });

  it('closes its port after its time without an answer', async () => {
    const open = await loopbackRedirect({ page: String, closeAfter: 1 }).open(window.redirects);
    await new Promise<void>((resolve) => {
      if (open.expired!.aborted) resolve();
      else open.expired!.addEventListener('abort', () => resolve());
    });
    await assert.rejects(fetch(open.uri), TypeError);
    assert.match(String(open.expired!.reason), /no answer came/);
  });
});
