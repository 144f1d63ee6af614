import { createHash } from 'node:crypto';

/** Providers accept at most 64 characters in the name of a function. */
const longest = 64;
const longestServer = 24;

/** Names of our own that a server's must not look like on a wire. */
const ownNames = ['mcp.search_tools', 'mcp.call_tool', 'mcp.read_resource'];

/** Gives each tool `mcp.<server>.<tool>`: cleaned, at most 64 characters, and unique also where dots become underscores. */
export function createNames(): (server: string, tool: string) => string {
  const taken = new Set(ownNames.map(onWire));
  return (server, tool) => nameWithin(`mcp.${clean(server, longestServer)}.`, tool, taken);
}

/** The tool's name after this beginning, cleaned; another one than those that are taken, on a wire, too. */
export function nameWithin(prefix: string, tool: string, taken: Set<string>): string {
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
 * A name for each server, in their order, that no other one has: what was allowed to one server's tools is not allowed to
 * those of another that calls itself the same. Whether it runs makes no difference.
 */
export function serverNames(names: readonly string[]): string[] {
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

/** What is cut off is stood for by a hash, so that long names which begin alike stay apart and the same. */
function clean(name: string, limit: number): string {
  const cleaned = name.replace(/[^A-Za-z0-9_-]/g, '_') || '_';
  if (cleaned.length <= limit) return cleaned;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 6);
  return `${cleaned.slice(0, limit - 7)}_${hash}`;
}
