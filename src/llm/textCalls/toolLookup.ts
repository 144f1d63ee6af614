import type { ToolDefinition } from '../../protocol/content/tools.ts';
import { normalizeToolName, toWireToolName } from '../core/wireToolNames.ts';

/** Offered tools by the names that a model may write: `fs_read` or `fs.read`. */
export type OfferedToolsByName = ReadonlyMap<string, ToolDefinition>;

export function indexOfferedTools(tools: readonly ToolDefinition[]): OfferedToolsByName {
  const known = new Map<string, ToolDefinition>(); // a Map, because a model may call `constructor`
  for (const tool of tools) {
    for (const name of [tool.name, toWireToolName(tool.name)]) if (!known.has(name)) known.set(name, tool);
  }
  return known;
}

export const lookUpTool = (known: OfferedToolsByName, name: string): ToolDefinition | undefined =>
  known.get(name) ?? known.get(normalizeToolName(name));

/** A call in the text, without an id. `malformed` as in `ToolCall`. */
export interface TextToolCall {
  name: string;
  arguments: Record<string, unknown>;
  malformed?: string;
}

export interface TextToolCallRegion {
  end: number;
  calls?: TextToolCall[];
}
