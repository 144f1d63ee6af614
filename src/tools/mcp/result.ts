import { isDeepStrictEqual } from 'node:util';
import type { CallToolResult, ContentBlock, ReadResourceResult } from '@modelcontextprotocol/sdk/types.js';
import { ToolError } from '../tool.ts';

/** Characters of text that go to the model. */
const textLimit = 40_000;

/**
 * What the model is told of a result: `{ text?, structured?, cut? }`. Tool results are text on every provider's wire, so
 * images and sounds are named with type and size, and said not to be shown. Throws `TOOL_EXEC_FAILED` for a failed call.
 */
export function toData(result: CallToolResult): Record<string, unknown> {
  const text = result.content.map(inWords).join('\n');
  if (result.isError)
    throw new ToolError('TOOL_EXEC_FAILED', text.slice(0, 4000) || 'The tool failed without saying why.');
  const { structuredContent: structured } = result;
  if (structured === undefined) return cut(text);
  // Servers repeat it as text for older clients; the model reads it once.
  return { ...(text !== '' && !isDeepStrictEqual(parsed(text), structured) && cut(text)), structured };
}

/** The contents of a resource as text. */
export function resourceData({ contents }: ReadResourceResult): Record<string, unknown> {
  return cut(contents.map(resourceInWords).join('\n'));
}

function cut(text: string): Record<string, unknown> {
  if (text.length <= textLimit) return { text };
  return {
    text: text.slice(0, textLimit),
    cut: `${text.length - textLimit} characters were cut. Ask for less at a time.`,
  };
}

function inWords(block: ContentBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'image' || block.type === 'audio') return unseen(block.mimeType, block.data);
  if (block.type === 'resource') return resourceInWords(block.resource);
  const { name, uri, mimeType, description } = block;
  const about = [mimeType, description].filter(Boolean).join(': ');
  return `[resource ${name}: ${uri}${about ? ` (${about})` : ''}; read it with mcp.read_resource]`;
}

function resourceInWords(resource: ReadResourceResult['contents'][number]): string {
  const type = resource.mimeType ?? 'application/octet-stream';
  if ('text' in resource) return `[resource ${resource.uri}]\n${resource.text}`;
  return `[resource ${resource.uri}] ${unseen(type, resource.blob)}`;
}

/** `[image/png, 12 kB, not shown: results carry text only]`. */
function unseen(type: string, base64: string): string {
  const bytes = Math.floor((base64.length * 3) / 4);
  const size = bytes < 1000 ? `${bytes} B` : `${Math.round(bytes / 1000)} kB`;
  return `[${type}, ${size}, not shown: results carry text only]`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
