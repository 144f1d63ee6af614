import type { McpContentBlock } from '../mcp/callResult.ts';

/**
 * Converts the editor's message and result parts (`LanguageModelTextPart` and others) to MCP content blocks. Parts are recognized by shape,
 * because newer editors have unknown classes. Parts without content, like cache marks, are omitted.
 */
export const toMcpContentBlocks = (parts: readonly unknown[]): McpContentBlock[] => parts.flatMap(blockOf);

interface Shape {
  value?: unknown;
  mimeType?: unknown;
  data?: unknown;
}

function blockOf(part: unknown): McpContentBlock[] {
  if (typeof part === 'string') return [{ type: 'text', text: part }];
  if (isThinkingResultPart(part)) return [];
  const { value, mimeType, data } = Object(part) as Shape;
  if (typeof value === 'string') return [{ type: 'text', text: value }];
  if (typeof value === 'object' && value !== null) return [{ type: 'text', text: textIn(value) }];
  if (typeof mimeType === 'string' && ArrayBuffer.isView(data)) return ofData(mimeType, data);
  return [{ type: 'text', text: '[something that is no text, not shown]' }];
}

export const isThinkingResultPart = (part: unknown): boolean =>
  typeof part === 'object' && part !== null && 'value' in part && ('id' in part || 'metadata' in part);

function ofData(mimeType: string, view: ArrayBufferView): McpContentBlock[] {
  if (!/^[\w.+-]+\/[\w.+-]+/.test(mimeType)) return [];
  const bytes = Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  if (/^text\/|^application\/([\w.+-]+\+)?json\b/.test(mimeType))
    return [{ type: 'text', text: bytes.toString('utf8') }];
  const data = bytes.toString('base64');
  return [{ type: mimeType.startsWith('image/') ? 'image' : 'audio', mimeType, data }];
}

const deepest = 200;

function textIn(tree: object): string {
  const texts: string[] = [];
  collect(tree, texts, deepest);
  return texts.length > 0 ? texts.join('') : written(tree);
}

function collect(node: unknown, texts: string[], left: number): void {
  if (typeof node !== 'object' || node === null || left === 0) return;
  const { text, children, node: inner, lineBreakBefore } = node as Record<string, unknown>;
  if (typeof text === 'string') texts.push(lineBreakBefore && texts.length > 0 ? `\n${text}` : text);
  for (const child of Array.isArray(children) ? children : []) collect(child, texts, left - 1);
  collect(inner, texts, left - 1);
}

function written(value: object): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '[something that cannot be written down]';
  }
}
