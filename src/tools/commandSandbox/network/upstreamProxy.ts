import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { ProxyTarget } from './proxyTarget.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The user's own proxy for a target, from `HTTPS_PROXY` for a tunnel, `HTTP_PROXY` for a plain request, else `ALL_PROXY`; undefined for a direct
 * connection. A loopback target never has a proxy, for which it would be another machine.
 */
export function upstreamProxy(environment: Environment, target: ProxyTarget, isTunnel: boolean): URL | undefined {
  if (isLoopback(target.host) || isExcluded(variable(environment, 'NO_PROXY') ?? '', target)) return undefined;
  const value = variable(environment, isTunnel ? 'HTTPS_PROXY' : 'HTTP_PROXY') ?? variable(environment, 'ALL_PROXY');
  return value === undefined ? undefined : parseProxy(value);
}

/** Names of the variables whose proxy is not an HTTP proxy, and which `upstreamProxy` therefore ignores. */
export const unsupportedProxyVariables = (environment: Environment): string[] =>
  ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'].filter((name) => {
    const value = variable(environment, name);
    return value !== undefined && parseProxy(value) === undefined;
  });

// Lower case first, as in curl. An empty value counts as none.
const variable = (environment: Environment, name: string) =>
  environment[name.toLowerCase()] || environment[name] || undefined;

function parseProxy(value: string): URL | undefined {
  const text = value.includes('://') ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || (isIP(host) !== 0 && ipaddr.process(host).range() === 'loopback');

const isExcluded = (list: string, target: ProxyTarget): boolean =>
  list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => entry !== '' && matchesEntry(entry, target));

// Entries are `*`, a host with or without a port, a suffix of a name with or without `.` or `*.`, an address, or a CIDR range.
function matchesEntry(entry: string, { host, port }: ProxyTarget): boolean {
  if (entry === '*') return true;
  if (entry.includes('/')) return isInRange(host, entry);
  const [, name = entry, entryPort] = (isIP(entry) === 6 ? null : /^(.*?)(?::(\d+))?$/.exec(entry)) ?? [];
  if (entryPort !== undefined && Number(entryPort) !== port) return false;
  const suffix = name.replace(/^\[|\]$/g, '').replace(/^\*?\./, '');
  return host === suffix || (isIP(host) === 0 && suffix !== '' && host.endsWith(`.${suffix}`));
}

function isInRange(host: string, range: string): boolean {
  if (isIP(host) === 0 || !ipaddr.isValidCIDR(range)) return false;
  const address = ipaddr.parse(host);
  const [network, bits] = ipaddr.parseCIDR(range);
  return address.kind() === network.kind() && address.match(network, bits);
}
