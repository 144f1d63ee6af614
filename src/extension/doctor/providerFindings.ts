import { secretsIn } from '../../llm/headers.ts';
import { providers } from '../../llm/providers.ts';
import { namedProviders, providerSettings, unknownProvider, type Written } from '../models/providerSettings.ts';
import { type Secrets, secretOf } from '../settings/secrets.ts';
import type { Finding } from './doctorReport.ts';

/** What `towpath.providers` says, entry by entry, for Doctor: names of headers, never a value. */
export async function providerFindings(now: Written, secrets: Pick<Secrets, 'key'>): Promise<Finding[]> {
  const findings = await Promise.all(namedProviders(now.providers).map((name) => findingOf(name, now, secrets)));
  return findings.length > 0 ? findings : [{ level: 'fact', text: 'No provider has settings of its own' }];
}

async function findingOf(name: string, now: Written, secrets: Pick<Secrets, 'key'>): Promise<Finding> {
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
    origin ? `at ${origin}` : 'without an address',
    ...(Object.keys(headers).length > 0 ? [`with the headers ${Object.keys(headers).join(', ')}`] : []),
    ...(organization ? ['for an organization'] : []),
    ...(api ? ['through the Responses API'] : []),
  ];
  const text = `${provider.label} ${parts.join(', ')}`;
  if (missing.length === 0) return { level: 'ok', text };
  const ones = missing.map((one) => `"${one}"`).join(', ');
  return { level: 'problem', text: `${text}. Not set: ${ones}. Run *Towpath: Set Secret of a Header*.` };
}
