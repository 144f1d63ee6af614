import { message } from '../../../protocol/text/l10n.ts';
import { loadMcpSdk, type McpSdk } from '../loadSdk.ts';
import { authorize, type SignInUser } from './authorize.ts';
import {
  authorizationServerMetadata,
  namesAuthorizationServer,
  otherIssuer,
  type SignInFetch,
} from './discoverSignIn.ts';
import type { PendingRedirects, RedirectWay } from './pendingRedirects.ts';
import { type SignInChallenge, signInError } from './signInErrors.ts';
import { createSignInFetch } from './signInFetch.ts';
import { type SignInRecord, type SignInServer, signInKey } from './signInRecord.ts';
import type { SignInStore } from './signInStore.ts';
import { RefreshRefusedError, requestRefresh, revokeTokens } from './tokenRequests.ts';

/** Milliseconds before the end of a token in which it is no longer sent. */
const expiryMargin = 10_000;
/** Completed sign-ins within this time (milliseconds) that a server may refuse. */
const maxSignIns = 3;
const signInsWithin = 10 * 60_000;

export interface SignInDependencies {
  store: SignInStore;
  user: SignInUser;
  /** Ways back from the browser, in the order of preference. */
  ways(): readonly RedirectWay[];
  redirects: PendingRedirects;
  /** Address of Towpath's client ID metadata document; empty: none. */
  clientMetadata(): string;
  /** Reports a sign-in that is only in memory. */
  notStored(server: string): void;
  send?: SignInFetch;
}

/**
 * Sign-in of this window to one server: tokens for its requests, refresh, sign-in and sign-out.
 *
 * @invariant tokens-to-their-server: Access tokens are sent to the origin of their server only, refresh tokens to their issuer only.
 */
export class ServerSignIn {
  /** Latest challenge that no sign-in has answered, of this window or another. */
  required?: SignInChallenge;
  /** Called when `secrets` has grown. */
  onSecret?: () => void;
  private readonly key: string;
  private readonly fetchFn: SignInFetch;
  private readonly seen = new Set<string>();
  private renewing?: { rejected: string | undefined; result: Promise<string | undefined> };
  private completed: number[] = [];
  private refused?: string;
  private signingIn?: Promise<boolean>;

  constructor(
    readonly server: SignInServer,
    private readonly dependencies: SignInDependencies,
  ) {
    this.key = signInKey(server);
    this.fetchFn = createSignInFetch(server.url, dependencies.send);
  }

  /** Secrets of this sign-in in this window, to redact from what the server writes. */
  get secrets(): readonly string[] {
    return [...this.seen, ...(this.server.clientSecret ? [this.server.clientSecret] : [])];
  }

  async isSignedIn(): Promise<boolean> {
    return (await this.read())?.tokens !== undefined;
  }

  /** Returns the access token, refreshed if it ends soon; undefined without a sign-in. Throws `SignInError` if a refresh failed. */
  async accessToken(): Promise<string | undefined> {
    const tokens = (await this.read())?.tokens;
    if (!tokens || !isEnding(tokens.expiresAt)) return tokens?.access;
    return tokens.refresh === undefined ? tokens.access : this.renewed(undefined);
  }

  /**
   * Returns another access token after the server rejected one; undefined if only a sign-in helps. The server must still name the issuer of
   * the tokens. Throws `SignInError` if a refresh failed for another reason.
   */
  async replacement(rejected: string, metadataUrl: string | undefined): Promise<string | undefined> {
    const record = await this.read();
    if (!record) return undefined;
    const { authorizationServer } = record;
    const sdk = await loadMcpSdk();
    const { url } = this.server;
    if (!(await namesAuthorizationServer(url, metadataUrl, authorizationServer, this.fetchFn, sdk))) return undefined;
    return this.renewed(rejected);
  }

  /** Notes a refused request. Returns the challenge with its kind: a sign-in that existed before has expired. */
  async noteChallenge(challenge: SignInChallenge, refused: string | undefined): Promise<SignInChallenge> {
    this.refused = refused;
    let { kind } = challenge;
    if (kind === 'missing' && (await this.read())) kind = 'expired';
    if (kind === 'missing' && (await this.dependencies.store.isLost(this.key))) kind = 'lost';
    this.required = { ...challenge, kind };
    return this.required;
  }

  /** Notes that the server accepted a token: one that is not the refused one answers the challenge. */
  noteAccepted(token: string): void {
    if (this.required && token !== this.refused) this.required = undefined;
  }

