import type { ToolDefinition } from '../protocol/tools.ts';

/** `fs.read` → `fs_read`: providers accept letters, digits, `_` and `-` in the name of a function, and no dots. */
export function toWireName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_');
}

/**
 * The way back, for the tools a request offered. A name that none of them has stays as it is: the loop answers it as
 * an unknown tool. Where two tools share a wire name the first one has it.
 */
export function fromWireNames(
  tools: readonly Pick<ToolDefinition, 'name'>[],
  toName: (name: string) => string = toWireName,
): (wireName: string) => string {
  const names = new Map<string, string>(); // a Map: a model may well ask for `constructor`
  for (const { name } of tools) if (!names.has(toName(name))) names.set(toName(name), name);
  return (wireName) => names.get(wireName) ?? wireName;
}
