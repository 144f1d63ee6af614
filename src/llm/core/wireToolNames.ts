import { createHash } from 'node:crypto';
import type { ToolDefinition } from '../../protocol/content/tools.ts';

/** Maximum characters; OpenAI, Anthropic and Google answer 400 to a longer function name. */
const longestName = 64;

/**
 * Converts a tool name to a wire name: `fs.read` → `fs_read`. Providers accept letters, digits, `_` and `-`, but no dots. A name that is
 * too long (`mcp.server.tool`) is cut and ends in a hash of the full name, so the result is stable and unique. A wire name stays unchanged.
 */
export function toWireToolName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '_');
  if (plain.length <= longestName) return plain;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 10);
  return `${plain.slice(0, longestName - hash.length - 1)}_${hash}`;
}

const familyPrefix = /^(?:functions|default_api|tools?)\./;
/**
 * Trailing marks of a model family's own syntax, without arguments. The pattern is unambiguous, so hostile text cannot cause backtracking.
 */
const strayMarks = /(?:<\|[\w ]*\|>\w*|<(?!\|)\/?[\w-]*|:\d+|[\s"'`()[\],;:>|*])+$/;

export const normalizeToolName = (name: string): string =>
  name.length > maxCharacters ? name : name.replace(familyPrefix, '').replace(strayMarks, '');
const maxCharacters = 200;

/**
 * Creates the reverse mapping for the tools of a request. A name that matches no tool, even without prefix and marks, stays unchanged, and
 * the loop answers as for an unknown tool. If two tools share a wire name, the first wins; the adapter prevents duplicates.
 */
export function createToolNameMapping(
  tools: readonly Pick<ToolDefinition, 'name'>[],
  toName: (name: string) => string = toWireToolName,
): (wireName: string) => string {
  const names = new Map<string, string>(); // a Map, because a model may call `constructor`
  for (const { name } of tools) if (!names.has(toName(name))) names.set(toName(name), name);
  const own = new Set(tools.map(({ name }) => name));
  return (wireName) => {
    const name = names.get(wireName);
    if (name !== undefined || own.has(wireName)) return name ?? wireName;
    const plain = normalizeToolName(wireName);
    return names.get(plain) ?? (own.has(plain) ? plain : wireName);
  };
}
