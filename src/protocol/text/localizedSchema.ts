import * as z from 'zod';
import type { LocalizedMessage } from './l10n.ts';

const valueSchema = z.union([
  z.string(),
  z.number(),
  z.strictObject({ grouped: z.number() }),
  z.lazy(() => localizedMessageSchema),
]);
export const localizedMessageSchema: z.ZodType<LocalizedMessage> = z.strictObject({
  english: z.string(),
  values: z.array(valueSchema).optional(),
});
