import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';

/** Hosts of sites, for the second line of a list. */
export const hostList = (sites: readonly string[]): string =>
  escapeInvisibleInLine(sites.map((site) => new URL(site).host).join(', '));
