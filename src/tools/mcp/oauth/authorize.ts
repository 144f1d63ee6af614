import { randomBytes } from 'node:crypto';
import { message } from '../../../protocol/text/l10n.ts';
import type { McpSdk } from '../loadSdk.ts';
import { knownClient, RegistrationRefusedError, registeredClient } from './clientIdentity.ts';
import { type DiscoveredSignIn, discoverSignIn, hostOf, otherIssuer, type SignInFetch } from './discoverSignIn.ts';
import type { OpenRedirect, PendingRedirects, RedirectWay } from './pendingRedirects.ts';
import { type SignInChallenge, signInError } from './signInErrors.ts';
import { checkSignInAddress } from './signInFetch.ts';
import type { SignInClient, SignInRecord, SignInServer } from './signInRecord.ts';
import { exchangeCode, refusedBy } from './tokenRequests.ts';

/**
 * Sign-in before a browser opens. `tokenHost` completes the sign-in, and could use it elsewhere if it is not the host of the sign-in page.
 * `scopes` is empty if the server decides.
 */
export interface SignInRequest {
  server: string;
  serverHost: string;
  signInHost: string;
  tokenHost: string;
  scopes: readonly string[];
}

/** Decisions of the user about a sign-in. */
export interface SignInUser {
  /** Shows who signs in at which site; undefined: no sign-in. */
  confirm(request: SignInRequest): Promise<'browser' | 'link' | undefined>;
  /** Opens or copies the address, and shows that the sign-in waits until `work` ends. A cancellation aborts the signal of `work`. */
  wait<Value>(
    server: string,
    address: string,
    by: 'browser' | 'link',
    work: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value>;
}

export interface Authorization {
  server: SignInServer;
  challenge: SignInChallenge | undefined;
  former: SignInRecord | undefined;
  clientMetadata: string;
  /** Ways back in the order of preference. */
  ways: readonly RedirectWay[];
  redirects: PendingRedirects;
  user: SignInUser;
}

/**
 * Signs in by the authorization code flow with PKCE (OAuth 2.1). Returns the sign-in, not yet stored; undefined if the user declined. Throws
 * `SignInError`.
 */
export async function authorize(
  authorization: Authorization,
  fetchFn: SignInFetch,
  sdk: McpSdk,
): Promise<Omit<SignInRecord, 'version'> | undefined> {
  const { server, challenge, former, user } = authorization;
  const discovered = await discoverSignIn(server.url, challenge?.metadataUrl, fetchFn, sdk);
  const { issuer, authorizationServer, metadata, resource } = discovered;
  const endpoint = checkSignInAddress(
    metadata?.authorization_endpoint ?? new URL('/authorize', authorizationServer),
    server.url,
  );
  const tokenEndpoint = checkSignInAddress(
    metadata?.token_endpoint ?? new URL('/token', authorizationServer),
    server.url,
  );
  const scope = scopeOf(discovered, challenge, former?.issuer === issuer ? former : undefined, sdk);
  const by = await user.confirm({
    server: server.name,
    serverHost: hostOf(server.url),
    signInHost: endpoint.host,
    tokenHost: tokenEndpoint.host,
    scopes: scope?.split(' ') ?? [],
  });
  if (by === undefined) return undefined;
  const { client, redirect } = await openRedirect(authorization, discovered, scope, fetchFn, sdk);
  try {
    const state = randomBytes(32).toString('base64url');
    const { authorizationUrl, codeVerifier } = await start(discovered, client, redirect.uri, scope, state, sdk);
    const answer = await answerOf(authorization, redirect, state, authorizationUrl.href, by);
    if (!answer) return undefined;
    const { code, iss } = readAnswer(answer, discovered, sdk);
    const exchange = {
      authorizationServer,
      metadata,
      client,
      code,
      iss,
      codeVerifier,
      resource,
      redirectUri: redirect.uri,
    };
    const tokens = await exchangeCode(exchange, fetchFn, sdk);
    return {
      issuer,
      authorizationServer,
      client,
      tokens: { ...tokens, ...(tokens.scope === undefined && scope !== undefined && { scope }) },
      ...(resource !== undefined && { resource }),
      ...(scope !== undefined && { requested: scope }),
    };
  } finally {
    redirect.close();
  }
}

/**
 * Returns the scopes to request: those of the challenge, or else all that the server supports; with more permissions also those requested
 * before, so that none is lost. A refresh token needs `offline_access` at servers that know this scope.
 */
function scopeOf(
  { supportedScopes = [], metadata }: DiscoveredSignIn,
  challenge: SignInChallenge | undefined,
  former: SignInRecord | undefined,
  sdk: McpSdk,
): string | undefined {
  const wanted = challenge?.scope ?? (supportedScopes.join(' ') || undefined);
  const scope = sdk.computeScopeUnion(former?.requested, former?.tokens?.scope, wanted);
  const offline = metadata?.scopes_supported?.includes('offline_access') ? 'offline_access' : undefined;
  return scope === undefined ? undefined : sdk.computeScopeUnion(scope, offline);
}

/** Opens the first way back that the sign-in server accepts. */
async function openRedirect(
  { server, ways, clientMetadata, former, redirects }: Authorization,
  discovered: DiscoveredSignIn,
  scope: string | undefined,
  fetchFn: SignInFetch,
  sdk: McpSdk,
): Promise<{ client: SignInClient; redirect: OpenRedirect }> {
  const request = { server, discovered, clientMetadata, former };
  const known = knownClient(request);
  // A client registered by hand has no address of an editor window; any port of this machine matches (RFC 8252).
  const ordered = known ? ways.toReversed() : ways;
  for (const way of ordered) {
    const redirect = await way.open(redirects);
    try {
      return { redirect, client: known ?? (await registeredClient(request, redirect.uri, scope, fetchFn, sdk)) };
    } catch (error) {
      redirect.close();
      if (!(error instanceof RegistrationRefusedError)) throw error;
    }
  }
  throw signInError(message('the sign-in page refused to register Towpath'));
}

async function start(
  { authorizationServer, metadata, resource }: DiscoveredSignIn,
  client: SignInClient,
  redirectUrl: string,
  scope: string | undefined,
  state: string,
  sdk: McpSdk,
) {
  try {
    const options = { metadata, clientInformation: client, redirectUrl, scope, state, resource };
    return await sdk.startAuthorization(authorizationServer, options);
  } catch (error) {
    throw signInError(message('the sign-in page supports no authorization code with PKCE'), { cause: error });
  }
}

/** Waits for the browser; undefined if the user canceled. */
function answerOf(
  { server, user, redirects }: Authorization,
  { expired }: OpenRedirect,
  state: string,
  address: string,
  by: 'browser' | 'link',
): Promise<URLSearchParams | undefined> {
  return user.wait(server.name, address, by, async (canceled) => {
    const signal = expired ? AbortSignal.any([canceled, expired]) : canceled;
    try {
      return await redirects.wait(state, signal);
    } catch (error) {
      if (canceled.aborted) return undefined;
      throw error;
    }
  });
}

/** Reads an answer. The issuer is checked first (RFC 9207): the rest of an answer of another issuer is not read. */
function readAnswer(
  answer: URLSearchParams,
  { metadata }: DiscoveredSignIn,
  sdk: McpSdk,
): { code: string; iss: string | undefined } {
  const iss = answer.get('iss') ?? undefined;
  try {
    const issParameterSupported = metadata?.authorization_response_iss_parameter_supported === true;
    sdk.validateAuthorizationResponseIssuer({ iss, expectedIssuer: metadata?.issuer, issParameterSupported });
  } catch {
    throw otherIssuer(iss);
  }
  const code = answer.get('code');
  if (code === null || code === '') throw refusedBy(answer.get('error') ?? undefined);
  return { code, iss };
}
