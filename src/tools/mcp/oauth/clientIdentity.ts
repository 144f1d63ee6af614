import { message } from '../../../protocol/text/l10n.ts';
import type { McpSdk } from '../loadSdk.ts';
import { type DiscoveredSignIn, isUnreachable, type SignInFetch, unreachable } from './discoverSignIn.ts';
import { signInError } from './signInErrors.ts';
import { checkSignInAddress } from './signInFetch.ts';
import type { SignInClient, SignInRecord, SignInServer } from './signInRecord.ts';

/** Refusal to register a client with this way back; another way may be accepted. */
export class RegistrationRefusedError extends Error {
  override readonly name = 'RegistrationRefused';
}

interface ClientRequest {
  server: SignInServer;
  discovered: DiscoveredSignIn;
  /** Address of a client ID metadata document; empty: none. */
  clientMetadata: string;
  former: SignInRecord | undefined;
}

/**
 * Returns a client that is known without a request: the one that the user registered for this server, or the client ID metadata document, if
 * the server supports that; undefined if a client must be registered.
 */
export function knownClient({ server, discovered, clientMetadata }: ClientRequest): SignInClient | undefined {
  if (server.clientId !== undefined) {
    const { clientId, clientSecret } = server;
    return { client_id: clientId, ...(clientSecret && { client_secret: clientSecret }), origin: 'configured' };
  }
  const isSupported = discovered.metadata?.client_id_metadata_document_supported === true;
  return isSupported && clientMetadata !== '' ? { client_id: clientMetadata, origin: 'document' } : undefined;
}

/** Returns the client of an earlier sign-in at the same issuer with the same way back, or registers one (RFC 7591). */
export async function registeredClient(
  { server, discovered, former }: ClientRequest,
  redirectUri: string,
  scope: string | undefined,
  fetchFn: SignInFetch,
  sdk: McpSdk,
): Promise<SignInClient> {
  const earlier = former?.issuer === discovered.issuer ? former.client : undefined;
  const isUsable = earlier?.origin === 'registered' && earlier.redirectUri === redirectUri;
  if (isUsable && (earlier.expiresAt ?? Number.POSITIVE_INFINITY) > Date.now()) return earlier;
  const { metadata, authorizationServer } = discovered;
  if (metadata && typeof metadata.registration_endpoint !== 'string')
    throw signInError(
      message(
        'the sign-in page registers no clients. Register one there, and add its ID as oauth.clientId to the server',
      ),
    );
  if (metadata) checkSignInAddress(metadata.registration_endpoint as string, server.url);
  try {
    const clientMetadata = registrationOf(redirectUri);
    const answer = await sdk.registerClient(authorizationServer, { metadata, clientMetadata, scope, fetchFn });
    const { client_id, client_secret, client_secret_expires_at: until, token_endpoint_auth_method: method } = answer;
    return {
      client_id,
      ...(client_secret && { client_secret }),
      ...(method && { token_endpoint_auth_method: method }),
      ...(until && { expiresAt: until * 1000 }),
      redirectUri,
      origin: 'registered',
    };
  } catch (error) {
    if (isUnreachable(error)) throw unreachable(error);
    if (sdk.RegistrationRejectedError.isInstance(error) && metadata) throw new RegistrationRefusedError();
    throw metadata
      ? signInError(message('the sign-in page gave an invalid answer'))
      : signInError(message('it offers no sign-in. Put a token into its headers'));
  }
}

const registrationOf = (redirectUri: string) => ({
  client_name: 'Towpath',
  redirect_uris: [redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  application_type: 'native' as const,
});
