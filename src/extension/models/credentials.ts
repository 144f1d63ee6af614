import { LLMError } from '../../llm/errors.ts';
import { secretsIn, withSecrets } from '../../llm/headers.ts';
import { isLoopback } from '../../llm/http.ts';
import { keyHeaderOf, keyOrigin, type Provider } from '../../llm/providers.ts';
import type { Modals } from '../dialogs/modals.ts';
import { type Secrets, secretOf } from '../settings/secrets.ts';
import type { ProviderSettings } from './providerSettings.ts';

/** What goes with every request to a provider, and who sees it. */
export interface Carried {
  apiKey?: string;
  headers: Record<string, string>;
  /** What of the headers was kept apart. */
  secrets: string[];
}

type Wanted = Pick<ProviderSettings, 'baseUrl' | 'headers'>;

/** Keys and the secrets of headers for a request. What was saved for one address goes to another only when the person says so. */
export class Credentials {
  /** `provider origin` where a person wants no key sent, of those that may work without one; asked once. */
  private readonly withoutKey = new Set<string>();

  constructor(
    private readonly secrets: Secrets,
    private readonly modals: Pick<Modals, 'askWhenQuiet'>,
  ) {}

  /**
   * For a run. Throws `LLMError` with the way out when a key or a secret is missing; `quiet`: also where the person would have to be asked.
   */
  async forRun(provider: Provider, settings: Wanted, how?: { quiet: true }): Promise<Carried> {
    const origin = originOf(provider, settings);
    const isNeeded = provider.key === 'needed' && !givesAccess(provider, settings);
    const apiKey = await this.keyFor(provider, origin, isNeeded, how);
    return this.carried(
      settings,
      apiKey,
      (name) => this.elsewhere(secretOf(name), origin, `the secret "${name}"`, how),
      origin,
    );
  }

  /** For a list of models, which nobody is asked about: without a key where none is saved. Throws like `forRun`. */
  async forList(provider: Provider, settings: Wanted): Promise<Carried> {
    const origin = originOf(provider, settings);
    const apiKey = await this.secrets.key(provider.id, origin);
    return this.carried(settings, apiKey, async () => undefined, origin);
  }

  private async carried(
    { headers }: Wanted,
    apiKey: string | undefined,
    ask: (name: string) => Promise<string | undefined>,
    origin: string,
  ): Promise<Carried> {
    const values = new Map<string, string>();
    for (const [header, value] of Object.entries(headers))
      for (const name of secretsIn(value)) {
        const secret = values.get(name) ?? (await this.secrets.key(secretOf(name), origin)) ?? (await ask(name));
        if (secret === undefined) throw missing(header, name, origin);
        values.set(name, secret);
      }
    const filled = Object.entries(headers).map(([header, value]) => [
      header,
      withSecrets(value, (name) => values.get(name)!),
    ]);
    return { ...(apiKey && { apiKey }), headers: Object.fromEntries(filled), secrets: [...values.values()] };
  }

  private async keyFor(
    provider: Provider,
    origin: string,
    isNeeded: boolean,
    how: { quiet: true } | undefined,
  ): Promise<string | undefined> {
    const saved = await this.secrets.key(provider.id, origin);
    if (saved || isLoopback(new URL(origin).hostname)) return saved;
    const place = `${provider.id} ${origin}`;
    if (!this.withoutKey.has(place)) {
      const hasOther = this.secrets.origins(provider.id).length > 0 && mayCarry(origin);
      const key = await this.elsewhere(provider.id, origin, `your ${provider.label} key`, how);
      if (key) return key;
      if (hasOther && !isNeeded) this.withoutKey.add(place);
    }
    if (!isNeeded) return undefined;
    const message = `No API key for ${provider.label} (${origin}). Run *Towpath: Set API Key*.`;
    throw new LLMError('LLM_AUTH_FAILED', message);
  }

  /** What was saved for another origin, when the person lets it go to this one, too. Over plain http nobody is asked: it is not sent there. */
  private async elsewhere(
    slot: string,
    origin: string,
    what: string,
    how: { quiet: true } | undefined,
  ): Promise<string | undefined> {
    const other = mayCarry(origin) ? this.secrets.origins(slot).at(-1) : undefined;
    const value = other && (await this.secrets.key(slot, other));
    if (!value) return undefined;
    if (how) throw new LLMError('LLM_AUTH_FAILED', `You have not said yet whether ${origin} may have ${what}.`);
    const use = 'Use It There Too';
    const buttons = ['Do Not Send It', use]; // Enter presses the first
    const detail = `It was saved for ${other}. Whoever runs ${origin} will see it.`;
    if ((await this.modals.askWhenQuiet({ text: `Send ${what} to ${origin}?`, detail, buttons })) !== use)
      return undefined;
    await this.secrets.save(slot, origin, value);
    return value;
  }
}

/** Over plain http to another machine nothing secret goes. */
export function mayCarry(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === 'https:' || isLoopback(hostname);
}

/** The headers say who asks: a key of the provider's own may be the gateway's business. */
export const givesAccess = (provider: Provider, { headers }: Pick<Wanted, 'headers'>): boolean =>
  Object.entries(headers).some(([name, value]) => name === keyHeaderOf(provider.id) || secretsIn(value).length > 0);

const originOf = (provider: Provider, { baseUrl }: Wanted): string => keyOrigin({ provider: provider.id, baseUrl })!;

function missing(header: string, name: string, origin: string): LLMError {
  const message = mayCarry(origin)
    ? `The header ${header} names the secret "${name}", which is not set for ${origin}. Run *Towpath: Set Secret of a Header*.`
    : `The header ${header} names the secret "${name}", and ${origin} is reached without encryption, where no secret is sent. Use an https address.`;
  return new LLMError('LLM_AUTH_FAILED', message);
}
