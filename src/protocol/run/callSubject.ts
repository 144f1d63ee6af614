export const callSubjectArguments: ReadonlySet<string> = new Set([
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

export function callSubjectOf(args: Record<string, unknown>): { about?: Record<string, string> } {
  const fields = Object.entries(args).flatMap(([name, value]) =>
    callSubjectArguments.has(name) && typeof value === 'string' && value.length <= longest
      ? [[name, value] as const]
      : [],
  );
  return fields.length > 0 ? { about: Object.fromEntries(fields) } : {};
}
