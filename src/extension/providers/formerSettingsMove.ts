import { type ProviderId, providers } from '../../llm/models/providers.ts';
import {
  type FormerSettingName,
  type FormerSettings,
  formerSettingNames,
  isValidFormerSetting,
} from '../settings/formerSettings.ts';
import { type ProviderEntry, readProviderEntry, withProviderFields } from './providerSettings.ts';

export type FormerSettingValues = Partial<Record<FormerSettingName, unknown>>;

interface FormerSettingsMove {
  /** Value of `towpath.providers` after the move. */
  providers: unknown;
  /** Settings to remove after `providers` is stored: their values are in it, or have no effect. */
  moved: FormerSettingName[];
  /** Settings that stay, with the first key that `towpath.providers` cannot express. */
  staying: { name: FormerSettingName; key?: string }[];
}

/** Part of a former setting; `key` in a table. */
interface Part {
  key?: string;
  provider: string;
  /** Returns the fields to add to the provider's entry: none if the entry shadows the part; undefined if no entry can express it. */
  fields(entry: ProviderEntry): ProviderEntry | undefined;
}

/**
 * Plans the move of former settings to `towpath.providers`, without a change of what applies to any model. A setting moves as a whole or
 * stays, because the editor writes no former setting.
 *
 * @param values of the user, by name; undefined: not set
 */
export function planFormerSettingsMove(values: FormerSettingValues, written: unknown): FormerSettingsMove {
  const move: FormerSettingsMove = { providers: written, moved: [], staying: [] };
  for (const name of formerSettingNames) {
    const value = values[name];
    if (value === undefined) continue;
    if (!isValidFormerSetting(name, value)) {
      move.staying.push({ name });
      continue;
    }
    let next = move.providers;
    const lost = partsOf(name, value as never).find((part) => {
      const added = withPart(part, written, next);
      if (added) next = added.providers;
      return !added;
    });
    if (lost) move.staying.push({ name, ...(lost.key && { key: lost.key }) });
    else {
      move.moved.push(name);
      move.providers = next;
    }
  }
  return move;
}

/** @param written entries before the move, which alone shadow a part; a moved part shadows no other */
function withPart({ provider, fields }: Part, written: unknown, next: unknown): { providers: unknown } | undefined {
  const id = providers.find((one) => one.id === provider)?.id;
  if (id === undefined) return undefined;
  const { entry, problem } = readProviderEntry(written, id);
  const added = problem ? undefined : fields(entry);
  if (!added) return undefined;
  if (Object.keys(added).length === 0) return { providers: next };
  const all = withProviderFields(next, id, added);
  return readProviderEntry(all, id).problem ? undefined : { providers: all };
}

function partsOf<Name extends FormerSettingName>(name: Name, value: FormerSettings[Name]): Part[] {
  return readParts[name](value);
}

const readParts: { [Name in FormerSettingName]: (value: FormerSettings[Name]) => Part[] } = {
  'endpoint.baseUrl': (address) => addressParts({ provider: 'openai-compatible' }, address),
  baseUrls: (addresses) =>
    Object.entries(addresses).flatMap(
      ([key, address]) => addressParts({ key, provider: key === 'openai-compatible' ? '' : key }, address), // never applied to that provider
    ),
  'azure.apiVersion': (apiVersion) => {
    if (apiVersion === '') return [];
    return [{ provider: 'azure', fields: (entry) => (entry.apiVersion === undefined ? { apiVersion } : {}) }];
  },
  'ollama.contextSize': (tokens) => [
    {
      provider: 'ollama',
      fields({ window }) {
        if (window === undefined) return { window: tokens };
        return typeof window === 'number' || Object.hasOwn(window, '*') ? {} : { window: { ...window, '*': tokens } };
      },
    },
  ],
  prices(prices) {
    const split = Object.entries(prices).map(([key, price]) => ({ key, price, ...splitPriceKey(key) }));
    return [...new Set(split.map(({ provider }) => provider))].map((provider) => {
      const own = split.filter((one) => one.provider === provider);
      return {
        key: own[0]!.key,
        provider,
        fields({ prices: known = {} }) {
          const added = own.filter(({ models }) => !isCovered(models, known));
          if (added.length === 0) return {};
          return { prices: { ...known, ...Object.fromEntries(added.map(({ models, price }) => [models, price])) } };
        },
      };
    });
  },
};

function addressParts(of: Pick<Part, 'key' | 'provider'>, address: string): Part[] {
  if (address === '') return [];
  const fields = ({ baseUrl }: ProviderEntry) => {
    if (baseUrl?.trim()) return {};
    return address.trim() === '' ? undefined : { baseUrl: address }; // blanks are an error now, and would become the default
  };
  return [{ ...of, fields }];
}

/** Splits the key of a price: `openai/gpt-*`. A key for several providers (`open*`) has none. */
function splitPriceKey(key: string): { provider: ProviderId | ''; models: string } {
  const [, provider = '', models = ''] = /^([^/*]+)\/(.+)$/s.exec(key) ?? [];
  return { provider: providers.find(({ id }) => id === provider)?.id ?? '', models };
}

/** Tests if every model of a name or pattern has a price in the table, so that another price for them never counts. */
function isCovered(models: string, table: NonNullable<ProviderEntry['prices']>): boolean {
  if (Object.hasOwn(table, models)) return true;
  const stem = models.endsWith('*') ? models.slice(0, -1) : models;
  return Object.keys(table).some((pattern) => pattern.endsWith('*') && stem.startsWith(pattern.slice(0, -1)));
}
