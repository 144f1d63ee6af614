import type {
  Client,
  ClientOptions,
  ElicitResult,
  Transport,
  VersionNegotiationOptions,
} from '@modelcontextprotocol/client';
import type { LocalizedMessage } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { onAbort } from '../../protocol/values/abort.ts';
import type { SandboxedCommand } from '../commandSandbox/commandSandbox.ts';
import type { StdioServerConfig } from './config/config.ts';
import type { ElicitationAnswer } from './elicitation/elicitationForm.ts';
import { createGuardedTransport } from './guard.ts';
import type { McpSdk } from './loadSdk.ts';
import type { ServerSignIn } from './oauth/serverSignIn.ts';
import type { McpRequestOptions } from './request.ts';
import { createPlainResultTransport, uncheckedResultSchema } from './transport/plainResults.ts';
import { McpServerFault } from './transport/stdio.ts';

export interface McpConnection {
  client: Client;
  /** Sends a request. Progress is that of the server only: the client reports its own steps when the server asks for input. */
  request(
    method: string,
    params: Record<string, unknown>,
    options: McpRequestOptions,
  ): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export interface ConnectionHooks {
  log(text: string): void;
  errors(text: string): void;
  /** Reports a fatal fault as the end of a sentence, like `ended by itself (code 1)`. `died`: the process has exited. */
  fault(what: LocalizableText, died?: boolean): void;
  toolsChanged(): void;
  roots(): { uri: string; name: string }[];
  /** Returns the sandbox to start a process in; undefined: none. Rejects with a `McpServerFault` if the required one is missing. */
  confine?(launch: StdioServerConfig): Promise<SandboxedCommand | undefined>;
  /** Answers a question of the server to the user. Absent: the server is told that the user cannot be asked. */
  elicit?(params: Record<string, unknown>, signal: AbortSignal): Promise<ElicitationAnswer>;
  /** Sign-in to a server at an address; undefined: none. */
  signIn?: ServerSignIn;
}

const logLimit = 2000;
// Longer than any time limit: requests have limits of their own.
const withoutLimit = 2 ** 31 - 1;

/** `negotiated`: the stateless revision if the server has it, else an older one. `initialize`: only older revisions. */
export type McpOpening = 'negotiated' | 'initialize';

interface OpenOptions {
  opening: McpOpening;
  /** Milliseconds for an answer to `server/discover`: a process of an older revision may ignore it. */
  discoverTime?: number;
  /** Called when the server can be taken for present: it confirmed a revision, or the older way is taken. */
  onSession?(): void;
  goodbye?(): Promise<void>;
}

/** Opens a client on a transport. Rejects with a `McpServerFault`, an error of the client, or the signal's reason, after cleanup. */
export async function openMcpClient(
  inner: Transport,
  sdk: McpSdk,
  hooks: ConnectionHooks,
  signal: AbortSignal,
  { opening, discoverTime = withoutLimit, onSession = () => {}, goodbye = async () => {} }: OpenOptions,
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
  const transport = createPlainResultTransport(createGuardedTransport(inner, fault), sdk, fault, onSession);
  const client = createClient(
    sdk,
    hooks,
    opening === 'initialize' ? { mode: 'legacy' } : { mode: 'auto', probe: { timeoutMs: discoverTime } },
  );
  const close = async () => {
    await Promise.race([goodbye().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 500))]);
    await transport.close();
  };
  const stopListening = onAbort(signal, (reason) => broken(reason as Error));
  try {
    await Promise.race([client.connect(transport, { timeout: withoutLimit }), failed]);
    onSession();
    listenToChanges(client, hooks);
    return { client, request: createRequest(client), close };
  } catch (error) {
    await transport.close().catch(() => {});
    throw error;
  } finally {
    stopListening();
  }
}

// Creates a client with the open folders and questions to the user as capabilities; sampling is refused.
function createClient(sdk: McpSdk, hooks: ConnectionHooks, versionNegotiation: VersionNegotiationOptions): Client {
  const client = new sdk.Client(
    { name: 'towpath', title: 'Towpath', version: '0.1.0' },
    {
      capabilities: { roots: { listChanged: true }, ...(hooks.elicit && { elicitation: { form: {}, url: {} } }) },
      versionNegotiation,
      jsonSchemaValidator: uncheckedSchemas,
    },
  );
  client.setRequestHandler('roots/list', () => ({ roots: hooks.roots() }));
  if (hooks.elicit)
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) =>
      toElicitResult(await hooks.elicit!(params, mcpReq.signal)),
    );
  client.setNotificationHandler('notifications/tools/list_changed', () => hooks.toolsChanged());
  client.setNotificationHandler('notifications/message', ({ params }) => {
    const data = typeof params.data === 'string' ? params.data : JSON.stringify(params.data);
    hooks.log(`${params.level}: ${(data ?? '').slice(0, logLimit)}`);
  });
  client.fallbackRequestHandler = async ({ method }) => {
    hooks.log(`It asked for ${method.slice(0, 100)}, which Towpath does not do for servers.`);
    throw new sdk.ProtocolError(methodNotFound, `Towpath does not offer ${method.slice(0, 100)} to servers.`);
  };
  return client;
}

function createRequest(client: Client): McpConnection['request'] {
  const listeners = new Map<string | number, McpRequestOptions['onprogress']>();
  let count = 0;
  client.setNotificationHandler('notifications/progress', ({ params }) =>
    listeners.get(params.progressToken)?.(params),
  );
  return async (method, params, { onprogress, ...options }) => {
    if (!onprogress) return client.request({ method, params }, uncheckedResultSchema, options);
    count += 1;
    const progressToken = `call-${count}`;
    listeners.set(progressToken, onprogress);
    try {
      const withToken = { ...params, _meta: { progressToken } };
      return await client.request({ method, params: withToken }, uncheckedResultSchema, options);
    } finally {
      listeners.delete(progressToken);
    }
  };
}

const toElicitResult = (answer: ElicitationAnswer): ElicitResult =>
  answer.action === 'accept' ? { action: 'accept', content: answer.content as ElicitResult['content'] } : answer;

const methodNotFound = -32601;

// Arguments are checked before a call, and structured content is passed on as it is.
const uncheckedSchemas: ClientOptions['jsonSchemaValidator'] = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
};

// In the stateless revision a server reports changes only to those who listen.
function listenToChanges(client: Client, hooks: ConnectionHooks): void {
  if (client.getProtocolEra() !== 'modern' || !client.getServerCapabilities()?.tools?.listChanged) return;
  client
    .listen({ toolsListChanged: true }, { timeout: withoutLimit })
    .catch((error: Error) => hooks.log(`It does not report changes of its tools: ${error.message.slice(0, 200)}`));
}
