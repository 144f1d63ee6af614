import type { ToolDefinition } from '../../protocol/content/tools.ts';
import { normalizeToolName, toWireName } from '../core/wireToolNames.ts';

/** Offered tools by the names that a model may write: `fs_read` or `fs.read`. */
export type KnownTools = ReadonlyMap<string, ToolDefinition>;

export function knownTools(tools: readonly ToolDefinition[]): KnownTools {
  const known = new Map<string, ToolDefinition>(); // a Map, because a model may call `constructor`
  for (const tool of tools) {
    for (const name of [tool.name, toWireName(tool.name)]) if (!known.has(name)) known.set(name, tool);
  }
  return known;
}

export const lookUpTool = (known: KnownTools, name: string): ToolDefinition | undefined =>
  known.get(name) ?? known.get(normalizeToolName(name));

/** A call in the text, without an id. `malformed` as in `ToolCall`. */
export interface TextToolCall {
  name: string;
  arguments: Record<string, unknown>;
  malformed?: string;
}

export interface TextCallRegion {
  end: number;
  calls?: TextToolCall[];
}
