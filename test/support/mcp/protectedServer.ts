import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, type Listening, listen } from '../listening.ts';
import type { AuthorizationServer } from './authorizationServer.ts';

interface Behavior {
  authorizationServers: string[];
  /** Resource in the metadata; undefined: the right one. */
  resource: string | undefined;
  hasMetadata: boolean;
  /** Scope that the challenge names before a sign-in. */
  scope: string | undefined;
  /** Scope that `tools/call` requires. */
  callScope: string | undefined;
  scopesSupported: string[] | undefined;
  /** Address that requests are redirected to. */
  redirectsTo: string | undefined;
}

/** A server over streamable HTTP with one tool that repeats its text, and that requires tokens of an authorization server (RFC 9728). */
export class ProtectedServer {
  /** `Authorization` headers of all requests for the protocol. */
  readonly sent: (string | undefined)[] = [];
  readonly behavior: Behavior;
  /** Text in the answer of the tool, in place of that of the call. */
  says: ((authorization: string) => string) | undefined;
  /** Question during a call; the server then speaks revision 2026-07-28. */
  asks: object | undefined;
  private listening!: Listening;

  private constructor(private readonly authorization: AuthorizationServer) {
    this.behavior = {
      authorizationServers: [authorization.url],
      resource: undefined,
      hasMetadata: true,
      scope: undefined,
      callScope: undefined,
      scopesSupported: undefined,
      redirectsTo: undefined,
    };
  }

  static async start(authorization: AuthorizationServer): Promise<ProtectedServer> {
    const server = new ProtectedServer(authorization);
    server.listening = await listen((request, response) => server.answer(request, response));
    return server;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.listening.port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  close(): Promise<void> {
    return this.listening.close();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { behavior } = this;
    const body = await bodyOf(request);
    const path = '/.well-known/oauth-protected-resource/mcp';
    if (request.url === path && behavior.hasMetadata) {
      const metadata = {
        resource: behavior.resource ?? this.url,
        authorization_servers: behavior.authorizationServers,
        ...(behavior.scopesSupported && { scopes_supported: behavior.scopesSupported }),
      };
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata));
    }
    if (request.url !== '/mcp') return void response.writeHead(404).end();
    this.sent.push(request.headers.authorization);
    if (behavior.redirectsTo !== undefined)
      return void response.writeHead(307, { location: behavior.redirectsTo }).end();
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    const scope = this.authorization.scopeOf(token, behavior.hasMetadata ? (behavior.resource ?? this.url) : '');
    const challenge = (status: number, ...parts: string[]) =>
      void response
        .writeHead(status, {
          'www-authenticate': `Bearer ${[...parts, ...(behavior.hasMetadata ? [`resource_metadata="${this.origin}${path}"`] : [])].join(', ')}`,
        })
        .end();
    if (scope === undefined) return challenge(401, ...(behavior.scope ? [`scope="${behavior.scope}"`] : ['realm="x"']));
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(body);
    if (method === 'tools/call' && behavior.callScope && !scope.split(' ').includes(behavior.callScope))
      return challenge(403, 'error="insufficient_scope"', `scope="${behavior.callScope}"`);
    if (id === undefined) return void response.writeHead(202).end();
    const known = this.resultOf(method, params, request.headers.authorization!);
    const result = known && this.asks ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...known } : known;
    const answer = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  }

  private resultOf(
    method: string,
    params: { protocolVersion?: string; arguments?: { text?: string }; inputResponses?: object },
    authorization: string,
  ): object | undefined {
    if (method === 'server/discover' && this.asks)
      return { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
    if (method === 'initialize')
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'tracker', version: '1' },
      };
    if (method === 'tools/list')
      return { tools: [{ name: 'echo', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } }] };
    if (method === 'tools/call' && this.asks)
      return params.inputResponses
        ? { content: [{ type: 'text', text: JSON.stringify(params.inputResponses) }] }
        : { resultType: 'input_required', inputRequests: { one: this.asks } };
    if (method === 'tools/call')
      return { content: [{ type: 'text', text: this.says?.(authorization) ?? params.arguments?.text ?? '' }] };
    return undefined;
  }
}
