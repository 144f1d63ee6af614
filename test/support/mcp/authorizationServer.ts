import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, type Listening, listen } from '../listening.ts';

/** A request that a server received. */
export interface ReceivedRequest {
  path: string;
  authorization?: string;
  parameters: URLSearchParams;
}

interface Grant {
  clientId: string;
  redirectUri: string;
  challenge: string;
  scope: string;
  resource: string;
}

/** What a test changes: each field alone makes the servers behave in another way. */
interface Behavior {
  /** Seconds that an access token is valid, as the answer states; undefined: no statement. */
  expiresIn: number | undefined;
  hasRegistration: boolean;
  /** Tests a redirect URI of a registration. */
  acceptsRedirect(uri: string): boolean;
  supportsMetadataDocuments: boolean;
  hasRevocation: boolean;
  /** Issuer in the metadata; undefined: the right one. */
  issuer: string | undefined;
  /** Issuer in the answer to the browser; undefined: none. */
  iss: string | undefined;
  saysIss: boolean;
  /** Answer to the browser: state, or an error code. */
  state(sent: string): string;
  error: string | undefined;
  /** Address that the token endpoint redirects to. */
  redirectsTokensTo: string | undefined;
  tokenStatus: number;
  /** Runs before a token request is answered. */
  beforeToken(grantType: string): Promise<void>;
  /** Breaks the connection after a refresh was carried out. */
  losesAnswer: boolean;
  /** Keeps refresh tokens; otherwise each is valid once, and a second use ends the sign-in. */
  rotates: boolean;
  scopesSupported: string[] | undefined;
}

/** A small authorization server (RFC 6749 with PKCE, 7009, 7591, 8414, 8707, 9207) with everything that it received. */
export class AuthorizationServer {
  readonly received: ReceivedRequest[] = [];
  readonly behavior: Behavior = {
    expiresIn: 3600,
    hasRegistration: true,
    acceptsRedirect: () => true,
    supportsMetadataDocuments: false,
    hasRevocation: true,
    issuer: undefined,
    iss: undefined,
    saysIss: false,
    state: (sent) => sent,
    error: undefined,
    redirectsTokensTo: undefined,
    tokenStatus: 200,
    beforeToken: async () => {},
    losesAnswer: false,
    rotates: true,
    scopesSupported: undefined,
  };
  /** Secrets of registered clients; a public client has none. */
  readonly clients = new Map<string, string | undefined>();
  private readonly codes = new Map<string, Grant>();
  private readonly access = new Map<string, Grant>();
  private readonly refresh = new Map<string, Grant>();
  private listening!: Listening;

