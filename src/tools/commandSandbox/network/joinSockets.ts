import type { Socket } from 'node:net';

/**
 * Copies data in both directions until both have ended, with backpressure. An end of one direction leaves the other open, so both sockets
 * need `allowHalfOpen`. Errors end both sockets; data that one has already received is still delivered to the other.
 */
export function joinSockets(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => {}); // `close` follows
    from.on('close', () => to.destroySoon());
    from.pipe(to);
  }
}
