import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';

/** Messages within a time: more is a flood, which would keep the editor busy with nothing else. */
const floodMessages = 5000;
const floodTime = 5000;
/** Answers may still be under way for calls that were given up. */
const rememberedCancelled = 1000;

/**
 * A transport that watches what comes: answers nobody asked for and floods make a server unusable (`fault` is told once,
 * with a sentence's end), and after that nothing of it is heard.
 */
export function guarded(
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

  const outer: Transport = {
    start: () => inner.start(),
    send: (message, options) => {
      noteSent(message);
      return inner.send(message, options);
    },
    close: () => {
      dead = true;
      return inner.close();
    },
    get sessionId() {
      return inner.sessionId;
    },
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
  };
  inner.onclose = () => outer.onclose?.();
  inner.onerror = (error) => {
    if (!dead && /^(SyntaxError|\$?ZodError)$/.test(error.name))
      end(message('sent something that is not a JSON-RPC message'));
    outer.onerror?.(error);
  };
  inner.onmessage = (chatMessage, extra) => {
    if (dead) return;
    if (now() - since > floodTime) {
      received = 0;
      since = now();
    }
    received += 1;
    if (received > floodMessages)
      return end(message('sent more than {0} messages in {1} s', floodMessages, floodTime / 1000));
    if (isExpected(chatMessage)) outer.onmessage?.(chatMessage, extra);
  };
  return outer;

  function noteSent(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if ('id' in message) pending.add(message.id);
    if (message.method !== 'notifications/cancelled') return;
    const id = message.params?.requestId;
    if (pending.delete(id)) cancelled.add(id);
    if (cancelled.size > rememberedCancelled) cancelled.delete(cancelled.values().next().value);
  }

  function isExpected(chatMessage: JSONRPCMessage): boolean {
    if ('method' in chatMessage) return true;
    const id = 'id' in chatMessage ? chatMessage.id : undefined;
    if (id === undefined) return false; // an error that answers no call: nobody waits for it
    if (pending.delete(id)) return true;
    if (!cancelled.delete(id))
      end(message('answered a call that was not open (id {0})', `${JSON.stringify(id)?.slice(0, 40)}`));
    return false;
  }
}
