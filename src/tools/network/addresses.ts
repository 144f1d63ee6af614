import { promises as dns, type LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { networkReason } from '../../protocol/text/networkReason.ts';
import { createPathRefusal } from '../core/pathSyntax.ts';
import { ToolError } from '../core/tool.ts';

/**
 * Checks an address: http or https, without credentials, and not obviously private. No DNS lookup, because a lookup already discloses the
 * name. Throws `E_SANDBOX_VIOLATION`.
 */
export function checkFetchUrl(written: string, allowPrivate: boolean): URL {
  let url: URL;
  try {
    url = new URL(written.trim()); // normalizes other spellings of a host (decimal, octal, Unicode)
  } catch {
    throw createPathRefusal(
      'URL_REFUSED',
      'This is not a whole address. Give one that begins with https:// or http://.',
    );
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw createPathRefusal('URL_REFUSED', `Only http and https can be fetched, not ${url.protocol.slice(0, 40)}`);
  if (url.username || url.password)
    throw createPathRefusal('URL_REFUSED', 'The address holds a name or password. Leave it out.');
  const host = bare(url);
  if (!allowPrivate && (isIP(host) ? !isPublicAddress(host) : /(^|\.)localhost\.?$/.test(host))) throw isPrivate(url);
  url.hash = '';
  return url;
}

/**
 * Resolves and checks the host. The connection uses the returned addresses without another lookup, so that the name cannot change its
 * meaning in between.
 */
export async function resolveHostAddresses(url: URL, allowPrivate: boolean): Promise<string[]> {
  const host = bare(url);
  if (isIP(host)) return checked(url, [host], allowPrivate);
  let found: LookupAddress[];
  try {
    found = await dns.lookup(host, { all: true });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    if (networkReason(error).isOffline) throw offlineWebError(code);
    throw new ToolError('TOOL_EXEC_FAILED', `The host ${url.hostname} was not found (${code}).`);
  }
  return checked(
    url,
    found.map(({ address }) => address),
    allowPrivate,
  );
}

export const offlineWebError = (code: string): ToolError =>
  new ToolError('TOOL_EXEC_FAILED', 'Web pages need a network connection.', { cause: code });

// Rejects a host with any private address, because the selected address is random.
function checked(url: URL, addresses: string[], allowPrivate: boolean): string[] {
  if (!allowPrivate && !addresses.every(isPublicAddress)) throw isPrivate(url);
  return addresses;
}

export function isPublicAddress(address: string): boolean {
  const [plain] = address.split('%', 1); // a zone names an interface of this machine
  if (!ipaddr.isValid(plain!)) return false;
  const parsed = ipaddr.process(plain!);
  const holdsIPv4 = parsed instanceof ipaddr.IPv6 && parsed.parts.slice(0, 6).every((part) => part === 0); // `::127.0.0.1`
  return parsed.range() === 'unicast' && !holdsIPv4;
}

/** Tests for an address of another machine in a private network. Not here: this machine, and services of a cloud for it. */
export const isPrivateNetworkAddress = (address: string): boolean =>
  ipaddr.isValid(address) && privateRanges.has(ipaddr.process(address).range());

const privateRanges: ReadonlySet<string> = new Set(['private', 'uniqueLocal', 'carrierGradeNat', 'reserved']);

const bare = (url: URL) => url.hostname.replace(/^\[|\]$/g, '');

const isPrivate = (url: URL) =>
  createPathRefusal(
    'PRIVATE_ADDRESS',
    `${url.hostname} is this machine or a private network. Of this machine, only a page that a command of this run serves from the background (shell.run) can be fetched; for more there is the setting towpath.web.allowPrivate, which is the person's.`,
  );
