import { secretsIn } from '../../llm/core/headers.ts';
import { providers } from '../../llm/models/providers.ts';
import { message } from '../../protocol/text/l10n.ts';
import { joined } from '../../protocol/text/localized.ts';
import {
  namedProviders,
  providerSettings,
  unknownProvider,
  type WrittenProvider,
} from '../providers/providerSettings.ts';
import { type Secrets, secretOf } from '../settings/secrets.ts';
import { type Finding, found } from './doctorReport.ts';

/** Returns the contents of `towpath.providers` by entry: names of headers, never values. */
export async function providerFindings(now: WrittenProvider, secrets: Pick<Secrets, 'key'>): Promise<Finding[]> {
  const findings = await Promise.all(namedProviders(now.providers).map((name) => findingOf(name, now, secrets)));
  return findings.length > 0 ? findings : [found('fact', message('No provider has settings of its own'))];
}

async function findingOf(name: string, now: WrittenProvider, secrets: Pick<Secrets, 'key'>): Promise<Finding> {
  const provider = providers.find(({ id }) => id === name);
  if (!provider) return { level: 'warning', text: unknownProvider(name) ?? '' };
  const { baseUrl, headers, organization, api, problem } = providerSettings(now, provider.id);
  if (problem) return { level: 'problem', text: problem };
  const address = baseUrl || provider.baseUrl;
  const origin = URL.canParse(address) ? new URL(address).origin : undefined;
  const names = [...new Set(Object.values(headers).flatMap(secretsIn))];
  const given = await Promise.all(names.map((one) => origin && secrets.key(secretOf(one), origin)));
  const missing = names.filter((_, index) => given[index] === undefined);
  const parts = [
    origin ? message('at {0}', origin) : message('without an address'),
    ...(Object.keys(headers).length > 0 ? [message('with the headers {0}', Object.keys(headers).join(', '))] : []),
    ...(organization ? [message('for an organization')] : []),
    ...(api ? [message('through the Responses API')] : []),
  ];
  const about = joined([provider.label, joined(parts, ', ')]);
  if (missing.length === 0) return found('ok', about);
  const ones = missing.map((one) => `"${one}"`).join(', ');
  return found('problem', message('{0}. Not set: {1}. Run *Towpath: Set Header Secret*.', about, ones));
}
