import { loadMcpSdk } from '../loadSdk.ts';
import type { ServerSignIn } from './serverSignIn.ts';
import { type SignInChallenge, SignInRequiredError } from './signInErrors.ts';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Creates a fetch that sends the access token of a sign-in to the origin of its server. A rejected token is replaced once; then, and for
 * too few scopes, the request fails with `SignInRequiredError`. A request with an `Authorization` header of the configuration is not
 * changed, and neither is its answer.
 */
export function createAuthorizedFetch(inner: Fetch, signIn: ServerSignIn): Fetch {
  const { origin } = new URL(signIn.server.url);
  return async (url, init) => {
    if (new URL(url).origin !== origin || new Headers(init?.headers).has('authorization')) return inner(url, init);
    const token = await signIn.accessToken();
    let response = await inner(url, withToken(init, token));
    if (response.status !== 401 && response.status !== 403) return response;
    let challenge = await challengeOf(response);
    if (challenge && challenge.kind !== 'scope' && token !== undefined) {
      const fresh = await signIn.replacement(token, challenge.metadataUrl);
      if (fresh !== undefined) {
        await response.body?.cancel();
        response = await inner(url, withToken(init, fresh));
        challenge = await challengeOf(response);
      }
    }
    if (!challenge) return response;
    await response.body?.cancel();
    throw new SignInRequiredError(await signIn.noteChallenge(challenge));
  };
}

function withToken(init: RequestInit | undefined, token: string | undefined): RequestInit | undefined {
  if (token === undefined) return init;
  const headers = new Headers(init?.headers);
  headers.set('authorization', `Bearer ${token}`);
  return { ...init, headers };
}

/** Reads the challenge of an answer (RFC 6750, section 3); undefined if a sign-in does not help. */
async function challengeOf(response: Response): Promise<SignInChallenge | undefined> {
  if (response.status !== 401 && response.status !== 403) return undefined;
  const { extractWWWAuthenticateParams } = await loadMcpSdk();
  const { scope, error, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  if (response.status === 403 && error !== 'insufficient_scope') return undefined;
  return {
    kind: response.status === 403 ? 'scope' : 'missing',
    ...(scope && { scope }),
    ...(resourceMetadataUrl && { metadataUrl: resourceMetadataUrl.href }),
  };
}
