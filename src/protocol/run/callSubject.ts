/** Arguments that say what a call is about. */
export const aboutNames: ReadonlySet<string> = new Set([
  'command',
  'path',
  'from',
  'to',
  'pattern',
  'glob',
  'query',
  'symbol',
  'uri',
  'server',
  'url',
  'name',
]);

const longest = 200;

/** Of a call that stands in no message: what it is about, as far as that is told in a few words. */
export function aboutOf(args: Record<string, unknown>): { about?: Record<string, string> } {
  const told = Object.entries(args).flatMap(([name, value]) =>
    aboutNames.has(name) && typeof value === 'string' && value.length <= longest ? [[name, value] as const] : [],
  );
  return told.length > 0 ? { about: Object.fromEntries(told) } : {};
}
