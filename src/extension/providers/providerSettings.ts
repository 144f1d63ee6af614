import * as z from 'zod';
import { invalidHeaderReason, isPrintableHeader } from '../../llm/core/headers.ts';
import type { ProviderChoice } from '../../llm/createClient.ts';
import { lookUpByModel } from '../../llm/models/lookupByModel.ts';
import { type Price, priceSchema } from '../../llm/models/prices.ts';
import { isOpenAIWire, organizationHeaderName, type ProviderId, providers } from '../../llm/models/providers.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { type LocalizedMessage, message, toEnglishText } from '../../protocol/text/l10n.ts';
import { withMessageLinks } from '../../protocol/text/links.ts';
import type { FormerSettings } from '../settings/formerSettings.ts';
import type { Settings } from '../settings/settings.ts';

export interface ProviderSettings {
  /** Address as written, validated on use. Empty: the default. */
  baseUrl: string;
  /** Headers by lower-case name; a value may reference secrets (`${secret:name}`). */
  headers: Readonly<Record<string, string>>;
  organization?: string;
  api?: 'responses';
  /** API version of Azure OpenAI; undefined: the v1 API, and for all other providers. */
  apiVersion?: string;
  /** Reason that the settings are invalid, in which case nothing is sent; localized by `settingsProblem`. */
  problem?: string;
  priceOf(model: string): Price | undefined;
  windowOf(model: string): number | undefined;
}

export type RawProviderSettings = Pick<Settings, 'providers'> & FormerSettings;

const tokens = z.number().int().min(1024).max(100_000_000);
const maxHeaders = 50;
const faults = {
  characters: 'has characters that no header can carry',
  api: 'can only be "responses"',
  many: `has more than ${maxHeaders} of them`,
  twice: 'stands there twice',
} as const;
type Fault = (typeof faults)[keyof typeof faults] | NonNullable<ReturnType<typeof invalidHeaderReason>>;

const entrySchema = z.strictObject({
  baseUrl: z.string().optional(),
  headers: z.record(z.string(), z.string()).superRefine(checkHeaders).optional(),
  organization: z.string().min(1).max(200).refine(isPrintableHeader, faults.characters).optional(),
  api: z.literal('responses', faults.api).optional(),
  apiVersion: z
    .string()
    .max(100)
    .regex(/^[\w.-]+$/)
    .optional(),
  prices: z.record(z.string(), priceSchema).optional(),
  window: z.union([tokens, z.record(z.string(), tokens)]).optional(),
});

export type ProviderEntry = z.infer<typeof entrySchema>;

/** Returns the provider's entry of `towpath.providers`. Missing values come from the former settings, one for each value. */
export function providerSettings(now: RawProviderSettings, id: ProviderId): ProviderSettings {
  const { entry, problem } = readProviderEntry(now.providers, id);
  const former = id === 'openai-compatible' ? now['endpoint.baseUrl'] : (now.baseUrls[id] ?? '');
  const { window, prices = {}, organization, api } = entry;
  const apiVersion = id === 'azure' && (entry.apiVersion ?? now['azure.apiVersion']);
  const windows = typeof window === 'number' ? { '*': window } : (window ?? {});
  return {
    baseUrl: entry.baseUrl?.trim() || former,
    headers: Object.fromEntries(
      Object.entries(entry.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value.trim()]),
    ),
    ...(organization && { organization: organization.trim() }),
    ...(api && { api }),
    ...(apiVersion && { apiVersion }),
    ...(problem && { problem: toEnglishText(problem) }),
    priceOf: (model) => lookUpByModel(prices, model) ?? lookUpByModel(now.prices, `${id}/${model}`),
    windowOf: (model) => lookUpByModel(windows, model) ?? (id === 'ollama' ? now['ollama.contextSize'] : undefined),
  };
}

export const settingsProblem = ({ providers: written }: Pick<RawProviderSettings, 'providers'>, id: ProviderId) =>
  readProviderEntry(written, id).problem;

export const configuredProviderNames = (written: unknown): string[] => (isTable(written) ? Object.keys(written) : []);

