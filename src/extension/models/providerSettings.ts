import * as z from 'zod';
import { byModel } from '../../llm/byModel.ts';
import { headerProblem, isSendable } from '../../llm/headers.ts';
import { type Price, priceSchema } from '../../llm/prices.ts';
import { isOpenAIWire, organizationHeaderOf, type ProviderId, providers } from '../../llm/providers.ts';
import { visibleLine } from '../../protocol/visible.ts';
import type { Settings } from '../settings/settings.ts';

/** What the person's settings say of one provider behind an address. */
export interface ProviderSettings {
  /** As written: whether it is an address at all is seen where it is used. Empty: the provider's own. */
  baseUrl: string;
  /** By their names in lower case; a value may name secrets (`${secret:name}`). */
  headers: Readonly<Record<string, string>>;
  organization?: string;
  /** All of its models are asked through the Responses API. */
  api?: 'responses';
  /** A sentence: what is written cannot be understood, and nothing is sent until it can. */
  problem?: string;
  priceOf(model: string): Price | undefined;
  /** Tokens. */
  windowOf(model: string): number | undefined;
}

export type Written = Pick<Settings, 'providers' | 'baseUrls' | 'endpoint.baseUrl' | 'prices' | 'ollama.contextSize'>;

const mostHeaders = 50;
const tokens = z.number().int().min(1024).max(100_000_000);
const entrySchema = z.strictObject({
  baseUrl: z.string().optional(),
  headers: z.record(z.string(), z.string()).superRefine(checkHeaders).optional(),
  organization: z.string().min(1).max(200).refine(isSendable, 'has characters that no header can carry').optional(),
  api: z.literal('responses', 'can only be "responses"').optional(),
  prices: z.record(z.string(), priceSchema).optional(),
  window: z.union([tokens, z.record(z.string(), tokens)]).optional(),
});

/**
 * One provider's entry of `towpath.providers`. Where it is silent, the settings of before count, which were one for each of
 * these: they stay where they are, for a synchronised machine may have an earlier Towpath that reads no other.
 */
export function providerSettings(now: Written, id: ProviderId): ProviderSettings {
  const { entry, problem } = readEntry(now.providers, id);
  const former = id === 'openai-compatible' ? now['endpoint.baseUrl'] : (now.baseUrls[id] ?? '');
  const { window, prices = {}, organization, api } = entry;
  const windows = typeof window === 'number' ? { '*': window } : (window ?? {});
  return {
    baseUrl: entry.baseUrl?.trim() || former,
    headers: Object.fromEntries(
      Object.entries(entry.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value.trim()]),
    ),
    ...(organization && { organization: organization.trim() }),
    ...(api && { api }),
    ...(problem && { problem }),
    priceOf: (model) => byModel(prices, model) ?? byModel(now.prices, `${id}/${model}`),
    windowOf: (model) => byModel(windows, model) ?? (id === 'ollama' ? now['ollama.contextSize'] : undefined),
  };
}

/** The ids that `towpath.providers` has an entry of, known or not. */
export const namedProviders = (written: unknown): string[] => (isTable(written) ? Object.keys(written) : []);

/** What to say of a name in `towpath.providers` that is none of ours; undefined for one that is. */
export function unknownProvider(name: string): string | undefined {
  if (providers.some(({ id }) => id === name)) return undefined;
  const known = providers.map(({ id }) => id).join(', ');
  return (
    `The setting towpath.providers names "${visibleLine(name).slice(0, 100)}", which is none of ${known}. ` +
    "An address of your own that speaks OpenAI's chat completions is openai-compatible."
  );
}

/** The setting with another address for one provider; all else of it as it was written. */
export function withAddress(written: unknown, id: ProviderId, baseUrl: string): Record<string, unknown> {
  const all = isTable(written) ? written : {};
  const entry = Object.hasOwn(all, id) && isTable(all[id]) ? all[id] : {};
  return { ...all, [id]: { ...entry, baseUrl } };
}

function readEntry(written: unknown, id: ProviderId): { entry: z.infer<typeof entrySchema>; problem?: string } {
  const problem = (what: string) =>
    `The setting towpath.providers cannot be used: ${what}. Correct it, then try again.`;
  if (written === undefined || written === null) return { entry: {} };
  if (!isTable(written)) return { entry: {}, problem: problem('it is no object with a provider in each field') };
  if (!Object.hasOwn(written, id)) return { entry: {} };
  const read = entrySchema.safeParse(written[id]);
  if (!read.success) return { entry: {}, problem: problem(issueIn(read.error, id)) };
  if (read.data.organization !== undefined && organizationHeaderOf(id) === undefined)
    return { entry: {}, problem: problem(`${id}.organization is something that only OpenAI's wire has; use headers`) };
  if (read.data.api !== undefined && !isOpenAIWire(id))
    return { entry: {}, problem: problem(`${id}.api is something that only OpenAI's wires have`) };
  return { entry: read.data };
}

/** The first thing that is wrong, without its value: it may be a secret. */
function issueIn({ issues }: z.ZodError, id: string): string {
  const { path, message, code, ...issue } = issues[0]!;
  const place = visibleLine([id, ...path].map(String).join('.')).slice(0, 200);
  const keys = code === 'unrecognized_keys' ? (issue as { keys?: string[] }).keys : undefined;
  if (keys) return `${place} has "${visibleLine(String(keys[0])).slice(0, 100)}", which it does not take`;
  return `${place} ${/^[a-z]/.test(message) ? message : `is not right (${message})`}`;
}

function checkHeaders(headers: Record<string, string>, context: z.RefinementCtx): void {
  const seen = new Set<string>();
  if (Object.keys(headers).length > mostHeaders)
    context.addIssue({ code: 'custom', message: `has more than ${mostHeaders} of them` });
  for (const [name, value] of Object.entries(headers)) {
    const problem = seen.has(name.toLowerCase()) ? 'stands there twice' : headerProblem(name, value);
    seen.add(name.toLowerCase());
    if (problem) context.addIssue({ code: 'custom', path: [name], message: problem });
  }
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
