/** Returns a host (name or address) with its port, unless that is the port of https. */
export function shownHost(host: string, port = 443): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === 443 ? name : `${name}:${port}`;
}
