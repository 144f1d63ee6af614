import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { type LocalizableText, storedLocalizableText } from '../../protocol/text/localized.ts';
import { networkReason, withNetworkReason } from '../../protocol/text/networkReason.ts';
import { onAbort } from '../../protocol/values/abort.ts';
import type { RemoteServerConfig, StdioServerConfig } from './config/config.ts';
import { normalizeInitializeResult } from './forms/messageForms.ts';
import { createGuardedTransport } from './guard.ts';
import type { McpSdk } from './loadSdk.ts';
import { createMcpServerFetch, type UnusableAddressError, unsafeAddressReason } from './transport/http.ts';
import { McpServerFault, stdioTransport } from './transport/stdio.ts';

export interface McpConnection {
  client: Client;
  close(): Promise<void>;
}

export interface ConnectionHooks {
  log(text: string): void;
  errors(text: string): void;
  /** Reports a fatal fault as the end of a sentence, like `ended by itself (code 1)`. `died`: the process has exited. */
  fault(what: LocalizableText, died?: boolean): void;
  toolsChanged(): void;
  roots(): { uri: string; name: string }[];
}

const logLimit = 2000;

/** Starts or reaches a server and initializes the protocol. Rejects with a `McpServerFault`, or with the signal's reason, after cleanup. */
export async function connectMcpServer(
  launch: StdioServerConfig | RemoteServerConfig,
  sdk: McpSdk,
  hooks: ConnectionHooks,
  signal: AbortSignal,
): Promise<McpConnection> {
  if (launch.type === 'stdio') {
    return introduce(stdioTransport(launch, sdk, hooks), sdk, hooks, signal).catch((error) => {
      signal.throwIfAborted();
      throw error instanceof McpServerFault ? error : new McpServerFault(errorText(error));
    });
  }
  const unsafe = unsafeAddressReason(launch.url, launch.headers);
  if (unsafe) throw new McpServerFault(unsafe);
  let refusal: UnusableAddressError | undefined;
  let isIntroduced = false;
  const options = {
    requestInit: { headers: launch.headers },
    fetch: createMcpServerFetch((one, fatal) => {
      refusal = one;
      if (isIntroduced && fatal) hooks.fault(storedLocalizableText(one));
    }),
  };
  const url = new URL(launch.url);
  const overSse = () => introduce(new sdk.SSEClientTransport(url, options), sdk, hooks, signal);
  const overHttp = async () => {
    const transport = new sdk.StreamableHTTPClientTransport(url, options);
    try {
      return await introduce(transport as Transport, sdk, hooks, signal, () => transport.terminateSession());
    } catch (error) {
      // Fallback of the specification for older servers: if POST fails, try SSE.
      if (![400, 404, 405].includes((error as { code?: number }).code ?? 0)) throw error;
      hooks.log('It does not speak streamable HTTP; trying SSE.');
      return overSse();
    }
  };
  try {
    const connection = await (launch.type === 'sse' ? overSse() : overHttp());
    isIntroduced = true;
    return connection;
  } catch (error) {
    signal.throwIfAborted();
    if (refusal) throw refusal;
    if (isUnreachable(error)) hooks.log(networkReason(error).text);
    throw new McpServerFault(errorText(error));
  }
}

const isUnreachable = (error: unknown): boolean => error instanceof Error && error.cause instanceof Error;

function errorText(error: unknown): LocalizableText {
  const { name, message: text, code } = error as Partial<Error> & { code?: unknown };
  if (/ZodError/.test(name ?? '')) return message('sent something that is not a JSON-RPC message');
  if (isUnreachable(error)) return withNetworkReason(message('cannot be reached'), networkReason(error));
  if (typeof code === 'number' && code >= 400) return message('answered {0}', code);
  return message(
    'could not be connected to: {0}',
    text?.replace(/^MCP error -?\d+: |\.$/g, '').slice(0, 300) ?? message('unknown error'),
  );
}

async function introduce(
  inner: Transport,
  sdk: McpSdk,
  hooks: ConnectionHooks,
  signal: AbortSignal,
  goodbye: () => Promise<void> = async () => {},
): Promise<McpConnection> {
  signal.throwIfAborted();
  let broken: (error: Error) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    broken = reject;
  });
  failed.catch(() => {});
  const fault = (what: LocalizedMessage) => {
    broken(new McpServerFault(what));
    hooks.fault(what);
    void inner.close();
  };
  const transport = withPlainGreeting(createGuardedTransport(inner, fault), sdk, fault);
  const client = createClient(sdk, hooks);
  const close = async () => {
    await Promise.race([goodbye().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 500))]);
    await transport.close();
  };
  const stopListening = onAbort(signal, (reason) => broken(reason as Error));
  try {
    // The SDK's timeout is disabled because it starts only after the transport.
    await Promise.race([client.connect(transport, { timeout: 2 ** 31 - 1 }), failed]);
    return { client, close };
  } catch (error) {
    await transport.close().catch(() => {});
    throw error;
  } finally {
    stopListening();
  }
}

// Creates a client with the open folders as the only capability; sampling and elicitation are refused.
function createClient(sdk: McpSdk, hooks: ConnectionHooks): Client {
  const client = new sdk.Client(
    { name: 'towpath', title: 'Towpath', version: '0.1.0' },
    { capabilities: { roots: { listChanged: true } } },
  );
  client.setRequestHandler(sdk.ListRootsRequestSchema, () => ({ roots: hooks.roots() }));
  client.setNotificationHandler(sdk.ToolListChangedNotificationSchema, () => hooks.toolsChanged());
  client.setNotificationHandler(sdk.LoggingMessageNotificationSchema, ({ params }) => {
    const data = typeof params.data === 'string' ? params.data : JSON.stringify(params.data);
    hooks.log(`${params.level}: ${(data ?? '').slice(0, logLimit)}`);
  });
  client.fallbackRequestHandler = async ({ method }) => {
    hooks.log(`It asked for ${method.slice(0, 100)}, which Towpath does not do for servers.`);
    throw new sdk.McpError(sdk.ErrorCode.MethodNotFound, `Towpath does not offer ${method.slice(0, 100)} to servers.`);
  };
  return client;
}

// Wraps a transport to normalize the `initialize` result. An unknown protocol version is a fault.
function withPlainGreeting(inner: Transport, sdk: McpSdk, fault: (what: LocalizedMessage) => void): Transport {
  let greeting: unknown;
  const outer: Transport = {
    start: () => inner.start(),
    send: (message, options) => {
      if ('method' in message && 'id' in message && message.method === 'initialize') greeting = message.id;
      return inner.send(message, options);
    },
    close: () => inner.close(),
    get sessionId() {
      return inner.sessionId;
    },
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
  };
  inner.onclose = () => outer.onclose?.();
  inner.onerror = (error) => outer.onerror?.(error);
  inner.onmessage = (rpcMessage, extra) => {
    if (!('result' in rpcMessage) || greeting === undefined || rpcMessage.id !== greeting)
      return outer.onmessage?.(rpcMessage, extra);
    const result = normalizeInitializeResult(rpcMessage.result);
    const version = String(result.protocolVersion);
    if (!sdk.SUPPORTED_PROTOCOL_VERSIONS.includes(version))
      return fault(
        message(
          'uses version {0} of the protocol, which Towpath does not support',
          JSON.stringify(version.slice(0, 40)),
        ),
      );
    outer.onmessage?.({ ...rpcMessage, result }, extra);
  };
  return outer;
}
