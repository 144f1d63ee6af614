import { message } from '../../protocol/text/l10n.ts';
import { type LocalizableText, storedLocalizableText } from '../../protocol/text/localized.ts';
import { networkReason, withNetworkReason } from '../../protocol/text/networkReason.ts';
import type { RemoteServerConfig, StdioServerConfig } from './config/config.ts';
import type { McpSdk } from './loadSdk.ts';
import { createAuthorizedFetch } from './oauth/authorizedFetch.ts';
import { type ConnectionHooks, type McpConnection, type McpOpening, openMcpClient } from './openClient.ts';
import { createMcpServerFetch, unsafeAddressReason } from './transport/http.ts';
import { unknownVersion } from './transport/plainResults.ts';
import { McpServerFault, stdioTransport } from './transport/stdio.ts';

/**
 * Starts or reaches a server and agrees on a revision of the protocol. Rejects with a `McpServerFault`, or with the signal's reason, after
 * cleanup.
 * @param known how a process of this server was opened before
 */
export async function connectMcpServer(
  launch: StdioServerConfig | RemoteServerConfig,
  sdk: McpSdk,
  hooks: ConnectionHooks,
  signal: AbortSignal,
  known: McpOpening = 'negotiated',
): Promise<McpConnection> {
  try {
    return await (launch.type === 'stdio'
      ? connectProcess(launch, sdk, hooks, signal, known)
      : connectAddress(launch, sdk, hooks, signal));
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof McpServerFault ? error : new McpServerFault(errorText(error, sdk, hooks));
  }
}

// Milliseconds for an answer to `server/discover`, and when the process is started once more because of the first try.
const [discoverTime, longDiscoverTime] = [2000, 10_000];

/**
 * Two kinds of servers are started twice: those that exit when the first message is not `initialize`, and those that have no `initialize`
 * and were too slow to answer `server/discover`.
 */
async function connectProcess(
  launch: StdioServerConfig,
  sdk: McpSdk,
  hooks: ConnectionHooks,
  signal: AbortSignal,
  known: McpOpening,
): Promise<McpConnection> {
  let isAsking = known === 'negotiated';
  let hasExited = false;
  const fault: ConnectionHooks['fault'] = (what, died) => {
    if (died && isAsking) hasExited = true;
    else hooks.fault(what, died);
  };
  const onSession = () => {
    isAsking = false;
  };
  const first = { ...hooks, fault };
  try {
    const options = { opening: known, discoverTime, onSession };
    return await openMcpClient(stdioTransport(launch, sdk, first), sdk, first, signal, options);
  } catch (error) {
    const isRefused = error instanceof sdk.ProtocolError;
    if (signal.aborted || !(hasExited || isRefused)) throw error;
    const opening = hasExited ? 'initialize' : 'negotiated';
    const options = { opening, discoverTime: longDiscoverTime } as const;
    return openMcpClient(stdioTransport(launch, sdk, hooks), sdk, hooks, signal, options);
  }
}

async function connectAddress(
  launch: RemoteServerConfig,
  sdk: McpSdk,
  hooks: ConnectionHooks,
  signal: AbortSignal,
): Promise<McpConnection> {
  const unsafe = unsafeAddressReason(launch.url, launch.headers);
  if (unsafe) throw new McpServerFault(unsafe);
  let refusal: McpServerFault | undefined;
  let isConnected = false;
  const refuse = (one: McpServerFault, fatal: boolean) => {
    refusal = one;
    if (one.cause !== undefined) hooks.log(networkReason(one.cause).text);
    if (isConnected && fatal) hooks.fault(storedLocalizableText(one));
  };
  const send = hooks.signIn && createAuthorizedFetch(globalThis.fetch, hooks.signIn, refuse);
  const options = {
    requestInit: { headers: launch.headers },
    redirectPolicy: 'follow', // the fetch refuses all redirects
    fetch: createMcpServerFetch(refuse, send),
  } as const;
  const url = new URL(launch.url);
  const overSse = () =>
    openMcpClient(new sdk.SSEClientTransport(url, options), sdk, hooks, signal, { opening: 'initialize' });
  const overHttp = (opening: McpOpening) => {
    const transport = new sdk.StreamableHTTPClientTransport(url, options);
    const goodbye = () => transport.terminateSession();
    return openMcpClient(transport, sdk, hooks, signal, { opening, discoverTime: longDiscoverTime, goodbye });
  };
  const isRefused = () => signal.aborted || refusal !== undefined;
  const overHttpInEitherWay = () =>
    overHttp('negotiated').catch((error) => {
      if (isRefused() || !isUnclear(error, sdk)) throw error;
      return overHttp('initialize');
    });
  // Fallback of the specification for older servers: if POST fails, try SSE.
  const connect = () =>
    launch.type === 'sse'
      ? overSse()
      : overHttpInEitherWay().catch((error) => {
          if (isRefused() || ![400, 404, 405].includes(statusOf(error, sdk) ?? 0)) throw error;
          hooks.log('It does not speak streamable HTTP; trying SSE.');
          return overSse();
        });
  try {
    const connection = await connect();
    isConnected = true;
    return connection;
  } catch (error) {
    signal.throwIfAborted();
    throw refusal ?? error;
  }
}

const isUnreachable = (error: unknown): error is Error => error instanceof Error && error.cause instanceof Error;

// The server answered the question for its revision in a way that says nothing of its revision.
const isUnclear = (error: unknown, { SdkError, SdkErrorCode }: McpSdk): boolean =>
  error instanceof SdkError &&
  [SdkErrorCode.EraNegotiationFailed, SdkErrorCode.RequestTimeout].includes(error.code) &&
  !isUnreachable(error.cause);

function statusOf(error: unknown, { SdkHttpError }: McpSdk): number | undefined {
  if (error instanceof SdkHttpError) return error.status;
  const { code } = error as { code?: unknown };
  return typeof code === 'number' && code >= 400 ? code : undefined;
}

function errorText(thrown: unknown, sdk: McpSdk, hooks: ConnectionHooks): LocalizableText {
  const error = thrown instanceof sdk.SdkError && thrown.cause instanceof Error ? thrown.cause : thrown;
  const { name, message: text } = error as Partial<Error>;
  if (/ZodError/.test(name ?? '')) return message('sent something that is not a JSON-RPC message');
  if (error instanceof sdk.UnsupportedProtocolVersionError) return unknownVersion(error.supported.join());
  if (isUnreachable(error)) {
    hooks.log(networkReason(error).text);
    return withNetworkReason(message('cannot be reached'), networkReason(error));
  }
  const status = statusOf(error, sdk);
  if (status !== undefined) return message('answered {0}', status);
  return message('could not be connected to: {0}', text?.replace(/\.$/, '').slice(0, 300) ?? message('unknown error'));
}
