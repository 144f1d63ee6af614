import { isLoopback } from '../../llm/transport/http.ts';
import { type LocalizedMessage, message, t } from '../../protocol/text/l10n.ts';
import { messageOf } from '../../protocol/text/localized.ts';
import { createDoctorFinding, type DoctorFinding } from './doctorReport.ts';
import { fetchCertificateIssuer } from './issuer.ts';

/**
 * Network settings of the editor and the environment. `proxy` is `http.proxy` (may be empty); `support` and `strict` are
 * `http.proxySupport` and `http.proxyStrictSSL`.
 */
export interface NetworkSettings {
  proxy: string;
  support: string;
  strict: boolean;
  environment: Readonly<Record<string, string | undefined>>;
  /** Address of the selected model; absent if local or provided by the editor. */
  address?: string;
}

const fact = (text: LocalizedMessage): DoctorFinding => createDoctorFinding('fact', text);
const warning = (text: LocalizedMessage | string): DoctorFinding => createDoctorFinding('warning', text);

/** Returns the proxies of requests, and the issuer of the model server's certificate. */
export async function doctorNetworkFindings(network: NetworkSettings, signal: AbortSignal): Promise<DoctorFinding[]> {
  const { address } = network;
  return [...proxyFindings(network), ...(address ? [await certificateFinding(address, network, signal)] : [])];
}

function proxyFindings({ proxy, support, strict, environment }: NetworkSettings): DoctorFinding[] {
  const named = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'].flatMap((name) =>
    environment[name]
      ? [fact(message('The environment names a proxy: {0} is {1}', name, shown(environment[name])))]
      : [],
  );
  const without = environment.NO_PROXY ?? environment.no_proxy;
  return [
    fact(
      proxy
        ? message('The editor’s proxy is {0} (http.proxy)', shown(proxy))
        : message('The editor names no proxy (http.proxy)'),
    ),
    ...named,
    ...(without ? [fact(message('Without a proxy: {0} (NO_PROXY)', without))] : []),
    ...(support === 'off' && (proxy || named.length > 0)
      ? [
          warning(
            message(
              'Extensions do not use the proxy: http.proxySupport is off. Turn it on if there is no other way to the network.',
            ),
          ),
        ]
      : []),
    ...(strict
      ? []
      : [
          warning(
            message(
              'The editor’s own requests accept every certificate (http.proxyStrictSSL is off). Those of Towpath do not.',
            ),
          ),
        ]),
  ];
}

async function certificateFinding(
  address: string,
  network: NetworkSettings,
  signal: AbortSignal,
): Promise<DoctorFinding> {
  if (!URL.canParse(address)) return warning(message('{0} is not an address.', address));
  const { protocol, origin, host, hostname } = new URL(address);
  if (protocol !== 'https:')
    return isLoopback(hostname)
      ? fact(message('{0} is on this machine', host))
      : warning(message('The connection to {0} is not encrypted: its address starts with http:', host));
  const { proxy: set, support, environment } = network;
  const proxy = support === 'off' ? undefined : set || environment.HTTPS_PROXY || environment.https_proxy || undefined;
  const isPlain = proxy !== undefined && URL.canParse(proxy) && new URL(proxy).protocol === 'http:';
  if (proxy !== undefined && !isPlain && !isLoopback(hostname))
    return fact(
      message(
        'The issuer of the certificate of {0} was not checked, because the connection uses {1}',
        host,
        shown(proxy),
      ),
    );
  try {
    const { issuer, from, to } = await fetchCertificateIssuer(origin, {
      signal,
      ...(isPlain && !isLoopback(hostname) && { proxy }),
    });
    const day = (date: Date) => date.toISOString().slice(0, 10);
    const now = Date.now();
    if (to.getTime() < now)
      return createDoctorFinding(
        'problem',
        message('The certificate of {0} was issued by “{1}” and has expired on {2}.', host, issuer, day(to)),
      );
    if (from.getTime() > now)
      return createDoctorFinding(
        'problem',
        message(
          'The certificate of {0} was issued by “{1}” and is valid from {2} on. Check the clock of this machine.',
          host,
          issuer,
          day(from),
        ),
      );
    return fact(
      message(
        'The certificate of {0} was issued by “{1}” until {2}. If that is your company, it can read this traffic',
        host,
        issuer,
        day(to),
      ),
    );
  } catch (error) {
    if (signal.aborted) return fact(message('Stopped.'));
    return warning(messageOf(error));
  }
}

function shown(proxy: string): string {
  const { protocol, host } = URL.canParse(proxy) ? new URL(proxy) : { protocol: '', host: '' };
  return host ? `${protocol}//${host}` : t('(no address)');
}
