import { redact } from '../../llm/transport/redact.ts';

/** What must not get into a text that others may see. */
export interface Hidden {
  /** Every saved key. */
  secrets: readonly string[];
  /** The home folder. */
  home: string;
}

/** The text without keys, without what addresses carry besides their place, and with `~` for home folders: it can be shown to others. */
export function redacted(text: string, { secrets, home }: Hidden): string {
  return withoutHomes(withoutKeys(text, secrets), home);
}

/** The text without keys, and without what addresses carry besides their place. */
export const withoutKeys = (text: string, secrets: readonly string[]): string => withoutQueries(redact(text, secrets));

/** The text as it is, but for keys and home folders: what was said is to be read as it was said. */
export function forSharing(text: string, { secrets, home }: Hidden): string {
  return withoutHomes(withoutAddressKeys(redact(text, secrets)), home);
}

/** Who asks at an address, and what its query calls a key. */
const withoutAddressKeys = (text: string): string =>
  text
    .replace(/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"'`<>]{1,500}@/gi, '$1')
    .replace(
      /([?&#][\w.-]{0,40}(?:key|token|secret|sig|signature|password|passwd|pwd|auth|credential|code)=)[^\s&#"'`<>\\)\]]+/gi,
      '$1[key]',
    );

/** Names and passwords of an address, and the values of its query, are often keys. */
const withoutQueries = (text: string): string =>
  text.replace(
    /\b([a-z][a-z0-9+.-]{0,20}:\/\/)(?:[^\s/?#"'`<>]{1,500}@)?([^\s?#"'`<>]*)([?#][^\s"'`<>]*)?/gi,
    (_, scheme: string, place: string, query = '') => `${scheme}${place}${query.replace(/=[^&#]*/g, '=…')}`,
  );

/** As systems name them; the person's own is known wherever it is. */
const usualHomes = /(?<![\w.~-])(?:\/(?:home|Users)\/|[a-z]:[\\/]{1,2}Users[\\/]{1,2})[^\s/\\"'`:,;)\]]+/gi;

function withoutHomes(text: string, home: string): string {
  if (home.length < 2) return text.replace(usualHomes, '~'); // no home, or the root of everything
  const ways = [home, home.replaceAll('\\', '/'), encodeURI(home), JSON.stringify(home).slice(1, -1)].map(escaped);
  const own = new RegExp(`(?<![\\w.~-])(?:${[...new Set(ways)].join('|')})(?![\\w-]|\\.\\w)`, 'gi');
  return text.replace(own, '~').replace(usualHomes, '~');
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
