import * as z from 'zod';
import { message } from '../../protocol/text/l10n.ts';
import { type LocalizableText, messageOf, toErrorInfo } from '../../protocol/text/localized.ts';
import { WorkflowActionError } from './action.ts';

/** Converts a schema of a file to a validator. Throws `WorkflowActionError` for an invalid schema. */
export function createJsonSchemaValidator(schema: Record<string, unknown>): z.ZodType {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (error) {
    const text = message('This JSON schema is invalid: {0}.', (error as Error).message);
    throw new WorkflowActionError({ code: 'TOOL_ARGS_INVALID', ...toErrorInfo(text) });
  }
}

export function invalidSchemaReason(schema: Record<string, unknown>): LocalizableText | undefined {
  try {
    createJsonSchemaValidator(schema);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
