/** Server of a command that adds one to another agent. `json`: its configuration as text. */
export type AddCommand =
  | { name: string | undefined; json: string }
  | { name: string; command: string; args: string[]; env?: Record<string, string> }
  | { name: string; type: 'http' | 'sse'; url: string; headers: Record<string, string> };

/**
 * Reads `claude mcp add …` and its kin (Codex, Gemini, Qwen, Amp), `claude mcp add-json …` and `code --add-mcp …`.
 * Undefined for any other command; `unclear` if options of another meaning are in it.
 */
export function parseAddCommand(words: readonly string[]): AddCommand | 'unclear' | undefined {
  const program = words[0]?.replace(/^.*[\\/]/, '').replace(/\.(?:exe|cmd)$/i, '') ?? '';
  const option = words.indexOf('--add-mcp');
  if (option > 0) return words[option + 1] === undefined ? 'unclear' : { name: undefined, json: words[option + 1]! };
  if (!/^(?:claude|codex|gemini|qwen|amp|copilot)$/.test(program) || words[1] !== 'mcp') return undefined;
  if (words[2] === 'add-json') return parseAddJson(words.slice(3));
  return words[2] === 'add' ? parseAdd(words.slice(3)) : 'unclear';
}

const withValue = new Set([
  '-s', '--scope', '-t', '--transport', '-e', '--env', '-H', '--header', '--timeout', '--description', '--url',
]); // biome-ignore format: a table

function parseAddJson(words: readonly string[]): AddCommand | 'unclear' {
  const rest: string[] = [];
  for (let at = 0; at < words.length; at++)
    if (withValue.has(words[at]!)) at += 1;
    else rest.push(words[at]!);
  const [name, json, ...more] = rest;
  return name === undefined || json === undefined || more.length > 0 ? 'unclear' : { name, json };
}

function parseAdd(words: readonly string[]): AddCommand | 'unclear' {
  const end = words.indexOf('--');
  const before = end < 0 ? words : words.slice(0, end);
  const start = end < 0 ? [] : words.slice(end + 1);
  const options = new Map<string, string[]>();
  const free: string[] = [];
  for (let at = 0; at < before.length; at++) {
    const [, name = before[at]!, joined] = /^(--[a-z-]+)=(.*)$/s.exec(before[at]!) ?? [];
    // Without `--`, words after the command belong to the command.
    const isFree = !name.startsWith('-') || (end < 0 && free.length >= 2 && !isAddress(free[1]!));
    if (isFree) free.push(before[at]!);
    else if (!withValue.has(name)) return 'unclear';
    else {
      if (joined === undefined) at += 1;
      const value = joined ?? before[at];
      if (value === undefined) return 'unclear';
      options.set(name, [...(options.get(name) ?? []), value]);
      // Several values may follow one `-e`.
      while (/^(?:-e|--env|-H|--header)$/.test(name) && isPair(name, before[at + 1])) {
        at += 1;
        options.get(name)!.push(before[at]!);
      }
    }
  }
  const [name, target, ...args] = [...free, ...start];
  const url = options.get('--url')?.[0] ?? (target !== undefined && isAddress(target) ? target : undefined);
  const transport = valuesOf(options, '-t', '--transport')[0];
  if (name === undefined) return 'unclear';
  if (url !== undefined && (transport === undefined || /^(?:http|sse)$/.test(transport))) {
    const headers = valuesOf(options, '-H', '--header').map((header) => /^([^:]+):\s*(.*)$/s.exec(header));
    if (args.length > 0 || headers.includes(null)) return 'unclear';
    return {
      name,
      type: transport === 'sse' ? 'sse' : 'http',
      url,
      headers: Object.fromEntries(headers.map((header) => [header![1]!.trim(), header![2]!])),
    };
  }
  if (target === undefined || (transport !== undefined && transport !== 'stdio')) return 'unclear';
  const env = valuesOf(options, '-e', '--env').map((pair) => /^([A-Za-z_]\w*)=(.*)$/s.exec(pair));
  if (env.includes(null)) return 'unclear';
  return {
    name,
    command: target,
    args,
    ...(env.length > 0 && { env: Object.fromEntries(env.map((pair) => [pair![1]!, pair![2]!])) }),
  };
}

const valuesOf = (options: ReadonlyMap<string, string[]>, ...names: string[]): string[] =>
  names.flatMap((name) => options.get(name) ?? []);

const isAddress = (word: string): boolean => /^https?:\/\//i.test(word);

const isPair = (option: string, word: string | undefined): boolean =>
  word !== undefined && (/^(?:-e|--env)$/.test(option) ? /^[A-Za-z_]\w*=/ : /^[\w-]+: /).test(word);