  /** Signs in with the user, once at a time. Returns false if the user declined. Throws `SignInError`. */
  signIn(): Promise<boolean> {
    this.signingIn ??= this.signInOnce().finally(() => {
      this.signingIn = undefined;
    });
    return this.signingIn;
  }

  private async signInOnce(): Promise<boolean> {
    const { store, notStored, user, redirects } = this.dependencies;
    const since = Date.now() - signInsWithin;
    this.completed = this.completed.filter((at) => at > since);
    if (this.completed.length >= maxSignIns)
      throw signInError(message('the server still refuses after {0} sign-ins', maxSignIns));
    const sdk = await loadMcpSdk();
    const former = await this.read();
    const options = {
      server: this.server,
      challenge: this.required,
      former,
      clientMetadata: this.dependencies.clientMetadata(),
      ways: this.dependencies.ways(),
      redirects,
      user,
    };
    const record = await authorize(options, this.fetchFn, sdk);
    if (!record) return false;
    const isStored = await store.exclusive(this.key, () => store.write(this.key, record));
    this.note(record);
    this.completed.push(Date.now());
    this.required = undefined;
    if (!isStored) notStored(this.server.name);
    return true;
  }

  /** Forgets the sign-in, and revokes it if the server can. Returns whether it was revoked. */
  async signOut(): Promise<boolean> {
    const { store } = this.dependencies;
    this.completed = [];
    return store.exclusive(this.key, async () => {
      const record = await store.readLatest(this.key);
      await store.forget(this.key);
      if (!record) return false;
      const sdk = await loadMcpSdk();
      const revoke = async () => revokeTokens(record, await this.metadataOf(record, sdk), this.fetchFn, sdk);
      return revoke().catch(() => false); // an unreachable server must not keep a user signed in
    });
  }

  private async read(): Promise<SignInRecord | undefined> {
    const record = await this.dependencies.store.read(this.key);
    if (record) this.note(record);
    return record;
  }

  private note({ tokens, client }: Pick<SignInRecord, 'tokens' | 'client'>): void {
    const before = this.seen.size;
    for (const secret of [tokens?.access, tokens?.refresh, client.client_secret]) if (secret) this.seen.add(secret);
    if (this.seen.size > before) this.onSecret?.();
  }

  /** Requests of one window share a refresh. */
  private renewed(rejected: string | undefined): Promise<string | undefined> {
    if (this.renewing && this.renewing.rejected === rejected) return this.renewing.result;
    const result = this.refresh(rejected).finally(() => {
      if (this.renewing?.result === result) this.renewing = undefined;
    });
    this.renewing = { rejected, result };
    return result;
  }

  /**
   * Refreshes the tokens, one window at a time; another window may have done so in the meantime. The stored tokens stay until the answer is
   * stored. A refused refresh removes the tokens, so that it is not repeated.
   */
  private refresh(rejected: string | undefined): Promise<string | undefined> {
    const { store } = this.dependencies;
    return store.exclusive(this.key, async () => {
      const record = await store.readLatest(this.key);
      const tokens = record?.tokens;
      if (!record || !tokens) return undefined;
      this.note(record);
      if (tokens.access !== rejected && !isEnding(tokens.expiresAt)) return tokens.access;
      const sdk = await loadMcpSdk();
      try {
        if (tokens.refresh === undefined) throw new RefreshRefusedError();
        const metadata = await this.metadataOf(record, sdk);
        const fresh = await requestRefresh(record, tokens.refresh, metadata, this.fetchFn, sdk);
        const next = { ...record, tokens: fresh };
        this.note(next);
        await store.write(this.key, next);
        return fresh.access;
      } catch (error) {
        if (!(error instanceof RefreshRefusedError)) throw error;
        await store.write(this.key, { ...record, tokens: undefined });
        return undefined;
      }
    });
  }

  /** Reads the metadata of the record's issuer. Throws if they name another issuer than at the sign-in. */
  private async metadataOf({ authorizationServer, issuer }: SignInRecord, sdk: McpSdk) {
    const metadata = await authorizationServerMetadata(authorizationServer, this.fetchFn, sdk);
    if ((metadata?.issuer ?? authorizationServer) !== issuer) throw otherIssuer(metadata?.issuer);
    return metadata;
  }
}

const isEnding = (expiresAt: number | undefined): boolean =>
  expiresAt !== undefined && expiresAt - expiryMargin < Date.now();
