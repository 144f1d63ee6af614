import { referencedSecretNames } from '../../llm/core/headers.ts';
import { providers } from '../../llm/models/providers.ts';
import { message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts } from '../../protocol/text/localized.ts';
import {
  configuredProviderNames,
  providerSettings,
  type RawProviderSettings,
  unknownProviderText,
} from '../providers/providerSettings.ts';
import { headerSecretKey, type Secrets } from '../settings/secrets.ts';
import { createDoctorFinding, type DoctorFinding } from './doctorReport.ts';

/** Returns the contents of `towpath.providers` by entry: names of headers, never values. */
export async function doctorProviderFindings(
  now: RawProviderSettings,
  secrets: Pick<Secrets, 'key'>,
): Promise<DoctorFinding[]> {
  const findings = await Promise.all(
    configuredProviderNames(now.providers).map((name) => findingOf(name, now, secrets)),
  );
  return findings.length > 0 ? findings : [createDoctorFinding('fact', message('No provider has settings of its own'))];
}

async function findingOf(
  name: string,
  now: RawProviderSettings,
  secrets: Pick<Secrets, 'key'>,
): Promise<DoctorFinding> {
  const provider = providers.find(({ id }) => id === name);
  if (!provider) return { level: 'warning', text: unknownProviderText(name) ?? '' };
  const { baseUrl, headers, organization, api, problem } = providerSettings(now, provider.id);
  if (problem) return { level: 'problem', text: problem };
  const address = baseUrl || provider.baseUrl;
  const origin = URL.canParse(address) ? new URL(address).origin : undefined;
  const names = [...new Set(Object.values(headers).flatMap(referencedSecretNames))];
  const given = await Promise.all(names.map((one) => origin && secrets.key(headerSecretKey(one), origin)));
  const missing = names.filter((_, index) => given[index] === undefined);
  const parts = [
    origin ? message('at {0}', origin) : message('without an address'),
    ...(Object.keys(headers).length > 0 ? [message('with the headers {0}', Object.keys(headers).join(', '))] : []),
    ...(organization ? [message('for an organization')] : []),
    ...(api ? [message('through the Responses API')] : []),
  ];
  const subject = joinLocalizableTexts([provider.label, joinLocalizableTexts(parts, ', ')]);
  if (missing.length === 0) return createDoctorFinding('ok', subject);
  const ones = missing.map((one) => `"${one}"`).join(', ');
  return createDoctorFinding('problem', message('{0}. Not set: {1}. Run *Towpath: Set Header Secret*.', subject, ones));
}
