import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { onAbort } from '../../protocol/values/abort.ts';
import { createOuterTransport } from './transport/outerTransport.ts';

// Flood limit: messages per time in milliseconds.
const floodMessages = 5000;
const floodTime = 5000;
// Maximum remembered ids of cancelled calls, whose answers may still arrive.
const rememberedCancelled = 1000;

/**
 * Wraps a transport with checks: an unrequested answer or a flood makes the server unusable. `fault` is called once with the end of a
 * sentence; later messages are ignored.
 */
export function createGuardedTransport(
  inner: Transport,
  fault: (what: LocalizedMessage) => void,
  now = () => performance.now(),
): Transport {
  const pending = new Set<unknown>();
  const cancelled = new Set<unknown>();
  let dead = false;
  let received = 0;
  let since = now();
  const end = (what: LocalizedMessage) => {
    if (!dead) fault(what);
    dead = true;
  };

  return createOuterTransport(inner, {
    onSend: (message, options) => {
      noteSent(message);
      const id = 'id' in message ? message.id : undefined;
      // The stateless revision cancels by closing the stream of the request.
      onAbort(options?.requestSignal, () => noteCancelled(id));
    },
    onClose: () => {
      dead = true;
    },
    onError: (error) => {
      if (!dead && /^(SyntaxError|\$?ZodError)$/.test(error.name))
        end(message('sent something that is not a JSON-RPC message'));
    },
    onReceive: (rpcMessage) => {
      if (dead) return undefined;
      if (now() - since > floodTime) {
        received = 0;
        since = now();
      }
      received += 1;
      if (received > floodMessages) {
        end(message('sent more than {0} messages in {1} s', floodMessages, floodTime / 1000));
        return undefined;
      }
      return isExpected(rpcMessage) ? rpcMessage : undefined;
    },
  });

  function noteSent(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if ('id' in message) pending.add(message.id);
    if (message.method !== 'notifications/cancelled') return;
    noteCancelled(message.params?.requestId);
  }

  function noteCancelled(id: unknown): void {
    if (pending.delete(id)) cancelled.add(id);
    if (cancelled.size > rememberedCancelled) cancelled.delete(cancelled.values().next().value);
  }

  function isExpected(rpcMessage: JSONRPCMessage): boolean {
    if ('method' in rpcMessage) return true;
    const id = 'id' in rpcMessage ? rpcMessage.id : undefined;
    if (id === undefined) return false; // an error without a call has no receiver
    if (pending.delete(id)) return true;
    if (!cancelled.delete(id))
      end(message('answered a call that was not open (id {0})', `${JSON.stringify(id)?.slice(0, 40)}`));
    return false;
  }
}
