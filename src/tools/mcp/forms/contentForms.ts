import type { CallToolResult, ContentBlock, GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client';
import type { McpSdk } from '../loadSdk.ts';
import { isJsonObject, withoutNullMembers } from './messageForms.ts';

// Result contents, parsed part by part: an invalid part is replaced by its name, and the others stay.

type Json = Record<string, unknown>;

export function parseCallToolResult(answer: Json, sdk: McpSdk): CallToolResult | undefined {
  const result = withoutNullMembers(answer); // a null as structured content says nothing
  const asItCame = sdk.CallToolResultSchema.safeParse(result);
  if (asItCame.success) return asItCame.data;
  const parts = partsIn(result.content);
  if (!parts) return undefined;
  const { isError, structuredContent } = result;
  return {
    content: parts.map((part) => blockIn(part, sdk)),
    ...(isError === true || isError === 'true' ? { isError: true } : {}),
    ...withoutNullMembers({ structuredContent }),
  };
}

export function parseGetPromptResult(result: Json, sdk: McpSdk): GetPromptResult | undefined {
  const asItCame = sdk.GetPromptResultSchema.safeParse(result);
  if (asItCame.success) return asItCame.data;
  const messages = partsIn(result.messages);
  if (!messages) return undefined;
  const contents = messages.flatMap((message) => {
    const content = isJsonObject(message) ? message.content : undefined;
    if (typeof content === 'string') return [{ type: 'text', text: content }];
    return partsIn(content ?? [undefined]) ?? [content];
  });
  return { messages: contents.map((content) => ({ role: 'user', content: blockIn(content, sdk) })) };
}

export function parseReadResourceResult(result: Json, uri: string, sdk: McpSdk): ReadResourceResult | undefined {
  const asItCame = sdk.ReadResourceResultSchema.safeParse(result);
  if (asItCame.success) return asItCame.data;
  const contents = partsIn(result.contents);
  if (!contents) return undefined;
  return { contents: contents.map((content) => resourceIn(content, uri, sdk) ?? { uri, text: leftOut(content) }) };
}

// Returns a list; a single part becomes a list, and an absent value an empty list.
function partsIn(value: unknown): unknown[] | undefined {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? [value] : undefined;
}

function blockIn(part: unknown, sdk: McpSdk): ContentBlock {
  const fits = (value: unknown) => sdk.ContentBlockSchema.safeParse(value).data;
  const plain = () => (isJsonObject(part) ? fits(plainBlock(part, sdk)) : undefined);
  return fits(part) ?? plain() ?? { type: 'text', text: leftOut(part) };
}

function plainBlock({ annotations: _, _meta, icons, ...part }: Json, sdk: McpSdk): Json {
  const { type, data, resource, mimeType } = part;
  if (type === 'image' || type === 'audio') return { ...withoutNullMembers(part), ...base64In('data', data, mimeType) };
  if (type === 'resource') return { type, resource: resourceIn(resource, '', sdk) };
  if (type === 'resource_link') return { name: part.uri, ...withoutNullMembers({ ...part, size: undefined }) };
  return withoutNullMembers(part);
}

function resourceIn(content: unknown, asked: string, sdk: McpSdk): ReadResourceResult['contents'][number] | undefined {
  if (!isJsonObject(content)) return undefined;
  const { uri, text, blob, mimeType } = content;
  const base64 = typeof blob === 'string' ? base64In('blob', blob, mimeType) : {};
  const plain = { uri: uri ?? asked, ...withoutNullMembers({ text, mimeType }), ...base64 };
  return sdk.ReadResourceResultSchema.safeParse({ contents: [plain] }).data?.contents[0];
}

// The prefix of a `data:` URI supplies a missing media type.
function base64In(name: string, value: unknown, mimeType: unknown): Json {
  if (typeof value !== 'string') return {};
  const [prefix = '', type = ''] = /^data:([^;,]{0,200})[^,]{0,200},/i.exec(value) ?? [];
  const bytes = value.slice(prefix.length).replace(/\s+/g, '');
  return { [name]: bytes, ...withoutNullMembers({ mimeType: mimeType ?? (type === '' ? undefined : type) }) };
}

function leftOut(part: unknown): string {
  const { type } = isJsonObject(part) ? part : {};
  const name = typeof type === 'string' ? ` of type ${JSON.stringify(type.slice(0, 40))}` : '';
  return `[left out: a part${name} that does not fit the protocol]`;
}
