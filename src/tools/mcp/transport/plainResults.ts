import type { JSONRPCMessage, StandardSchemaV1, Transport } from '@modelcontextprotocol/client';
import { type LocalizedMessage, message } from '../../../protocol/text/l10n.ts';
import { isJsonObject, normalizeDiscoverResult, normalizeInitializeResult } from '../forms/messageForms.ts';
import type { McpSdk } from '../loadSdk.ts';
import { createOuterTransport } from './outerTransport.ts';

type Json = Record<string, unknown>;

const versionKey = 'io.modelcontextprotocol/protocolVersion';
const unchecked = Symbol('result as the server sent it');
// Satisfies the client's strict schemas of each method of the stateless revision.
const accepted = {
  resultType: 'complete',
  ttlMs: 0,
  cacheScope: 'private',
  content: [],
  contents: [],
  messages: [],
  prompts: [],
  resources: [],
  tools: [],
};

/** Result schema of all requests: the result as the server sent it, to be parsed part by part. */
export const uncheckedResultSchema: StandardSchemaV1<unknown, Json> = {
  '~standard': {
    version: 1,
    vendor: 'towpath',
    validate: (value) => ({ value: (value as { [unchecked]?: Json })[unchecked] ?? (value as Json) }),
  },
};

/**
 * Wraps a transport to normalize the answers to `initialize` and `server/discover`, and to bring results of the stateless revision past
 * the client's schemas, where one invalid part would cost the whole result. An unknown protocol version is a fault.
 * @param onSession called when the server is spoken to in a way that it has confirmed, or in the older way
 */
export function createPlainResultTransport(
  inner: Transport,
  sdk: McpSdk,
  fault: (what: LocalizedMessage) => void,
  onSession: () => void,
): Transport {
  const methods = new Map<unknown, { method: string; isStateless: boolean }>();
  return createOuterTransport(inner, {
    onSend: (rpcMessage) => {
      if (!('method' in rpcMessage)) return;
      const { method, params } = rpcMessage;
      if (method !== 'server/discover') onSession();
      if ('id' in rpcMessage) methods.set(rpcMessage.id, { method, isStateless: versionKey in (params?._meta ?? {}) });
    },
    onReceive: (rpcMessage) => {
      if ('method' in rpcMessage || !('id' in rpcMessage)) return rpcMessage;
      const sent = methods.get(rpcMessage.id);
      methods.delete(rpcMessage.id);
      return sent && 'result' in rpcMessage ? withPlainResult(rpcMessage, sent) : rpcMessage;
    },
  });

  function withPlainResult(
    rpcMessage: Extract<JSONRPCMessage, { result: unknown }>,
    { method, isStateless }: { method: string; isStateless: boolean },
  ): JSONRPCMessage | undefined {
    const result = rpcMessage.result as Json;
    if (method === 'server/discover') return { ...rpcMessage, result: normalizeDiscoverResult(result) };
    if (method !== 'initialize') return isStateless ? { ...rpcMessage, result: passed(result) } : rpcMessage;
    const plain = normalizeInitializeResult(result);
    const version = String(plain.protocolVersion);
    if (sdk.SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return { ...rpcMessage, result: plain };
    fault(unknownVersion(version));
    return undefined;
  }
}

export const unknownVersion = (version: string): LocalizedMessage =>
  message('uses version {0} of the protocol, which Towpath does not support', JSON.stringify(version.slice(0, 40)));

// A result without a type is complete.
const passed = (result: Json): Json =>
  (result.resultType ?? 'complete') === 'complete' && isJsonObject(result)
    ? { ...accepted, [unchecked]: result }
    : result;
