import * as z from 'zod';
import { isObject, type JsonObject } from '../core/json.ts';

/** Schema of fields in replies: an empty value or another type counts as absent. */
export const optionalNonEmptyStringSchema = z.string().min(1).optional().catch(undefined);
export const optionalCountSchema = z.number().nonnegative().optional().catch(undefined);
export const optionalPositiveNumberSchema = z.number().positive().optional().catch(undefined);

export const optionalBooleanSchema = z.boolean().optional().catch(undefined);

export const tolerantObjectSchema = z.custom<JsonObject>(isObject).catch(() => ({}));

/** Schema of a list; servers written in Go send null for an empty list. */
export const tolerantListSchema = z
  .array(z.unknown())
  .nullable()
  .transform((items) => items ?? []);

export const nonEmptyString = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Returns true for a reported error: many servers send `error` as null, empty or `{}` in every event. */
export const isReportedError = (error: unknown): boolean =>
  nonEmptyString(error) !== undefined || (isObject(error) && Object.keys(error).length > 0);
