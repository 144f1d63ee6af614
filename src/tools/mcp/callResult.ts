import { isDeepStrictEqual } from 'node:util';
import type { CallToolResult, ContentBlock, ReadResourceResult } from '@modelcontextprotocol/client';
import * as z from 'zod';
import type { Attachment } from '../../protocol/content/messages.ts';
import { escapeInvisibleProse, escapeInvisibleProseDeep } from '../../protocol/text/escapeInvisible.ts';
import { textHead } from '../../protocol/text/shorten.ts';
import { ResultWithImages } from '../core/imageFiles.ts';
import { ToolError } from '../core/tool.ts';

export const mcpToolResultSchema = z.strictObject({
  text: z.string().optional().describe('What it said, as text.'),
  structured: z
    .unknown()
    .optional()
    .describe('Its structured content, where the server gives one; the same is not in `text` as well.'),
  leftOut: z.array(z.string()).optional().describe('Why a picture is not shown.'),
  cut: z.string().optional().describe('A sentence, when not all of it is there.'),
});

const textLimit = 40_000;

/**
 * Converts a result for the model: `{ text?, structured?, cut? }` with hidden characters marked, and the images, each named at the original
 * position. Sounds are only named with type and size. Throws `TOOL_EXEC_FAILED` for a failed call.
 */
export function mcpCallResultData(result: CallToolResult): unknown {
  const images: Attachment[] = [];
  const text = escapeInvisibleProse(formatContentBlocks(result.content, images));
  if (result.isError)
    throw new ToolError('TOOL_EXEC_FAILED', text.slice(0, 4000) || 'The tool failed without saying why.');
  if (result.structuredContent === undefined) return withImages(cut(text), images);
  const structured = escapeInvisibleProseDeep(result.structuredContent);
  // Servers repeat structured content as text for older clients; the model receives only one.
  const parts = { ...(text !== '' && !isRepeated(result) && cut(text)), structured };
  return withImages(parts, images);
}

export function mcpResourceData({ contents }: ReadResourceResult): ResultParts | ResultWithImages {
  const images: Attachment[] = [];
  const text = escapeInvisibleProse(contents.map((resource) => resourceText(resource, images)).join('\n'));
  return withImages(cut(text), images);
}

const isRepeated = ({ content, structuredContent }: CallToolResult): boolean =>
  content.every(({ type }) => type === 'text') &&
  isDeepStrictEqual(
    parsed(content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')),
    structuredContent,
  );

const withImages = <Data>(data: Data, images: readonly Attachment[]): Data | ResultWithImages =>
  images.length > 0 ? new ResultWithImages(data, images) : data;

interface ResultParts {
  text: string;
  cut?: string;
}

function cut(text: string): ResultParts {
  if (text.length <= textLimit) return { text };
  return {
    text: textHead(text, textLimit),
    cut: `${text.length - textLimit} characters were cut. Ask for less at a time.`,
  };
}

export type McpContentBlock = ContentBlock;

export const formatContentBlocks = (blocks: readonly ContentBlock[], images: Attachment[]): string =>
  blocks.map((block) => blockText(block, images)).join('\n');

function blockText(block: ContentBlock, images: Attachment[]): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'image') return image(block.mimeType, block.data, images);
  if (block.type === 'audio') return unseen(block.mimeType, block.data);
  if (block.type === 'resource') return resourceText(block.resource, images);
  const { name, uri, mimeType, description } = block;
  const label = [mimeType, description].filter(Boolean).join(': ');
  return `[resource ${name}: ${uri}${label ? ` (${label})` : ''}; read it with mcp.read_resource]`;
}

function resourceText(resource: ReadResourceResult['contents'][number], images: Attachment[]): string {
  const type = resource.mimeType ?? 'application/octet-stream';
  if ('text' in resource) return `[resource ${resource.uri}]\n${resource.text}`;
  const text = type.startsWith('image/') ? image(type, resource.blob, images) : unseen(type, resource.blob);
  return `[resource ${resource.uri}] ${text}`;
}

function image(mediaType: string, data: string, images: Attachment[]): string {
  const name = `image ${images.length + 1}`;
  images.push({ mediaType, data, name });
  return `[${name}: ${mediaType}, ${sizeOf(data)}]`;
}

const unseen = (type: string, base64: string) =>
  `[${type}, ${sizeOf(base64)}, not shown: results carry text and images only]`;

function sizeOf(base64: string): string {
  const bytes = Math.floor((base64.length * 3) / 4);
  return bytes < 1000 ? `${bytes} B` : `${Math.round(bytes / 1000)} kB`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
