import { redact } from '../../llm/transport/redact.ts';

export interface ValuesToRedact {
  secrets: readonly string[];
  home: string;
}

/** Removes keys, credentials and queries of URLs, and home folders (`~`), so that the text can be shared. */
export function redactForReport(text: string, { secrets, home }: ValuesToRedact): string {
  return withoutHomes(redactKeysAndQueries(text, secrets), home);
}

export const redactKeysAndQueries = (text: string, secrets: readonly string[]): string =>
  withoutQueries(redact(text, secrets));

/** Removes only keys and home folders; message text stays readable. */
export function redactForSharing(text: string, { secrets, home }: ValuesToRedact): string {
  return withoutHomes(withoutAddressKeys(redact(text, secrets)), home);
}

/** Removes user names, passwords and key parameters of URLs. */
const withoutAddressKeys = (text: string): string =>
  text
    .replace(/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"'`<>]{1,500}@/gi, '$1')
    .replace(
      /([?&#][\w.-]{0,40}(?:key|token|secret|sig|signature|password|passwd|pwd|auth|credential|code)=)[^\s&#"'`<>\\)\]]+/gi,
      '$1[key]',
    );

const withoutQueries = (text: string): string =>
  text.replace(
    /\b([a-z][a-z0-9+.-]{0,20}:\/\/)(?:[^\s/?#"'`<>]{1,500}@)?([^\s?#"'`<>]*)([?#][^\s"'`<>]*)?/gi,
    (_, scheme: string, address: string, query = '') => `${scheme}${address}${query.replace(/=[^&#]*/g, '=…')}`,
  );

const usualHomes = /(?<![\w.~-])(?:\/(?:home|Users)\/|[a-z]:[\\/]{1,2}Users[\\/]{1,2})[^\s/\\"'`:,;)\]]+/gi;

function withoutHomes(text: string, home: string): string {
  if (home.length < 2) return text.replace(usualHomes, '~'); // no home, or the root folder
  const ways = [home, home.replaceAll('\\', '/'), encodeURI(home), JSON.stringify(home).slice(1, -1)].map(escaped);
  const own = new RegExp(`(?<![\\w.~-])(?:${[...new Set(ways)].join('|')})(?![\\w-]|\\.\\w)`, 'gi');
  return text.replace(own, '~').replace(usualHomes, '~');
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
