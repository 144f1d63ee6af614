import type { NetworkTarget } from './commandSandbox.ts';

/** Returns the origin by which rules name a network target. Other ports than those of the web count as https. */
export function siteOfTarget({ host, port }: NetworkTarget): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === 80 ? `http://${name}` : port === 443 ? `https://${name}` : `https://${name}:${port}`;
}
