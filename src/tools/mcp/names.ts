import { createHash } from 'node:crypto';

// Maximum length of a function name at providers.
const longest = 64;
const longestServer = 24;

const ownNames = ['mcp.search_tools', 'mcp.call_tool', 'mcp.read_resource'];

/** Names tools `mcp.<server>.<tool>`: cleaned, at most 64 characters, and unique even after dots become underscores. */
export function createMcpToolNamer(): (server: string, tool: string) => string {
  const taken = new Set(ownNames.map(onWire));
  return (server, tool) => uniquePrefixedName(`mcp.${clean(server, longestServer)}.`, tool, taken);
}

/** Returns a cleaned, unused name with a prefix; uniqueness is checked on the wire form. */
export function uniquePrefixedName(prefix: string, tool: string, taken: Set<string>): string {
  for (let count = 1; ; count++) {
    const ending = count === 1 ? '' : `_${count}`;
    const name = `${prefix}${clean(tool, longest - prefix.length - ending.length)}${ending}`;
    if (taken.has(onWire(name))) continue;
    taken.add(onWire(name));
    return name;
  }
}

const onWire = (name: string) => name.replaceAll('.', '_').toLowerCase();

/**
 * Returns a unique name for each server, in order, running or not: permissions of one server must not apply to another with the same name.
 */
export function uniqueServerNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    for (let count = 1; ; count++) {
      const ending = count === 1 ? '' : `_${count}`;
      const own = `${clean(name, longestServer - ending.length)}${ending}`;
      if (taken.has(onWire(own))) continue;
      taken.add(onWire(own));
      return own;
    }
  });
}

function clean(name: string, limit: number): string {
  const cleaned = name.replace(/[^A-Za-z0-9_-]/g, '_') || '_';
  if (cleaned.length <= limit) return cleaned;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 6);
  return `${cleaned.slice(0, limit - 7)}_${hash}`;
}
