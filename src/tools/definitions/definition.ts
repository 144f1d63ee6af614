import * as z from 'zod';
import type { JsonSchema } from '../../protocol/content/tools.ts';

/**
 * Definition of a tool without its implementation. Marks in `meta` of an argument: `help` is text for users only, `path` marks a path,
 * `unlisted` an argument that is accepted but absent from prompts, and `promptType` is the only type that prompts name, of several accepted.
 */
export interface BuiltinToolDefinition<Shape extends z.ZodRawShape, Gives extends z.ZodRawShape | undefined> {
  name: string;
  description: string;
  arguments: Shape;
  gives?: Gives;
}

// Present because the host may truncate the data of any tool.
const cut = z.string().optional().describe('Set if the result is truncated: a sentence about the rest.');

/**
 * JSON schema keywords omitted from prompts. Bounds and unknown arguments are only checked: one error message is shorter than the keywords
 * in every prompt.
 */
const omittedKeywords = [
  'help',
  'path',
  'unlisted',
  'promptType',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'pattern',
] as const;

export function toToolDefinition<Shape extends z.ZodRawShape, Gives extends z.ZodRawShape | undefined = undefined>(
  named: BuiltinToolDefinition<Shape, Gives>,
) {
  const schema = z.strictObject(named.arguments);
  const listed = Object.entries(named.arguments).filter(([, argument]) => !(argument as z.ZodType).meta()?.unlisted);
  const isPart = listed.length < Object.keys(named.arguments).length;
  const parameters = toJsonSchema(z.strictObject(Object.fromEntries(listed)));
  return {
    definition: { name: named.name, description: named.description, parameters },
    arguments: schema,
    ...(isPart && { schema: toJsonSchema(schema) }),
    ...(named.gives && { gives: z.strictObject({ ...named.gives, cut }) as z.ZodObject }),
  };
}

function toJsonSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema, path }) => {
      const { promptType } = jsonSchema as JsonSchema;
      if (promptType !== undefined) Object.assign(jsonSchema, { type: promptType, anyOf: undefined });
      for (const keyword of omittedKeywords) delete (jsonSchema as JsonSchema)[keyword];
      if (jsonSchema.additionalProperties === false || isAnything(jsonSchema.additionalProperties))
        delete jsonSchema.additionalProperties;
      if (path.length > 0 && isAnything(jsonSchema.properties)) delete jsonSchema.properties;
    },
  }) as JsonSchema;
  return parameters;
}

const isAnything = (schema: unknown): boolean => typeof schema === 'object' && Object.keys(schema ?? {}).length === 0;
