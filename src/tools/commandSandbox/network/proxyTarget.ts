import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Destination of a connection. `host` is a normalized name, or an address without brackets. */
export interface ProxyTarget {
  host: string;
  port: number;
}

/** Parses the target of a CONNECT request, `host:port`; undefined if it is not valid. */
export function parseConnectTarget(authority: string): ProxyTarget | undefined {
  const [, host, port] = /^(\[[\da-f:.]+\]|[^:[\]]+):(\d{1,5})$/i.exec(authority) ?? [];
  return host === undefined ? undefined : createTarget(host, Number(port));
}

/** Parses the URL of a plain HTTP request to a proxy; undefined if it is not a valid `http` URL. */
export function parseHttpTarget(url: string): { target: ProxyTarget; path: string } | undefined {
  const [, authority, path = ''] = /^http:\/\/([^/?#]+)([^#]*)$/i.exec(url) ?? [];
  if (authority === undefined || /[^\x21-\x7e]/.test(path)) return undefined;
  const target = parseConnectTarget(/:\d+$/.test(authority) ? authority : `${authority}:80`);
  return target && { target, path: path.startsWith('/') ? path : `/${path}` };
}

/** Formats a target for a URL or a `Host` header, without `defaultPort`. */
export const formatTarget = ({ host, port }: ProxyTarget, defaultPort?: number): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}${port === defaultPort ? '' : `:${port}`}`;

// The URL parser normalizes case, other spellings of IPv4 addresses (decimal, octal, hexadecimal) and international names.
function createTarget(written: string, port: number): ProxyTarget | undefined {
  if (port < 1 || port > 65_535 || /[/?#@\\%\s]/.test(written) || !URL.canParse(`http://${written}/`)) return undefined;
  const host = new URL(`http://${written}/`).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (isIP(host)) return { host: ipaddr.process(host).toString(), port }; // `::ffff:127.0.0.1` is 127.0.0.1
  const isName = host.length <= 253 && host.split('.').every((label) => /^[a-z0-9_-]{1,63}$/.test(label));
  return isName ? { host, port } : undefined;
}
