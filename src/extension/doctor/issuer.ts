import { type ClientRequest, request } from 'node:http';
import type { Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { message, t } from '../../protocol/text/l10n.ts';
import { type LocalizableText, UserFacingError, withFullStop } from '../../protocol/text/localized.ts';
import { type NetworkReason, networkReason, withNetworkReason } from '../../protocol/text/networkReason.ts';
import { onAbort } from '../../protocol/values/abort.ts';

/** Issuer (`O`, else `CN`) and validity of a server's certificate. */
interface Issued {
  issuer: string;
  from: Date;
  to: Date;
}

interface Way {
  /** Absolute `http` URL of a proxy; credentials are ignored. */
  proxy?: string;
  signal: AbortSignal;
}

/** Milliseconds for a handshake. */
const patienceMs = 10_000;

/**
 * Performs a TLS handshake without sending data, and returns the certificate's issuer, trusted or not: the issuer reveals an intercepting
 * proxy. Throws `UserFacingError`.
 * @param origin an `https` origin
 */
export async function fetchCertificateIssuer(origin: string, { proxy, signal }: Way): Promise<Issued> {
  const url = new URL(origin);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || 443);
  const within = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const tunnel = proxy === undefined ? undefined : await throughProxy(proxy, `${url.hostname}:${port}`, within);
  const socket = connect({
    host,
    port,
    ...(tunnel && { socket: tunnel }),
    servername: /[a-z]/i.test(host) ? host : '',
  });
  let stopListening = () => {};
  try {
    return await new Promise<Issued>((resolve, reject) => {
      const fail = (why: LocalizableText) => reject(new UserFacingError(why));
      stopListening = onAbort(within, () => fail(message('{0} did not complete the handshake.', url.host)));
      socket.once('error', (error) => fail(handshakeFailure(url.host, networkReason(error))));
      socket.once('close', () => fail(message('{0} closed the connection.', url.host)));
      // Reads before the verification, which closes an untrusted connection.
      socket.prependOnceListener('secure', () => resolve(read(socket)));
    });
  } finally {
    stopListening();
    socket.destroy();
    tunnel?.destroy();
  }
}

const handshakeFailure = (host: string, reason: NetworkReason): LocalizableText =>
  reason.isOffline
    ? message('{0} needs a network connection.', host)
    : withFullStop(withNetworkReason(message('{0} did not shake hands', host), reason));

function read(socket: TLSSocket): Issued {
  const { issuer, valid_from, valid_to } = socket.getPeerCertificate();
  const name = issuer?.O ?? issuer?.CN ?? '';
  return {
    issuer: [name].flat().join(', ') || t('unknown user'),
    from: new Date(valid_from),
    to: new Date(valid_to),
  };
}

function throughProxy(proxy: string, target: string, signal: AbortSignal): Promise<Socket> {
  const { hostname, port, host } = new URL(proxy);
  return new Promise((resolve, reject) => {
    const asking: ClientRequest = request({
      method: 'CONNECT',
      host: hostname,
      port: port || 80,
      path: target,
      headers: { host: target },
      signal,
    });
    asking.once('connect', ({ statusCode }, socket) => {
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(
        new UserFacingError(
          message('The proxy {0} rejected the connection to {1} ({2}).', host, target, `${statusCode}`),
        ),
      );
    });
    asking.once('response', (answer) => {
      answer.destroy();
      reject(new UserFacingError(message('{0} is not a proxy: it answered {1}.', host, `${answer.statusCode}`)));
    });
    asking.once('error', (error) =>
      reject(
        new UserFacingError(
          withFullStop(withNetworkReason(message('The proxy {0} did not answer', host), networkReason(error))),
        ),
      ),
    );
    asking.end();
  });
}
