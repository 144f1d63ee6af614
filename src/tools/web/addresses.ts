import { promises as dns, type LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { refuse } from '../core/pathSyntax.ts';
import { ToolError } from '../core/tool.ts';

/**
 * The address as it would be asked for: http or https, no name and password in it, and not plainly a private place. Nothing
 * is looked up here, because a look-up tells somebody the name already. Throws `E_SANDBOX_VIOLATION`.
 */
export function checkUrl(written: string, allowPrivate: boolean): URL {
  let url: URL;
  try {
    url = new URL(written.trim()); // turns other spellings of a host (decimal, octal, Unicode) into the one that counts
  } catch {
    throw refuse('URL_REFUSED', 'This is not a whole address. Give one that begins with https:// or http://.');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw refuse('URL_REFUSED', `Only http and https can be fetched, not ${url.protocol.slice(0, 40)}`);
  if (url.username || url.password) throw refuse('URL_REFUSED', 'The address holds a name or password. Leave it out.');
  const host = bare(url);
  if (!allowPrivate && (isIP(host) ? !isPublic(host) : /(^|\.)localhost\.?$/.test(host))) throw isPrivate(url);
  url.hash = '';
  return url;
}

/**
 * Where the host of this address really is, checked: the connection is made to one of these, and the name is not looked up
 * again, so that it cannot mean another place then.
 */
export async function addressesOf(url: URL, allowPrivate: boolean): Promise<string[]> {
  const host = bare(url);
  if (isIP(host)) return checked(url, [host], allowPrivate);
  let found: LookupAddress[];
  try {
    found = await dns.lookup(host, { all: true });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new ToolError('TOOL_EXEC_FAILED', `The host ${url.hostname} was not found (${code}).`);
  }
  return checked(
    url,
    found.map(({ address }) => address),
    allowPrivate,
  );
}

/** One private address among public ones is enough for a no: which of them is used is chance. */
function checked(url: URL, addresses: string[], allowPrivate: boolean): string[] {
  if (!allowPrivate && !addresses.every(isPublic)) throw isPrivate(url);
  return addresses;
}

/** An address that anybody can reach: not this machine, its networks, or a range for anything special. */
export function isPublic(address: string): boolean {
  const [plain] = address.split('%', 1); // a zone names an interface of this machine
  if (!ipaddr.isValid(plain!)) return false;
  const parsed = ipaddr.process(plain!);
  const holdsIPv4 = parsed instanceof ipaddr.IPv6 && parsed.parts.slice(0, 6).every((part) => part === 0); // `::127.0.0.1`
  return parsed.range() === 'unicast' && !holdsIPv4;
}

/** The host without the brackets of IPv6. */
const bare = (url: URL) => url.hostname.replace(/^\[|\]$/g, '');

const isPrivate = (url: URL) =>
  refuse(
    'PRIVATE_ADDRESS',
    `${url.hostname} is this machine or a private network. Of this machine, only a page that a command of this run serves from the background (shell.run) can be fetched; for more there is the setting towpath.web.allowPrivate, which is the person's.`,
  );