export function unknownProviderMessage(name: string): LocalizedMessage | undefined {
  if (providers.some(({ id }) => id === name)) return undefined;
  const known = providers.map(({ id }) => id).join(', ');
  return withMessageLinks(
    message(
      "The setting towpath.providers names “{0}”, which is not one of {1}. An address of your own with OpenAI's chat completions is openai-compatible.",
      escapeInvisibleInLine(name).slice(0, 100),
      known,
    ),
    { setting: 'towpath.providers' },
  );
}

export function unknownProviderText(name: string): string | undefined {
  const problem = unknownProviderMessage(name);
  return problem && toEnglishText(problem);
}

/** Returns the value of `towpath.providers` with these fields in the entry of a provider. */
export function withProviderFields(written: unknown, id: ProviderId, fields: ProviderEntry): Record<string, unknown> {
  const all = isTable(written) ? written : {};
  const entry = Object.hasOwn(all, id) && isTable(all[id]) ? all[id] : {};
  return { ...all, [id]: { ...entry, ...fields } };
}

/** Returns an entry as written, validated; empty with a reason if it is invalid. */
export function readProviderEntry(
  written: unknown,
  id: ProviderId,
): { entry: ProviderEntry; problem?: LocalizedMessage } {
  const problem = (what: LocalizedMessage) => ({
    entry: {},
    problem: withMessageLinks(
      message('The setting towpath.providers is invalid: {0}. Correct it, then try again.', what),
      {
        setting: 'towpath.providers',
      },
    ),
  });
  if (written === undefined || written === null) return { entry: {} };
  if (!isTable(written)) return problem(message('it is not an object with one provider per field'));
  if (!Object.hasOwn(written, id)) return { entry: {} };
  const read = entrySchema.safeParse(written[id]);
  if (!read.success) return problem(issueIn(read.error, id));
  if (read.data.organization !== undefined && organizationHeaderName(id) === undefined)
    return problem(message("{0} is supported by OpenAI's protocol only; use headers", `${id}.organization`));
  if (read.data.api !== undefined && !isOpenAIWire(id))
    return problem(message("{0} is supported by OpenAI's protocols only", `${id}.api`));
  if (read.data.apiVersion !== undefined && id !== 'azure')
    return problem(message('{0} is supported by Azure OpenAI only', `${id}.apiVersion`));
  return { entry: read.data };
}

/** Returns the first schema issue without the value, which may be secret. */
function issueIn({ issues }: z.ZodError, id: string): LocalizedMessage {
  const { path, message: text, code, ...issue } = issues[0]!;
  const settingPath = escapeInvisibleInLine([id, ...path].map(String).join('.')).slice(0, 200);
  const keys = code === 'unrecognized_keys' ? (issue as { keys?: string[] }).keys : undefined;
  if (keys)
    return message(
      '{0} has "{1}", which is not supported',
      settingPath,
      escapeInvisibleInLine(String(keys[0])).slice(0, 100),
    );
  return /^[a-z]/.test(text)
    ? message(`{0} ${text as Fault}` as const, settingPath)
    : message('{0} is invalid ({1})', settingPath, text);
}

function checkHeaders(headers: Record<string, string>, context: z.RefinementCtx): void {
  const seen = new Set<string>();
  if (Object.keys(headers).length > maxHeaders) context.addIssue({ code: 'custom', message: faults.many });
  for (const [name, value] of Object.entries(headers)) {
    const problem = seen.has(name.toLowerCase()) ? faults.twice : invalidHeaderReason(name, value);
    seen.add(name.toLowerCase());
    if (problem) context.addIssue({ code: 'custom', path: [name], message: problem });
  }
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const toProviderChoice = (
  provider: ProviderId,
  model: string,
  { baseUrl, organization, api, apiVersion, windowOf }: ProviderSettings,
  now: Settings,
): ProviderChoice => ({
  provider,
  model,
  baseUrl,
  ...(organization && { organization }),
  ...(api && { api }),
  azure: { deployment: model, ...(apiVersion && { apiVersion }) },
  ollama: { contextSize: windowOf(model) },
  fetchLimits: {
    ...(provider !== 'ollama' && { connectMs: now['timeouts.connect'] }), // Ollama is silent until the model is loaded
    idleMs: now['timeouts.idle'],
  },
});
