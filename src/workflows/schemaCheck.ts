import * as z from 'zod';
import { ActionError } from './action.ts';

/** A schema written in a file as a check. Throws `ActionError` when it is none. */
export function schemaOf(schema: Record<string, unknown>): z.ZodType {
  const problem = schemaProblem(schema);
  if (problem) throw new ActionError({ code: 'TOOL_ARGS_INVALID', message: problem });
  return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
}

/** Why a schema written in a file can be no check; undefined when it can. */
export function schemaProblem(schema: Record<string, unknown>): string | undefined {
  try {
    z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    return undefined;
  } catch (error) {
    return `This JSON schema cannot be used: ${(error as Error).message}.`;
  }
}
