import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type Sentence, sentence } from '../../protocol/text/l10n.ts';
import { plainGreeting } from './forms/messageForms.ts';
import type { Sdk } from './loadSdk.ts';

/** Returns a transport whose answer to `initialize` is in a plain form. A version of the protocol that is not known is a fault. */
export function withPlainGreeting(inner: Transport, sdk: Sdk, fault: (what: Sentence) => void): Transport {
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
  inner.onmessage = (message, extra) => {
    if (!('result' in message) || greeting === undefined || message.id !== greeting)
      return outer.onmessage?.(message, extra);
    const result = plainGreeting(message.result);
    const version = String(result.protocolVersion);
    if (!sdk.SUPPORTED_PROTOCOL_VERSIONS.includes(version))
      return fault(
        sentence(
          'uses version {0} of the protocol, which Towpath does not support',
          JSON.stringify(version.slice(0, 40)),
        ),
      );
    outer.onmessage?.({ ...message, result }, extra);
  };
  return outer;
}
