// @invariant keys-stay-at-their-address: A key is sent only to the address that it was saved for, never in plain text to another machine,
// and never along a redirect.
import { LLMError } from '../../llm/core/errors.ts';
import { insertHeaderSecrets, referencedSecretNames } from '../../llm/core/headers.ts';
import { apiKeyDestinationOrigin, apiKeyHeaderName, type Provider, providerLabel } from '../../llm/models/providers.ts';
import { isLoopback } from '../../llm/transport/http.ts';
import { type LocalizedMessage, message, t } from '../../protocol/text/l10n.ts';
import { withMessageLinks } from '../../protocol/text/links.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { headerSecretKey, type Secrets } from '../settings/secrets.ts';
import type { ProviderSettings } from './providerSettings.ts';

/** Credentials of every request to a provider. `secrets` are the values to redact. */
interface Carried {
  apiKey?: string;
  headers: Record<string, string>;
  secrets: string[];
}

type Wanted = Pick<ProviderSettings, 'baseUrl' | 'headers'>;

/** Keys and header secrets for requests. A secret stored for an address is sent to another address only with the user's consent. */
export class Credentials {
  /** Entries `provider origin` for which the user declined to send an optional key; requested once. */
  private readonly withoutKey = new Set<string>();

  constructor(
    private readonly secrets: Secrets,
    private readonly modals: Pick<Dialogs, 'askWhenQuiet'>,
  ) {}

  /**
   * Returns the credentials of a run. Throws `LLMError` with a solution if a key or secret is missing; `quiet`: also if a dialog would be
   * needed.
   */
  async forRun(provider: Provider, settings: Wanted, options?: { quiet: true }): Promise<Carried> {
    const origin = originOf(provider, settings);
    const isNeeded = provider.key === 'needed' && !headersAuthenticate(provider, settings);
    const apiKey = await this.keyFor(provider, origin, isNeeded, options);
    return this.carried(
      settings,
      apiKey,
      (name) => this.elsewhere(headerSecretKey(name), origin, message('the secret "{0}"', name), options),
      origin,
    );
  }

  /**
   * Returns the credentials of a list or test without dialogs; no key if none is stored. Throws as `forRun`.
   *
   * @param typed unsaved key instead of the stored key
   */
  async forList(provider: Provider, settings: Wanted, typed?: string): Promise<Carried> {
    const origin = originOf(provider, settings);
    const apiKey = typed ?? (await this.secrets.key(provider.id, origin));
    return this.carried(settings, apiKey, async () => undefined, origin);
  }

  async mayList(provider: Provider, settings: Wanted): Promise<boolean> {
    if (provider.key !== 'needed' || headersAuthenticate(provider, settings)) return true;
    const origin = originOf(provider, settings);
    return isLoopback(new URL(origin).hostname) || (await this.secrets.key(provider.id, origin)) !== undefined;
  }

  private async carried(
    { headers }: Wanted,
    apiKey: string | undefined,
    ask: (name: string) => Promise<string | undefined>,
    origin: string,
  ): Promise<Carried> {
    const values = new Map<string, string>();
    for (const [header, value] of Object.entries(headers))
      for (const name of referencedSecretNames(value)) {
        const secret = values.get(name) ?? (await this.secrets.key(headerSecretKey(name), origin)) ?? (await ask(name));
        if (secret === undefined) throw missing(header, name, origin);
        values.set(name, secret);
      }
    const filled = Object.entries(headers).map(([header, value]) => [
      header,
      insertHeaderSecrets(value, (name) => values.get(name)!),
    ]);
    return { ...(apiKey && { apiKey }), headers: Object.fromEntries(filled), secrets: [...values.values()] };
  }

  private async keyFor(
    provider: Provider,
    origin: string,
    isNeeded: boolean,
    options: { quiet: true } | undefined,
  ): Promise<string | undefined> {
    const saved = await this.secrets.key(provider.id, origin);
    if (saved || isLoopback(new URL(origin).hostname)) return saved;
    const consentKey = `${provider.id} ${origin}`;
    if (!this.withoutKey.has(consentKey)) {
      const hasOther = this.secrets.origins(provider.id).length > 0 && maySendSecrets(origin);
      const key = await this.elsewhere(provider.id, origin, message('your {0} key', providerLabel(provider)), options);
      if (key) return key;
      if (hasOther && !isNeeded) this.withoutKey.add(consentKey);
    }
    if (!isNeeded) return undefined;
    const text = withMessageLinks(
      message('No API key for {0} ({1}). Run *Towpath: Set API Key*.', providerLabel(provider), origin),
      {
        commands: ['towpath.setKey'],
      },
    );
    throw new LLMError('LLM_AUTH_FAILED', text);
  }

  /** Returns a secret of another origin with the user's consent. Over plain http no consent is requested and nothing is sent. */
  private async elsewhere(
    slot: string,
    origin: string,
    what: LocalizedMessage,
    options: { quiet: true } | undefined,
  ): Promise<string | undefined> {
    const other = maySendSecrets(origin) ? this.secrets.origins(slot).at(-1) : undefined;
    const value = other && (await this.secrets.key(slot, other));
    if (!value) return undefined;
    if (options)
      throw new LLMError('LLM_AUTH_FAILED', message('You have not yet decided whether {0} may use {1}.', origin, what));
    const use = t('Use There, Too');
    const buttons = [t("Don't Send"), use]; // Enter selects the first button
    const detail = t('It was saved for {0}. Anyone who runs {1} can see it.', other, origin);
    const text = t('Send {0} to {1}?', what, origin);
    if ((await this.modals.askWhenQuiet({ text, detail, buttons })) !== use) return undefined;
    await this.secrets.save(slot, origin, value);
    return value;
  }
}

/** Returns false for plain http to another machine: secrets are never sent unencrypted. */
export function maySendSecrets(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === 'https:' || isLoopback(hostname);
}

/** Returns true if headers authenticate the request, for example at a gateway that manages the provider's key. */
export const headersAuthenticate = (provider: Provider, { headers }: Pick<Wanted, 'headers'>): boolean =>
  Object.entries(headers).some(
    ([name, value]) => name === apiKeyHeaderName(provider.id) || referencedSecretNames(value).length > 0,
  );

const originOf = (provider: Provider, { baseUrl }: Wanted): string =>
  apiKeyDestinationOrigin({ provider: provider.id, baseUrl })!;

function missing(header: string, name: string, origin: string): LLMError {
  const text = maySendSecrets(origin)
    ? withMessageLinks(
        message(
          'The header {0} names the secret "{1}", which is not set for {2}. Run *Towpath: Set Header Secret*.',
          header,
          name,
          origin,
        ),
        { commands: ['towpath.setSecret'] },
      )
    : message(
        'The header {0} names the secret "{1}", and {2} is reached without encryption, so the secret is not sent. Use an https address.',
        header,
        name,
        origin,
      );
  return new LLMError('LLM_AUTH_FAILED', text);
}
