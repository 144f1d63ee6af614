import { message } from '../../../protocol/text/l10n.ts';
import type { McpSdk } from '../loadSdk.ts';
import { type AuthorizationServerMetadata, isUnreachable, type SignInFetch, unreachable } from './discoverSignIn.ts';
import { SignInError, signInError } from './signInErrors.ts';
import type { SignInClient, SignInRecord, SignInTokens } from './signInRecord.ts';

/** Answers of a token endpoint that say nothing about the token, so that the request may be repeated later. */
const temporary = new Set(['server_error', 'temporarily_unavailable', 'too_many_requests']);

/** Refusal of a refresh token or of the client; only another sign-in helps. */
export class RefreshRefusedError extends Error {
  override readonly name = 'RefreshRefused';
}

interface CodeExchange {
  authorizationServer: string;
  metadata?: AuthorizationServerMetadata;
  client: SignInClient;
  code: string;
  codeVerifier: string;
  redirectUri: string;
  resource?: string;
  /** Issuer that the answer names (RFC 9207). */
  iss?: string;
}

/** Exchanges an authorization code for tokens. Throws `SignInError`. */
export async function exchangeCode(
  { client, code, ...rest }: CodeExchange,
  fetchFn: SignInFetch,
  sdk: McpSdk,
): Promise<SignInTokens> {
  try {
    const tokens = await sdk.exchangeAuthorization(rest.authorizationServer, {
      ...rest,
      clientInformation: client,
      authorizationCode: code,
      fetchFn,
    });
    return toTokens(tokens);
  } catch (error) {
    throw toSignInError(error, sdk);
  }
}

/**
 * Refreshes the tokens of a record at its own issuer. Throws `RefreshRefusedError`, or `SignInError` if the request may be repeated.
 */
export async function requestRefresh(
  record: SignInRecord,
  refreshToken: string,
  metadata: AuthorizationServerMetadata | undefined,
  fetchFn: SignInFetch,
  sdk: McpSdk,
): Promise<SignInTokens> {
  try {
    const tokens = await sdk.refreshAuthorization(record.authorizationServer, {
      metadata,
      clientInformation: record.client,
      refreshToken,
      resource: record.resource,
      fetchFn,
    });
    const scope = tokens.scope ?? record.tokens?.scope;
    return { ...toTokens(tokens), ...(scope !== undefined && { scope }) };
  } catch (error) {
    const code = errorCodeOf(error, sdk);
    if (code !== undefined && !temporary.has(code)) throw new RefreshRefusedError(code);
    throw toSignInError(error, sdk);
  }
}

/**
 * Revokes the tokens of a record (RFC 7009): the refresh token, with which the server ends the access tokens too, or else the access token.
 * Returns false if the server offers no revocation or it failed.
 */
export async function revokeTokens(
  record: SignInRecord,
  metadata: AuthorizationServerMetadata | undefined,
  fetchFn: SignInFetch,
  sdk: McpSdk,
): Promise<boolean> {
  const { tokens, client } = record;
  const endpoint = (metadata as { revocation_endpoint?: unknown } | undefined)?.revocation_endpoint;
  if (!tokens || typeof endpoint !== 'string') return false;
  const kind = tokens.refresh === undefined ? 'access_token' : 'refresh_token';
  const body = new URLSearchParams({ token: tokens.refresh ?? tokens.access, token_type_hint: kind });
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' });
  authenticate(client, metadata?.token_endpoint_auth_methods_supported ?? [], headers, body, sdk);
  const answer = await fetchFn(sdk.assertSecureTokenEndpoint(endpoint), { method: 'POST', headers, body });
  return answer.ok;
}

/** Adds the client to a request in the way that the token endpoint supports (RFC 6749, section 2.3.1). */
function authenticate(
  client: SignInClient,
  supported: string[],
  headers: Headers,
  body: URLSearchParams,
  sdk: McpSdk,
): void {
  const method = sdk.selectClientAuthMethod(client, supported);
  const { client_id, client_secret = '' } = client;
  if (method === 'client_secret_basic')
    headers.set('authorization', `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`);
  else body.set('client_id', client_id);
  if (method === 'client_secret_post') body.set('client_secret', client_secret);
}

interface TokenAnswer {
  access_token: string;
  token_type: string;
  refresh_token?: string;
  scope?: string;
  expires_in?: number;
}

function toTokens({ access_token, token_type, refresh_token, scope, expires_in }: TokenAnswer): SignInTokens {
  if (token_type.toLowerCase() !== 'bearer')
    throw signInError(message('the sign-in page issues tokens of an unsupported type'));
  return {
    access: access_token,
    ...(refresh_token && { refresh: refresh_token }),
    ...(scope !== undefined && { scope }),
    ...(expires_in !== undefined && { expiresAt: Date.now() + expires_in * 1000 }),
  };
}

const errorCodeOf = (error: unknown, sdk: McpSdk): string | undefined =>
  sdk.OAuthError.isInstance(error) ? String((error as { code: unknown }).code) : undefined;

/** Converts an error without its text, which may contain a token or anything that a server wrote. */
function toSignInError(error: unknown, sdk: McpSdk): SignInError {
  if (error instanceof SignInError) return error;
  if (isUnreachable(error)) return unreachable(error);
  return refusedBy(errorCodeOf(error, sdk));
}

/** Error for an OAuth error code. Codes come from outside, so that only the form of the standard's codes is shown. */
export function refusedBy(code: string | undefined): SignInError {
  if (code !== undefined && temporary.has(code))
    return signInError(message('the sign-in page has an error at the moment. Try again later'));
  if (code === 'access_denied') return signInError(message('the sign-in was declined on the sign-in page'));
  return code !== undefined && /^[a-z_]{1,40}$/.test(code)
    ? signInError(message('the sign-in page refused it ({0})', code))
    : signInError(message('the sign-in page gave an invalid answer'));
}
