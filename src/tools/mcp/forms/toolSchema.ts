import * as z from 'zod';

// The retained properties of a tool. Stored approvals depend on them: hashes of accepted tools are taken from the parsed form, so that the
// form must not change with a version of the client package.

const objectSchema = z
  .object({
    type: z.literal('object'),
    properties: z
      .record(
        z.string(),
        z.custom<object>((value) => typeof value === 'object' && value !== null),
      )
      .optional(),
    required: z.array(z.string()).optional(),
  })
  .catchall(z.unknown());

const iconSchema = z.object({
  src: z.string(),
  mimeType: z.string().optional(),
  sizes: z.array(z.string()).optional(),
  theme: z.enum(['light', 'dark']).optional(),
});

export const listedToolSchema = z.object({
  name: z.string(),
  title: z.string().optional(),
  icons: z.array(iconSchema).optional(),
  description: z.string().optional(),
  inputSchema: objectSchema,
  outputSchema: objectSchema.optional(),
  annotations: z
    .object({
      title: z.string().optional(),
      readOnlyHint: z.boolean().optional(),
      destructiveHint: z.boolean().optional(),
      idempotentHint: z.boolean().optional(),
      openWorldHint: z.boolean().optional(),
    })
    .optional(),
  execution: z.object({ taskSupport: z.enum(['required', 'optional', 'forbidden']).optional() }).optional(),
  _meta: z.record(z.string(), z.unknown()).optional(),
});

export type ListedTool = z.output<typeof listedToolSchema>;
