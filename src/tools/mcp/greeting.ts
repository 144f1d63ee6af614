import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { plainGreeting } from './forms/messageForms.ts';
import type { Sdk } from './loadSdk.ts';

/** Wraps a transport to normalize the `initialize` result. An unknown protocol version is a fault. */
export function withPlainGreeting(inner: Transport, sdk: Sdk, fault: (what: LocalizedMessage) => void): Transport {
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
  inner.onmessage = (received, extra) => {
    if (!('result' in received) || greeting === undefined || received.id !== greeting)
      return outer.onmessage?.(received, extra);
    const result = plainGreeting(received.result);
    const version = String(result.protocolVersion);
    if (!sdk.SUPPORTED_PROTOCOL_VERSIONS.includes(version))
      return fault(
        message(
          'uses version {0} of the protocol, which Towpath does not support',
          JSON.stringify(version.slice(0, 40)),
        ),
      );
    outer.onmessage?.({ ...received, result }, extra);
  };
  return outer;
}
