import * as z from 'zod';
import { isObject, type JsonObject } from '../core/json.ts';

/** Fields of a reply as servers send them: empty is absent, and a field of another type counts as not sent. */
export const word = z.string().min(1).optional().catch(undefined);
export const countField = z.number().nonnegative().optional().catch(undefined);
export const size = z.number().positive().optional().catch(undefined);

export const flag = z.boolean().optional().catch(undefined);

/** An object as it came, its keys untouched; something else counts as an empty one. */
export const object = z.custom<JsonObject>(isObject).catch(() => ({}));

/** A list; servers written in Go send null for an empty one. */
export const list = z
  .array(z.unknown())
  .nullable()
  .transform((items) => items ?? []);

/** `word` for the fields of every single event, which no schema has the time to look at. */
export const wordIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** The field `error` of an event: many servers send it as null, empty or `{}` with every one of them. */
export const isReportedError = (error: unknown): boolean =>
  wordIn(error) !== undefined || (isObject(error) && Object.keys(error).length > 0);
