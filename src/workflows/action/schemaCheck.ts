import * as z from 'zod';
import { message } from '../../protocol/text/l10n.ts';
import { type LocalizableText, messageOf, toErrorInfo } from '../../protocol/text/localized.ts';
import { ActionError } from './action.ts';

/** A schema written in a file as a check. Throws `ActionError` when it is none. */
export function schemaOf(schema: Record<string, unknown>): z.ZodType {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (error) {
    const words = message('This JSON schema is invalid: {0}.', (error as Error).message);
    throw new ActionError({ code: 'TOOL_ARGS_INVALID', ...toErrorInfo(words) });
  }
}

/** Why a schema written in a file can be no check; undefined when it can. */
export function schemaProblem(schema: Record<string, unknown>): LocalizableText | undefined {
  try {
    schemaOf(schema);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
