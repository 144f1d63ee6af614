import { type LocalizedMessage, message } from './l10n.ts';
import { joinLocalizableTexts, type LocalizableText } from './localized.ts';

/**
 * Reason of a failed connection. `code`: code of the system, Node.js or Chromium, empty if none. `text`: the error text for details and
 * logs, never for users. `reason`: end of a sentence for users, undefined if not actionable. `isOffline`: this machine has no network, so
 * that a repetition is pointless.
 */
export interface NetworkReason {
  code: string;
  text: string;
  reason?: LocalizedMessage;
  isOffline?: true;
}

const certificate = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|ALTNAME|ERR_SSL|ERR_TLS|EPROTO/;
export const timeoutCodePattern = /UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT|TIMED_?OUT/;

const noNetwork = /EAI_AGAIN|ENET(UNREACH|DOWN)|INTERNET_DISCONNECTED/;
/** Codes of a machine without network, or of an address that nothing has. */
const noNetworkOrHost = /ENOTFOUND|EHOST(UNREACH|DOWN)|EADDRNOTAVAIL|NAME_NOT_RESOLVED|ADDRESS_UNREACHABLE/;
let hasNetwork: () => boolean = () => true;

/** Sets the test for a network interface of this machine that leads to other machines. */
export const setNetworkProbe = (probe: () => boolean): void => {
  hasNetwork = probe;
};

const classes: readonly (readonly [RegExp, LocalizedMessage])[] = [
  [/EXPIRED|CERT_DATE_INVALID/, message('the certificate has expired')],
  [/NOT_YET_VALID/, message('the certificate is not valid yet')],
  [/ALTNAME|COMMON_NAME_INVALID/, message('the certificate belongs to another server')],
  [/SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|AUTHORITY_INVALID/, message('the issuer of the certificate is unknown')],
  [/ENOTFOUND|EAI_|NAME_NOT_RESOLVED/, message('the host name was not found')],
  [/ECONNREFUSED|CONNECTION_REFUSED/, message('the connection was refused')],
  [/E(NET|HOST)(UNREACH|DOWN)|EADDRNOTAVAIL|ADDRESS_UNREACHABLE|INTERNET_DISCONNECTED/, message('no network route')],
  [timeoutCodePattern, message('no answer in time')],
  [/ECONN(RESET|ABORTED)|EPIPE|UND_ERR_SOCKET|CONNECTION_(RESET|CLOSED|ABORTED)/, message('the connection was closed')],
  [/^Z_(?!BUF_ERROR)/, message('the data is damaged')],
  [/^bad port$/, message('this port is blocked')],
];

/** Returns the reason of a failed connection. Fetch reports only "fetch failed"; the innermost cause has the reason. */
export function networkReason(error: unknown): NetworkReason {
  const { innermost, code: named } = innermostCause(error);
  const message = innermost instanceof Error ? innermost.message || innermost.name : String(innermost);
  const code = named === '' ? (/net::(ERR_\w+)/.exec(message)?.[1] ?? '') : named;
  const text = code === '' || message.includes(code) ? message : `${code}: ${message}`;
  const reason = classes.find(([pattern]) => pattern.test(code === '' ? message : code))?.[1];
  return { code, text, ...(reason && { reason }), ...(isOffline(code, innermost) && { isOffline: true }) };
}

function isOffline(code: string, error: unknown): boolean {
  const { syscall, address } = Object(error) as { syscall?: unknown; address?: unknown };
  if (/^(127\.|::1$)/.test(String(address))) return false; // a server on this machine
  if (code === 'ECONNREFUSED') return /^(getaddrinfo|query)/.test(String(syscall)); // no name server
  return noNetwork.test(code) || (noNetworkOrHost.test(code) && !hasNetwork());
}

export const isCertificateError = ({ code }: NetworkReason): boolean => certificate.test(code);

export const withNetworkReason = (statement: LocalizedMessage, { reason }: NetworkReason): LocalizableText =>
  reason ? joinLocalizableTexts([statement, reason], ': ') : statement;

export function innermostCause(error: unknown): { innermost: unknown; code: string } {
  let innermost = error;
  let code = '';
  for (let depth = 0; depth < 5 && innermost instanceof Error; depth++) {
    if ('code' in innermost && typeof innermost.code === 'string') code = innermost.code;
    const cause: unknown = innermost instanceof AggregateError ? innermost.errors[0] : innermost.cause;
    if (!(cause instanceof Error)) break;
    innermost = cause;
  }
  return { innermost, code };
}
