import { createHash } from 'node:crypto';
import type { ToolDefinition } from '../../protocol/content/tools.ts';

/** Characters; OpenAI, Anthropic and Google answer 400 to a longer name of a function. */
const longestName = 64;

/**
 * `fs.read` → `fs_read`: providers accept letters, digits, `_` and `-` in the name of a function, and no dots. A name
 * that is too long (`mcp.server.tool`) keeps its beginning and ends in a hash of the whole: the same in every request,
 * and another one for every other name. A name that went through stays as it is.
 */
export function toWireName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '_');
  if (plain.length <= longestName) return plain;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 10);
  return `${plain.slice(0, longestName - hash.length - 1)}_${hash}`;
}

/** Before a name, as families of models were taught it. */
const familyPrefix = /^(?:functions|default_api|tools?)\./;
/** Behind a name: marks of a family's own form, with no arguments among them. No text is matched in two ways, however it is made. */
const strayMarks = /(?:<\|[\w ]*\|>\w*|<(?!\|)\/?[\w-]*|:\d+|[\s"'`()[\],;:>|*])+$/;

/** The name of a tool that a model wrote, without a family's own prefix and without marks behind it. */
export const plainName = (name: string): string =>
  name.length > mostCharacters ? name : name.replace(familyPrefix, '').replace(strayMarks, '');
const mostCharacters = 200;

/**
 * The way back, for the tools a request offered. A name that none of them has, nor has without what stands around it, stays as it is: the
 * loop answers it as an unknown tool. Where two tools share a wire name the first one has it (the adapter sees to it that none do).
 */
export function fromWireNames(
  tools: readonly Pick<ToolDefinition, 'name'>[],
  toName: (name: string) => string = toWireName,
): (wireName: string) => string {
  const names = new Map<string, string>(); // a Map: a model may well ask for `constructor`
  for (const { name } of tools) if (!names.has(toName(name))) names.set(toName(name), name);
  const own = new Set(tools.map(({ name }) => name));
  return (wireName) => {
    const name = names.get(wireName);
    if (name !== undefined || own.has(wireName)) return name ?? wireName;
    const plain = plainName(wireName);
    return names.get(plain) ?? (own.has(plain) ? plain : wireName);
  };
}
