import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { readNpmLockFile } from './shippedPackages.ts';
import { projectRoot } from './targets.ts';

/** Package with prices and context sizes; the lock file pins version and checksum. */
export const priceCatalogPackage = '@pydantic/genai-prices';

export const modelCatalogFile = path.join(projectRoot, 'src/llm/models/catalog.json');

/** Providers with chat completions and user API keys, by the names of the package. */
const wanted = [
  'openai',
  'anthropic',
  'google',
  'azure',
  'deepseek',
  'groq',
  'mistral',
  'x-ai',
  'cerebras',
  'moonshotai',
  'together',
  'fireworks',
  'cohere',
  'perplexity',
  'novita',
  'minimax',
  'zai',
  'openrouter',
];

type Match = Partial<Record<'equals' | 'starts_with' | 'ends_with' | 'contains' | 'regex', string>> & {
  or?: Match[];
  and?: Match[];
};
type Amount = number | { base: number; tiers: { start: number; price: number }[] };
type Amounts = Partial<Record<string, Amount>>;
interface Conditional {
  constraint?:
    | { type: 'start_date'; start_date: string }
    | { type: 'time_of_date'; start_time: string; end_time: string };
  prices: Amounts;
}
interface CatalogProvider {
  id: string;
  api_pattern: string;
  fallback_model_providers?: string[];
  models: { match: Match; context_window?: number; prices: Amounts | Conditional[] }[];
}

/**
 * Returns the catalog as text from the package in `folder` (relative to the project), published on `date`. The output is deterministic.
 * Throws if the package has another structure.
 */
export async function createCatalogText(folder: string, date: string): Promise<string> {
  const { findProvider } = await import(pathToFileURL(path.resolve(projectRoot, folder, 'dist/index.js')).href);
  const { version, integrity } = readNpmLockFile().packages[`node_modules/${priceCatalogPackage}`]!;
  const providers = wanted.map((providerId) => {
    const given: CatalogProvider | undefined = findProvider({ providerId });
    if (!given) throw new Error(`${priceCatalogPackage} does not know ${providerId} any more.`);
    return providerOf(given, date);
  });
  const head = JSON.stringify({ package: priceCatalogPackage, version, integrity, date });
  const lines = providers.map(({ models, ...rest }) => {
    const rows = models.map((model) => `      ${JSON.stringify(model)}`).join(',\n');
    return `    ${JSON.stringify(rest).slice(0, -1)},"models":[\n${rows}\n    ]}`;
  });
  return `{\n  "source": ${head},\n  "providers": [\n${lines.join(',\n')}\n  ]\n}\n`;
}

export const storedCatalogDate = (): string => JSON.parse(readFileSync(modelCatalogFile, 'utf8')).source.date;

function providerOf({ id, api_pattern, fallback_model_providers: also, models }: CatalogProvider, date: string) {
  const rows = models.flatMap(({ match, context_window: window, prices }) => {
    const price = pricesOf(prices, date);
    if (!price && !window) return [];
    return [{ name: patternOf(match), ...(window && { window }), ...(price && { price }) }];
  });
  return { id, address: originOf(api_pattern), ...(also && { also }), models: rows };
}

/** Returns a pattern of the whole origin; the package matches only the start of a URL. */
const originOf = (pattern: string): string => `^(?:${pattern})${pattern.endsWith('\\.') ? '[a-z]+' : ''}$`;

/** Returns a price, or several of which the last valid price counts; prices that ended before `date` are omitted. */
function pricesOf(prices: Amounts | Conditional[], date: string): object | undefined {
  if (!Array.isArray(prices)) return priceOf(prices);
  const begun = prices.findLastIndex(({ constraint: when }) => when?.type === 'start_date' && when.start_date <= date);
  const rest = prices.slice(Math.max(begun, 0)).map(({ constraint: when, prices }, index) => {
    const price = priceOf(prices);
    if (!price || index === 0 || !when) return price;
    return when.type === 'start_date'
      ? { ...price, from: when.start_date }
      : { ...price, hours: [when.start_time, when.end_time].map((time) => time.slice(0, 5)) };
  });
  if (rest.some((price) => price === undefined)) return undefined;
  return rest.length === 1 ? rest[0] : rest;
}

function priceOf(amounts: Amounts): object | undefined {
  const names = {
    input: 'input_mtok',
    output: 'output_mtok',
    cached: 'cache_read_mtok',
    cacheWrite: 'cache_write_mtok',
  };
  const given = Object.entries(names).flatMap(([name, theirs]) => {
    const amount = amounts[theirs];
    return amount === undefined ? [] : [[name, amount] as const];
  });
  if (amounts.input_mtok === undefined || amounts.output_mtok === undefined) return undefined;
  const at = (tokens: number) =>
    Object.fromEntries(
      given.map(([name, amount]) => {
        if (typeof amount === 'number') return [name, amount];
        return [name, amount.tiers.findLast(({ start }) => start <= tokens)?.price ?? amount.base];
      }),
    );
  const starts = given.flatMap(([, amount]) =>
    typeof amount === 'number' ? [] : amount.tiers.map(({ start }) => start),
  );
  const steps = [...new Set(starts)].sort((one, other) => one - other);
  return { ...at(-1), ...(steps.length > 0 && { above: steps.map((tokens) => ({ tokens, ...at(tokens) })) }) };
}

function patternOf({ equals, starts_with, ends_with, contains, regex, or, and }: Match): string {
  if (or) return or.map(patternOf).join('|');
  if (and) return `^${and.map((one) => `(?=.*?(?:${patternOf(one)}))`).join('')}`;
  if (equals !== undefined) return `^${escaped(equals)}$`;
  if (starts_with !== undefined) return `^${escaped(starts_with)}`;
  if (ends_with !== undefined) return `${escaped(ends_with)}$`;
  if (contains !== undefined) return escaped(contains);
  if (regex !== undefined) return `(?:${regex})`;
  throw new Error('A model of the catalog is matched in a way that is not known here.');
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