  static async start(): Promise<AuthorizationServer> {
    const server = new AuthorizationServer();
    server.listening = await listen((request, response) => server.answer(request, response));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.listening.port}`;
  }

  /** Tokens that were sent here, of any kind. */
  get tokensSent(): string[] {
    return this.received.flatMap(({ parameters, authorization }) => [
      ...['refresh_token', 'token', 'code'].flatMap((name) => parameters.getAll(name)),
      ...(authorization ? [authorization] : []),
    ]);
  }

  requests(path: string, grantType?: string): ReceivedRequest[] {
    return this.received.filter(
      (one) => one.path === path && (!grantType || one.parameters.get('grant_type') === grantType),
    );
  }

  scopeOf(accessToken: string, resource: string): string | undefined {
    const grant = this.access.get(accessToken);
    return grant?.resource === resource ? grant.scope : undefined;
  }

  /** Ends all access tokens, and with `all` the refresh tokens too. */
  end(all = false): void {
    this.access.clear();
    if (all) this.refresh.clear();
  }

  close(): Promise<void> {
    return this.listening.close();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, this.url);
    const body = await bodyOf(request);
    const isForm = request.headers['content-type']?.includes('urlencoded') ?? false;
    const parameters = isForm ? new URLSearchParams(body) : url.searchParams;
    this.received.push({ path: url.pathname, authorization: request.headers.authorization, parameters });
    const json = (status: number, value: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (url.pathname === '/.well-known/oauth-authorization-server') return void json(200, this.metadata());
    if (url.pathname === '/register') return void this.register(JSON.parse(body), json);
    if (url.pathname === '/authorize') return void this.authorize(parameters, response);
    if (url.pathname === '/token') return this.token(parameters, request, response, json);
    if (url.pathname === '/revoke') {
      const token = parameters.get('token') ?? '';
      const grant = this.refresh.get(token) ?? this.access.get(token);
      for (const tokens of [this.access, this.refresh])
        for (const [one, of] of tokens) if (of === grant) tokens.delete(one);
      return void response.writeHead(200).end();
    }
    json(404, {});
  }

  private metadata(): object {
    const { behavior, url } = this;
    return {
      issuer: behavior.issuer ?? url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      ...(behavior.hasRegistration && { registration_endpoint: `${url}/register` }),
      ...(behavior.hasRevocation && { revocation_endpoint: `${url}/revoke` }),
      ...(behavior.saysIss && { authorization_response_iss_parameter_supported: true }),
      ...(behavior.supportsMetadataDocuments && { client_id_metadata_document_supported: true }),
      ...(behavior.scopesSupported && { scopes_supported: behavior.scopesSupported }),
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    };
  }

  private register(asked: { redirect_uris: string[] }, json: (status: number, value: object) => unknown): void {
    if (!asked.redirect_uris.every((uri) => this.behavior.acceptsRedirect(uri)))
      return void json(400, { error: 'invalid_redirect_uri' });
    const client_id = `client-${this.clients.size + 1}`;
    this.clients.set(client_id, undefined);
    json(201, { ...asked, client_id });
  }

  private authorize(parameters: URLSearchParams, response: ServerResponse): void {
    const given = (name: string) => parameters.get(name) ?? '';
    const back = new URL(given('redirect_uri'));
    const { behavior } = this;
    back.searchParams.set('state', behavior.state(given('state')));
    if (behavior.iss !== undefined) back.searchParams.set('iss', behavior.iss);
    if (behavior.error !== undefined) back.searchParams.set('error', behavior.error);
    else {
      const code = `code-${randomUUID()}`;
      this.codes.set(code, {
        clientId: given('client_id'),
        redirectUri: given('redirect_uri'),
        challenge: given('code_challenge'),
        scope: given('scope'),
        resource: given('resource'),
      });
      back.searchParams.set('code', code);
    }
    response.writeHead(302, { location: back.href }).end();
  }

  private async token(
    parameters: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
    json: (status: number, value: object) => unknown,
  ): Promise<void> {
    const { behavior } = this;
    const type = parameters.get('grant_type') ?? '';
    await behavior.beforeToken(type);
    if (behavior.redirectsTokensTo !== undefined)
      return void response.writeHead(307, { location: behavior.redirectsTokensTo }).end();
    if (behavior.tokenStatus !== 200) return void json(behavior.tokenStatus, { error: 'server_error' });
    const grant = type === 'refresh_token' ? this.ofRefresh(parameters) : this.ofCode(parameters);
    if (!grant || !this.isClient(grant.clientId, parameters, request))
      return void json(400, { error: 'invalid_grant' });
    const tokens = { access_token: `access-${randomUUID()}`, refresh_token: `refresh-${randomUUID()}` };
    this.access.set(tokens.access_token, grant);
    this.refresh.set(tokens.refresh_token, grant);
    if (behavior.losesAnswer) return void request.socket.destroy();
    json(200, { ...tokens, token_type: 'Bearer', scope: grant.scope, expires_in: behavior.expiresIn });
  }

  private ofCode(parameters: URLSearchParams): Grant | undefined {
    const code = parameters.get('code') ?? '';
    const grant = this.codes.get(code);
    this.codes.delete(code);
    const challenge = createHash('sha256')
      .update(parameters.get('code_verifier') ?? '')
      .digest('base64url');
    const isSame = grant?.challenge === challenge && grant.redirectUri === parameters.get('redirect_uri');
    return isSame && grant.resource === (parameters.get('resource') ?? '') ? grant : undefined;
  }

  private ofRefresh(parameters: URLSearchParams): Grant | undefined {
    const token = parameters.get('refresh_token') ?? '';
    const grant = this.refresh.get(token);
    if (this.behavior.rotates) this.refresh.delete(token);
    if (!grant && this.behavior.rotates) this.refresh.clear(); // as after a theft
    return grant?.resource === (parameters.get('resource') ?? '') ? grant : undefined;
  }

  private isClient(clientId: string, parameters: URLSearchParams, { headers }: IncomingMessage): boolean {
    const basic = Buffer.from((headers.authorization ?? '').replace('Basic ', ''), 'base64').toString();
    const [id, secret] =
      basic === '' ? [parameters.get('client_id'), parameters.get('client_secret')] : basic.split(':');
    return id === clientId && (secret ?? undefined) === this.clients.get(clientId);
  }
}
