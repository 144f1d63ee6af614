import type { ToolDefinition } from '../../protocol/content/tools.ts';
import { plainName, toWireName } from '../core/wireToolNames.ts';

/** The tools that were offered, by the names a model may write: `fs_read`, or `fs.read`. */
export type KnownTools = ReadonlyMap<string, ToolDefinition>;

export function knownTools(tools: readonly ToolDefinition[]): KnownTools {
  const known = new Map<string, ToolDefinition>(); // a Map: a model may well ask for `constructor`
  for (const tool of tools) {
    for (const name of [tool.name, toWireName(tool.name)]) if (!known.has(name)) known.set(name, tool);
  }
  return known;
}

/** A tool by the name that a model wrote, which may stand behind a family's own prefix (`functions.fs_read`). */
export const lookUpTool = (known: KnownTools, name: string): ToolDefinition | undefined =>
  known.get(name) ?? known.get(plainName(name));

/** A call as it was found in the text; it has no id yet. `malformed` as in `ToolCall`. */
export interface WrittenCall {
  name: string;
  arguments: Record<string, unknown>;
  malformed?: string;
}

/** A place in the text up to which something was read. No `calls`: it is text after all. */
export interface Region {
  end: number;
  calls?: WrittenCall[];
}
