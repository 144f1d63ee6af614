import type { OAuthProtectedResourceMetadata } from '@modelcontextprotocol/client';
import { message } from '../../../protocol/text/l10n.ts';
import type { McpSdk } from '../loadSdk.ts';
import { OfflineSignInError, type SignInError, signInError } from './signInErrors.ts';
import { checkSignInAddress, type createSignInFetch } from './signInFetch.ts';

export type SignInFetch = ReturnType<typeof createSignInFetch>;
export type AuthorizationServerMetadata = NonNullable<
  Awaited<ReturnType<McpSdk['discoverAuthorizationServerMetadata']>>
>;

/**
 * Location of a sign-in. `resource` is undefined for a server without protected resource metadata (revision 2025-03-26); `metadata` is
 * undefined if the server publishes none, so that the addresses of that revision apply.
 */
export interface DiscoveredSignIn {
  issuer: string;
  authorizationServer: string;
  metadata?: AuthorizationServerMetadata;
  resource?: string;
  supportedScopes?: readonly string[];
}

/**
 * Finds the authorization server of a server: protected resource metadata (RFC 9728), then the metadata of the first authorization server
 * (RFC 8414, OpenID Connect Discovery). Throws `SignInError`, also if the resource or the issuer is not the expected one.
 */
export async function discoverSignIn(
  url: string,
  metadataUrl: string | undefined,
  fetchFn: SignInFetch,
  sdk: McpSdk,
): Promise<DiscoveredSignIn> {
  const found = await resourceMetadata(url, metadataUrl, fetchFn, sdk);
  if (found && !sdk.checkResourceAllowed({ requestedResource: url, configuredResource: found.resource }))
    throw signInError(message('its metadata describe another server ({0})', hostOf(found.resource)));
  const [named] = found?.authorization_servers ?? [];
  const authorizationServer = named ?? String(new URL('/', url));
  checkSignInAddress(authorizationServer, url);
  const metadata = await authorizationServerMetadata(authorizationServer, fetchFn, sdk);
  const supportedScopes = found?.scopes_supported;
  return {
    issuer: metadata?.issuer ?? authorizationServer,
    authorizationServer,
    ...(metadata && { metadata }),
    ...(found && { resource: found.resource }),
    ...(supportedScopes && { supportedScopes }),
  };
}

/** Returns undefined if the server has no metadata. Throws if the sign-in servers cannot be reached. */
async function resourceMetadata(
  url: string,
  metadataUrl: string | undefined,
  fetchFn: SignInFetch,
  sdk: McpSdk,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  try {
    return await sdk.discoverOAuthProtectedResourceMetadata(url, { resourceMetadataUrl: metadataUrl }, fetchFn);
  } catch (error) {
    if (error instanceof OfflineSignInError) throw error;
    if (isUnreachable(error)) throw unreachable(error);
    return undefined;
  }
}

/** Tests if the server still names this authorization server, or names none. */
export async function namesAuthorizationServer(
  url: string,
  metadataUrl: string | undefined,
  authorizationServer: string,
  fetchFn: SignInFetch,
  sdk: McpSdk,
): Promise<boolean> {
  const { authorization_servers: named = [] } = (await resourceMetadata(url, metadataUrl, fetchFn, sdk)) ?? {};
  return named.length === 0 || named.includes(authorizationServer);
}

/**
 * Reads the metadata of an authorization server. The issuer in the metadata must be the address that the metadata were read from (RFC 8414,
 * section 3.3). Throws `SignInError`.
 */
export async function authorizationServerMetadata(
  authorizationServer: string,
  fetchFn: SignInFetch,
  sdk: McpSdk,
): Promise<AuthorizationServerMetadata | undefined> {
  let answer: Response | undefined;
  const recording: SignInFetch = async (url, init) => {
    const response = await fetchFn(url, init);
    answer = response.clone();
    return response;
  };
  try {
    const metadata = await sdk.discoverAuthorizationServerMetadata(authorizationServer, { fetchFn: recording });
    // The SDK drops fields of OpenID metadata that are not in that standard, such as the revocation endpoint.
    return metadata && { ...((await answer?.json()) as object), ...metadata };
  } catch (error) {
    if (sdk.IssuerMismatchError.isInstance(error)) throw otherIssuer((error as { received?: string }).received);
    if (error instanceof OfflineSignInError) throw error;
    if (isUnreachable(error)) throw unreachable(error);
    throw signInError(message('the sign-in page {0} has invalid metadata', hostOf(authorizationServer)), {
      cause: error,
    });
  }
}

/** Error for an answer that names another issuer. The name comes from outside, so that only its host is shown. */
export const otherIssuer = (received: string | undefined): SignInError => {
  const host = hostOf(received ?? '');
  return host === ''
    ? signInError(message('the answer does not name the site that it comes from'))
    : signInError(message('the answer came from another site ({0})', host));
};

export const isUnreachable = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof Error && error.name === 'TimeoutError');

export const unreachable = (cause: unknown): SignInError =>
  signInError(message('the sign-in page cannot be reached'), { cause });

export const hostOf = (address: string): string => (URL.canParse(address) ? new URL(address).host.slice(0, 200) : '');
