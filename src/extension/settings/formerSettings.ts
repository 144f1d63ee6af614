import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { priceSchema } from '../../llm/models/prices.ts';

/**
 * Settings that `towpath.providers` has superseded. The manifest does not contain them, but a value in the settings file of the user still
 * works where `towpath.providers` says nothing. The editor removes such settings, and refuses to write them.
 */
export const formerSettingSchemas = {
  'endpoint.baseUrl': z
    .string()
    .regex(/^(https?:\/\/.+)?$/)
    .catch(''),
  /** Raw value: an invalid URL is an error, never replaced by the default. */
  baseUrls: z.record(z.string(), z.string().catch('')).catch({}),
  'azure.apiVersion': z
    .string()
    .regex(/^[\w.-]*$/)
    .catch(''),
  'ollama.contextSize': z.number().int().min(1024).max(1_048_576).catch(16_384),
  prices: z.record(z.string(), priceSchema).catch({}),
};

export type FormerSettingName = keyof typeof formerSettingSchemas;
export type FormerSettings = { [Name in FormerSettingName]: z.infer<(typeof formerSettingSchemas)[Name]> };

export const formerSettingNames = Object.keys(formerSettingSchemas) as FormerSettingName[];

/** Tests if all of a value counts. Invalid parts are read as nothing. */
export const isValidFormerSetting = (name: FormerSettingName, value: unknown): boolean =>
  isDeepStrictEqual(formerSettingSchemas[name].parse(value), value);
