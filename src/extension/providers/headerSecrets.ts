import * as vscode from 'vscode';
import { isPrintableHeader, referencedSecretNames } from '../../llm/core/headers.ts';
import { apiKeyDestinationOrigin, type Provider, providerLabel, providers } from '../../llm/models/providers.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localize } from '../../protocol/text/localized.ts';
import { disableCommandLinks } from '../dialogs/approvalText.ts';
import { notify } from '../dialogs/notify.ts';
import { headerSecretKey, type Secrets } from '../settings/secrets.ts';
import { settings } from '../settings/settings.ts';
import { maySendSecrets } from './credentials.ts';
import { providerAddress } from './modelIds.ts';
import { providerSettings, settingsProblem } from './providerSettings.ts';

interface Use {
  name: string;
  provider: Provider;
  header: string;
  origin: string;
}

export class HeaderSecrets {
  constructor(private readonly secrets: Secrets) {}

  async set(name?: string): Promise<void> {
    const problem = providers.map(({ id }) => settingsProblem(settings(), id)).find((one) => one !== undefined);
    if (problem) return void notify('error', t(problem));
    const all = onePerAddress(providers.flatMap((provider) => usesOf(provider))).filter(
      (use) => name === undefined || use.name === name,
    );
    if (all.length === 0) {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as people write it
      const text = t('No header in towpath.providers names a secret. Write ${secret:name} in the value of a header.');
      return void notify('info', text);
    }
    const items = await Promise.all(
      all.map(async (use) => ({
        label: use.name,
        description: use.origin,
        detail: `${localize(providerLabel(use.provider))}, ${use.header}: ${(await this.isSet(use)) ? t('set') : t('not set')}`,
        use,
      })),
    );
    const title = t('Towpath: select a secret to set');
    const chosen = items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, { title });
    if (chosen) await this.ask(chosen.use);
  }

  /** Returns true if a header of the provider references a secret that is not stored for the address. */
  async areMissing(provider: Provider, baseUrl?: string): Promise<boolean> {
    const known = await Promise.all(usesOf(provider, baseUrl).map((use) => this.isSet(use)));
    return known.includes(false);
  }

  /** Requests each missing secret; returns false if the user cancels. */
  async askMissing(provider: Provider, baseUrl?: string): Promise<boolean> {
    for (const use of onePerAddress(usesOf(provider, baseUrl)))
      if (!(await this.isSet(use)) && !(await this.ask(use))) return false;
    return true;
  }

  private async isSet({ name, origin }: Use): Promise<boolean> {
    return (await this.secrets.key(headerSecretKey(name), origin)) !== undefined;
  }

  private async ask({ name, provider, header, origin }: Use): Promise<boolean> {
    if (!maySendSecrets(origin)) {
      const problem = t(
        '{0} is reached without encryption at {1}, where no secret is sent. Set an https address.',
        providerLabel(provider),
        origin,
      );
      notify('error', problem);
      return false;
    }
    const secret = await vscode.window.showInputBox({
      title: t('Secret "{0}" for {1}', name, origin),
      prompt: disableCommandLinks(
        t(
          "For the header {0} of {1}. Stored in the editor's secret storage and sent to this address only",
          header,
          providerLabel(provider),
        ),
      ),
      password: true,
      ignoreFocusOut: true,
      validateInput: secretProblem,
    });
    if (!secret) return false;
    await this.secrets.save(headerSecretKey(name), origin, secret.trim());
    notify('info', t('The secret "{0}" for {1} is stored.', name, origin));
    return true;
  }
}

function usesOf(provider: Provider, baseUrl = providerAddress(provider.id)): Use[] {
  const origin = apiKeyDestinationOrigin({ provider: provider.id, baseUrl });
  if (origin === undefined) return [];
  const { headers } = providerSettings(settings(), provider.id);
  return Object.entries(headers).flatMap(([header, value]) =>
    referencedSecretNames(value).map((name) => ({ name, provider, header, origin })),
  );
}

const onePerAddress = (uses: readonly Use[]): Use[] => [
  ...new Map(uses.map((use) => [`${use.name} ${use.origin}`, use])).values(),
];

/** Minimum characters of a secret; a shorter secret cannot be redacted reliably. */
const shortest = 4;

function secretProblem(text: string): string | undefined {
  if (!isPrintableHeader(text.trim())) return t('A secret is one line of visible ASCII characters.');
  return text.trim().length < shortest ? t('A secret has at least {0} characters.', shortest) : undefined;
}
