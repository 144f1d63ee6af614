import { isLoopback } from '../../llm/http.ts';
import type { Finding } from './doctorReport.ts';
import { issuedBy } from './issuer.ts';

/** What is between this machine and the others, as the editor's settings and the environment say. */
export interface Network {
  /** `http.proxy`; empty: none. */
  proxy: string;
  /** `http.proxySupport` and `http.proxyStrictSSL`. */
  support: string;
  strict: boolean;
  environment: Readonly<Record<string, string | undefined>>;
  /** Where the picked model is asked; none: on this machine, or by the editor. */
  address?: string;
}

const fact = (text: string): Finding => ({ level: 'fact', text });
const warning = (text: string): Finding => ({ level: 'warning', text });

/** The proxies that requests may go through, and who has issued the certificate of the one who is asked. */
export async function networkFindings(network: Network, signal: AbortSignal): Promise<Finding[]> {
  const { address } = network;
  return [...proxyFindings(network), ...(address ? [await certificateFinding(address, network, signal)] : [])];
}

function proxyFindings({ proxy, support, strict, environment }: Network): Finding[] {
  const named = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'].flatMap((name) =>
    environment[name] ? [fact(`The environment names a proxy: ${name} is ${shown(environment[name])}`)] : [],
  );
  const without = environment.NO_PROXY ?? environment.no_proxy;
  return [
    fact(proxy ? `The editor’s proxy is ${shown(proxy)} (http.proxy)` : 'The editor names no proxy (http.proxy)'),
    ...named,
    ...(without ? [fact(`Without a proxy: ${without} (NO_PROXY)`)] : []),
    ...(support === 'off' && (proxy || named.length > 0)
      ? [warning('Extensions do not use the proxy: http.proxySupport is off. Where there is no other way, turn it on.')]
      : []),
    ...(strict
      ? []
      : [
          warning(
            'The editor accepts every certificate: http.proxyStrictSSL is off, and anybody on the way can read along.',
          ),
        ]),
  ];
}

async function certificateFinding(address: string, network: Network, signal: AbortSignal): Promise<Finding> {
  if (!URL.canParse(address)) return warning(`${address} is no address.`);
  const { protocol, origin, host, hostname } = new URL(address);
  if (protocol !== 'https:')
    return isLoopback(hostname)
      ? fact(`${host} is on this machine`)
      : warning(`What is said to ${host} is not encrypted: its address begins with http:`);
  const { proxy: set, support, environment } = network;
  const proxy = support === 'off' ? undefined : set || environment.HTTPS_PROXY || environment.https_proxy || undefined;
  const isPlain = proxy !== undefined && URL.canParse(proxy) && new URL(proxy).protocol === 'http:';
  if (proxy !== undefined && !isPlain && !isLoopback(hostname))
    return fact(`Who issued the certificate of ${host} was not looked at: the way there is through ${shown(proxy)}`);
  try {
    const { issuer, from, to } = await issuedBy(origin, { signal, ...(isPlain && !isLoopback(hostname) && { proxy }) });
    const day = (date: Date) => date.toISOString().slice(0, 10);
    const text = `The certificate of ${host} was issued by “${issuer}”`;
    const now = Date.now();
    if (to.getTime() < now) return { level: 'problem', text: `${text} and has expired on ${day(to)}.` };
    if (from.getTime() > now)
      return { level: 'problem', text: `${text} and holds from ${day(from)} on. Look at this machine’s clock.` };
    return fact(`${text} until ${day(to)}; if that is your company, it can read along`);
  } catch (error) {
    if (signal.aborted) return fact('Stopped.');
    return warning((error as Error).message);
  }
}

/** Without the name and the password that are often in it. */
function shown(proxy: string): string {
  if (!URL.canParse(proxy)) return '(no address)';
  const { protocol, host } = new URL(proxy);
  return host ? `${protocol}//${host}` : '(no address)';
}
