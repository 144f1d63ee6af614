import type { JSONRPCMessage, MessageExtraInfo, Transport, TransportSendOptions } from '@modelcontextprotocol/client';

interface TransportHandlers {
  /** Called before a message is sent. */
  onSend(message: JSONRPCMessage, options?: TransportSendOptions): void;
  /** Returns the message to pass on; undefined drops it. */
  onReceive(message: JSONRPCMessage): JSONRPCMessage | undefined;
  onError?(error: Error): void;
  onClose?(): void;
}

/** Wraps a transport so that each message passes the handlers. */
export function createOuterTransport(inner: Transport, handlers: TransportHandlers): Transport {
  const outer: Transport = {
    start: () => inner.start(),
    send: (message, options) => {
      handlers.onSend(message, options);
      return inner.send(message, options);
    },
    close: () => {
      handlers.onClose?.();
      return inner.close();
    },
    get sessionId() {
      return inner.sessionId;
    },
    ...(inner.hasPerRequestStream && { hasPerRequestStream: true }),
    ...('pid' in inner && { pid: null, stderr: null }), // the mark of a process
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
  };
  inner.onclose = () => outer.onclose?.();
  inner.onerror = (error) => {
    handlers.onError?.(error);
    outer.onerror?.(error);
  };
  inner.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) => {
    const passed = handlers.onReceive(message);
    if (passed) outer.onmessage?.(passed, extra);
  };
  return outer;
}
