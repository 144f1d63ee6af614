import type { Prompt, Resource } from '@modelcontextprotocol/client';
import type * as z from 'zod';
import { zodIssueText } from '../../../protocol/text/zodIssueText.ts';
import type { McpSdk } from '../loadSdk.ts';
import { isNestedTooDeep } from '../schema.ts';
import { isJsonObject, withoutNullMembers } from './messageForms.ts';
import { headerFault } from './paramHeaders.ts';
import { type ListedTool, listedToolSchema } from './toolSchema.ts';

// Lists of servers, parsed item by item: an invalid item does not affect the others. Valid items stay unchanged, so that their hashes and
// approvals stay valid.

export interface OmittedListItem {
  name: string;
  why: string;
}

export interface ParsedMcpItemList<Item> {
  items: Item[];
  leftOut: OmittedListItem[];
  of: number;
  nextCursor?: string;
}

type Json = Record<string, unknown>;

const maxLeftOut = 1000;
const longestName = 200;

export const parseToolList = (result: Json): ParsedMcpItemList<ListedTool> | undefined =>
  listIn(result, 'tools', listedToolSchema, plainTool);

/** Leaves out tools whose declared headers are not valid, as clients must (MCP 2026-07-28, streamable HTTP). */
export function parseToolListWithHeaders(result: Json): ParsedMcpItemList<ListedTool> | undefined {
  const list = parseToolList(result);
  if (!list) return undefined;
  const faults = new Map(list.items.map((tool) => [tool, headerFault(tool)]));
  return {
    ...list,
    items: list.items.filter((tool) => faults.get(tool) === undefined),
    leftOut: [
      ...list.leftOut,
      ...list.items.flatMap((tool) => {
        const why = faults.get(tool);
        return why === undefined ? [] : [{ name: tool.name.slice(0, longestName), why }];
      }),
    ],
  };
}

export const parsePromptList = (result: Json, sdk: McpSdk): ParsedMcpItemList<Prompt> | undefined =>
  listIn(result, 'prompts', sdk.PromptSchema, plainPrompt);

export const parseResourceList = (result: Json, sdk: McpSdk): ParsedMcpItemList<Resource> | undefined =>
  listIn(result, 'resources', sdk.ResourceSchema, plainResource);

// Parses the list under a name; undefined if absent.
function listIn<Item>(
  result: Json,
  name: 'tools' | 'prompts' | 'resources',
  schema: z.ZodType<Item>,
  plain: (item: Json) => Json,
): ParsedMcpItemList<Item> | undefined {
  const { [name]: list = undefined, nextCursor } = result;
  if (!Array.isArray(list) && list !== null) return undefined;
  const items: Item[] = [];
  const leftOut: OmittedListItem[] = [];
  const all: unknown[] = list ?? [];
  for (const [index, item] of all.entries()) {
    const read = readItem(item, schema, plain);
    if ('data' in read) items.push(read.data);
    else if (leftOut.length < maxLeftOut) leftOut.push({ name: nameOf(item, index), why: read.why });
  }
  const isLast = typeof nextCursor !== 'string' || nextCursor === '';
  return { items, leftOut, of: all.length, ...(!isLast && { nextCursor }) };
}

function readItem<Item>(
  item: unknown,
  schema: z.ZodType<Item>,
  plain: (item: Json) => Json,
): { data: Item } | { why: string } {
  if (isNestedTooDeep(item)) return { why: 'too deeply nested' };
  const asItCame = schema.safeParse(item);
  const { success, data, error } = asItCame.success || !isJsonObject(item) ? asItCame : schema.safeParse(plain(item));
  return success ? { data } : { why: error.issues.slice(0, 1).map(zodIssueText).join() };
}

function nameOf(item: unknown, index: number): string {
  const { name, uri } = isJsonObject(item) ? item : {};
  const known = [name, uri].find((one) => (typeof one === 'string' && one !== '') || typeof one === 'number');
  return known === undefined ? `#${index + 1}` : String(known).slice(0, longestName);
}

// Returns the used properties of a tool. A hint of another type than boolean is ignored and grants no trust.
function plainTool({ name, title, description, inputSchema, annotations }: Json): Json {
  return {
    name,
    ...(typeof title === 'string' && { title }),
    ...withoutNullMembers({ description }),
    inputSchema: plainSchema(inputSchema),
    ...(isJsonObject(annotations) && { annotations: plainAnnotations(annotations) }),
  };
}

const plainAnnotations = ({ title, ...hints }: Json): Json => ({
  ...(typeof title === 'string' && { title }),
  ...Object.fromEntries(Object.entries(hints).filter(([, hint]) => typeof hint === 'boolean')),
});

// Returns the schema of an object, the form of all arguments; a schema of another type stays unchanged.
function plainSchema(schema: unknown): unknown {
  if (schema === undefined || schema === null || schema === true) return { type: 'object' };
  if (!isJsonObject(schema)) return schema;
  const { type, properties, required, additionalProperties, ...rest } = schema;
  const types = type === undefined || type === null ? undefined : [type].flat();
  if (types ? !types.includes('object') : !canBeObject(rest)) return schema;
  return {
    type: 'object',
    ...rest,
    ...withoutNullMembers({ properties: isJsonObject(properties) ? plainProperties(properties) : properties }),
    ...withoutNullMembers({ required, additionalProperties }),
  };
}

const canBeObject = ({ anyOf, oneOf }: Json): boolean =>
  [anyOf, oneOf].every(
    (list) =>
      !Array.isArray(list) ||
      list.some((one) => !isJsonObject(one) || one.type === undefined || [one.type].flat().includes('object')),
  );

function plainProperties(properties: Json): Json {
  const plain = Object.entries(properties).map(([name, schema]) => {
    if (schema === true) return [name, {}] as const;
    return [name, schema === false ? { not: {} } : schema] as const;
  });
  return withoutNullMembers(Object.fromEntries(plain));
}

function plainPrompt({ name, title, description, arguments: inputs }: Json): Json {
  const list = Array.isArray(inputs)
    ? inputs.map((input) => (isJsonObject(input) ? withoutNullMembers(input) : input))
    : inputs;
  return { name, ...(typeof title === 'string' && { title }), ...withoutNullMembers({ description, arguments: list }) };
}

function plainResource({ uri, name, title, description, mimeType }: Json): Json {
  return { uri, name: name ?? title ?? uri, ...withoutNullMembers({ title, description, mimeType }) };
}
