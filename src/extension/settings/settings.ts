import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import * as z from 'zod';
import { chatWrappers } from '../../llm/local/ipc/chatWrappers.ts';
import { approvalPresets } from '../../protocol/content/policy.ts';
import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import { createCachedSettingsReader } from './cachedSettings.ts';
import { type FormerSettingName, formerSettingNames, formerSettingSchemas } from './formerSettings.ts';
import { userSettingValue } from './settingScopes.ts';

const seconds = (value: number): number => Math.round(value * 1000);

const modelId = z.string().catch('');

/** 0: no limit. Invalid values become `NaN`, so that an intended limit is never ignored. */
const dollars = z
  .number()
  .min(0)
  .or(z.undefined().transform(() => 0))
  .catch(Number.NaN);

const bytesOfMegabytes = (fallback: number) =>
  z
    .number()
    .min(0)
    .max(100_000)
    .catch(fallback)
    .transform((megabytes) => megabytes * 1_000_000);

const schema = z.object({
  model: modelId,
  models: z
    .object({ work: modelId, plan: modelId, review: modelId, small: modelId })
    .catch({ work: '', plan: '', review: '', small: '' }),
  /** Raw value: `providerSettings` parses one provider and reports errors. */
  providers: z.unknown(),
  offeredModels: z.array(z.string()).catch([]),
  'local.contextSize': z
    .number()
    .int()
    .min(0)
    .max(1_048_576)
    .catch(0)
    .transform((tokens) => (tokens === 0 ? 0 : Math.max(512, tokens))),
  'local.gpu': z.boolean().catch(true),
  'local.chatWrapper': z.enum(chatWrappers).catch('auto'),
  // Invalid values become the strictest preset.
  'approvals.preset': z.enum(approvalPresets).catch('ask-everything'),
  'approvals.readOnlyCommands': z.boolean().catch(false),
  /** Raw value: `parsePolicyRules` reports errors per rule. */
  'approvals.rules': z.unknown(),
  'editor.decorations': z.enum(['autoApproved', 'all', 'off']).catch('autoApproved'),
  /** An invalid folder is reported when used, so that an intended audit is never skipped. */
  'audit.folder': z.unknown().transform((folder) => (typeof folder === 'string' ? folder.trim() : String(folder))),
  'undo.quota': bytesOfMegabytes(500),
  'undo.commands': z.boolean().catch(true),
  'undo.commandBudget': bytesOfMegabytes(200),
  'local.folders': z.array(z.string()).catch([]),
  'local.downloadFolder': z
    .string()
    .refine((folder) => folder === '' || path.isAbsolute(folder))
    .catch(''),
  'local.hub': z
    .string()
    .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol))
    .catch('https://huggingface.co'),
  'local.engineRegistry': z
    .string()
    .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol))
    .catch('https://registry.npmjs.org'),
  'local.threads': z.number().int().min(0).max(256).catch(0),
  'local.idleUnload': z
    .number()
    .min(0)
    .max(10_080)
    .catch(10)
    .transform((minutes) => Math.round(minutes * 60_000)),
  'local.stateQuota': z
    .number()
    .min(0)
    .max(1000)
    .catch(4)
    .transform((gigabytes) => gigabytes * 1e9),
  'packages.autopilot': z.boolean().catch(false),
  'limits.run': dollars,
  'limits.day': dollars,
  maxTurns: z.number().int().min(1).max(500).catch(50),
  'tasks.parallel': z.number().int().min(0).max(8).catch(4),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .nullable()
    .catch(null)
    .transform((given) => given ?? undefined),
  thinkingBudget: z.number().int().min(0).max(200_000).catch(0),
  'timeouts.connect': z.number().min(1).max(3600).catch(60).transform(seconds),
  'timeouts.firstToken': z.number().min(0).max(86_400).catch(300).transform(seconds),
  'timeouts.idle': z.number().min(1).max(3600).catch(120).transform(seconds),
  'timeouts.total': z.number().min(0).max(86_400).catch(0).transform(seconds),
  retries: z.number().int().min(0).max(10).catch(3),
  retryAfterCap: z.number().min(0).max(3600).catch(60).transform(seconds),
  'rateLimit.requestsPerMinute': z.number().int().min(0).max(100_000).catch(0),
  'rateLimit.tokensPerMinute': z.number().int().min(0).max(100_000_000).catch(0),
  'shell.timeout': z.number().min(1).max(3600).catch(600).transform(seconds),
  'shell.terminal': z.boolean().catch(false),
  'web.allowPrivate': z.boolean().catch(false),
  'mcp.servers': z.record(z.string(), z.unknown()).catch({}),
  /** Empty, or an https address. Any other is not used. */
  'mcp.clientMetadata': z.url({ protocol: /^https$/ }).catch(''),
  'mcp.timeouts.start': z.number().min(1).max(600).catch(30).transform(seconds),
  'mcp.timeouts.call': z.number().min(1).max(86_400).catch(120).transform(seconds),
  ...formerSettingSchemas,
});

export type Settings = Readonly<z.infer<typeof schema>>;
type SettingName = keyof Settings;

export const settings = createCachedSettingsReader(read);

function read(): Settings {
  const configuration = vscode.workspace.getConfiguration('towpath');
  const value = (name: string) => {
    const inspected = configuration.inspect(name);
    return userSettingValue(name, inspected) ?? inspected?.defaultValue;
  };
  return schema.parse(Object.fromEntries(Object.keys(schema.shape).map((name) => [name, value(name)])));
}

/** Returns the values of former settings as the user has written them, also invalid ones; undefined: not set. */
export function formerSettingValues(): Partial<Record<FormerSettingName, unknown>> {
  const configuration = vscode.workspace.getConfiguration('towpath');
  return Object.fromEntries(
    formerSettingNames.map((name) => [name, userSettingValue(name, configuration.inspect(name))]),
  );
}

/**
 * Saves a setting; undefined removes it. Settings that widen permissions or choose recipients of data have the scope `application`: no
 * repository can set them, not even through the machine file (written by a `devcontainer.json`). Throws if the editor does not store the
 * value.
 */
export async function saveSetting(name: SettingName, value: unknown): Promise<void> {
  if (await saved(name, value)) return;
  // A value in the machine file does not count, but the editor would update it instead of the user's value. Removed first.
  await saved(name, undefined);
  if (await saved(name, value)) return;
  throw new UserFacingError(
    message(
      "The setting towpath.{0} could not be stored. A line of the machine's settings overrides it (*Preferences: Open Remote Settings (JSON)*), or your settings file has an error.",
      name,
    ),
  );
}

async function saved(name: SettingName, value: unknown): Promise<boolean> {
  await vscode.workspace.getConfiguration('towpath').update(name, value, vscode.ConfigurationTarget.Global);
  const inspected = vscode.workspace.getConfiguration('towpath').inspect(name);
  const wanted = value ?? inspected?.defaultValue;
  return isDeepStrictEqual(plain(userSettingValue(name, inspected) ?? inspected?.defaultValue), plain(wanted));
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));
