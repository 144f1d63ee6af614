import { message } from '../../../protocol/text/l10n.ts';
import { loadMcpSdk } from '../loadSdk.ts';
import { McpServerFault } from '../transport/stdio.ts';
import type { ServerSignIn } from './serverSignIn.ts';
import { type SignInChallenge, SignInRequiredError } from './signInErrors.ts';
import { isLoopbackHost } from './signInFetch.ts';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Creates a fetch that sends the access token of a sign-in to the origin of its server. A rejected token is replaced once; then, and for
 * too few scopes, the request fails with `SignInRequiredError`. A request with an `Authorization` header of the configuration is not
 * changed, and neither is its answer. `onRequired` is called before; `fatal`: no message reaches the server without a sign-in.
 */
export function createAuthorizedFetch(
  inner: Fetch,
  signIn: ServerSignIn,
  onRequired: (error: SignInRequiredError, fatal: boolean) => void = () => {},
): Fetch {
  const server = new URL(signIn.server.url);
  const isSafe = server.protocol === 'https:' || isLoopbackHost(server.hostname);
  return async (url, init) => {
    if (new URL(url).origin !== server.origin || new Headers(init?.headers).has('authorization'))
      return inner(url, init);
    let token = isSafe ? await signIn.accessToken() : undefined;
    let response = await inner(url, withToken(init, token));
    let challenge = await challengeOf(response);
    if (challenge && !isSafe) throw new McpServerFault(message('requires a sign-in, and its address is not https'));
    if (challenge && challenge.kind !== 'scope' && token !== undefined) {
      const fresh = await signIn.replacement(token, challenge.metadataUrl);
      if (fresh !== undefined) {
        await response.body?.cancel();
        token = fresh;
        response = await inner(url, withToken(init, token));
        challenge = await challengeOf(response);
      }
    }
    if (!challenge) {
      if (token !== undefined) signIn.noteAccepted(token);
      return response;
    }
    await response.body?.cancel();
    const error = new SignInRequiredError(await signIn.noteChallenge(challenge, token));
    onRequired(error, init?.method === 'POST' && error.challenge.kind !== 'scope');
    throw error;
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
