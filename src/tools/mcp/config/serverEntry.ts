import { splitCommandLine } from './commandLine.ts';

/** One server as VS Code writes it: without keys that other agents use for permissions and display, which `left` names. */
interface ServerEntry {
  server: Record<string, unknown>;
  left: string[];
}

/**
 * Normalizes one server of any agent's configuration. Undefined if it names neither a command nor an address.
 * Forms: `command` as a list (opencode) or an object (Zed), `transport` as an object (Continue), `httpUrl` (Gemini), `serverUrl` (Windsurf).
 */
export function normalizeServerEntry(raw: unknown, isWindows: boolean): ServerEntry | undefined {
  if (!isJsonRecord(raw)) return undefined;
  const inner = ['transport', 'command', 'config'].map((key) => raw[key]).find(isJsonRecord);
  const isPath = typeof inner?.path === 'string';
  const from: Record<string, unknown> = {
    ...raw,
    ...(inner && { command: undefined, ...inner }),
    ...(isPath && { command: inner.path }),
  };
  const left = Object.keys(from).filter((key) => !(used.has(key) || silent.has(key)) && from[key] !== undefined);
  const url = [from.url, from.httpUrl, from.serverUrl, from.endpoint].find((one) => typeof one === 'string');
  const started = typeof url === 'string' ? undefined : startOf(from, isWindows);
  const switches = {
    ...((from.disabled === true || from.enabled === false) && { disabled: true }),
    ...(typeof from.sandboxEnabled === 'boolean' && { sandboxEnabled: from.sandboxEnabled }),
    ...(isJsonRecord(from.sandbox) && { sandbox: from.sandbox }),
  };
  if (started) return { server: { type: 'stdio', ...started, ...switches }, left };
  if (typeof url !== 'string') return undefined;
  const headers = textValues(from.headers ?? from.http_headers);
  const isSse = [from.type, from.transport].includes('sse');
  return { server: { type: isSse ? 'sse' : 'http', url, ...(headers && { headers }), ...switches }, left };
}

const used = new Set(
  'type transport command args cwd workingDirectory env environment envFile url httpUrl serverUrl endpoint headers http_headers path config sandboxEnabled sandbox'.split(
    ' ',
  ),
);
// Without an effect on the start.
const silent = new Set('inputs disabled enabled name title description source gallery version label'.split(' '));

function startOf(from: Record<string, unknown>, isWindows: boolean): Record<string, unknown> | undefined {
  const [command, ...before] = commandWords(from.command, from.args, isWindows) ?? [];
  if (command === undefined) return undefined;
  const after =
    typeof from.args === 'string' ? (splitCommandLine(from.args, isWindows)?.words ?? [from.args]) : from.args;
  const args = [...before, ...(Array.isArray(after) ? after.map(String) : [])];
  const env = textValues(from.env ?? from.environment);
  const cwd = [from.cwd, from.workingDirectory].find((one) => typeof one === 'string');
  return {
    command,
    ...(args.length > 0 && { args }),
    ...(cwd !== undefined && { cwd }),
    ...(env && { env }),
    ...(typeof from.envFile === 'string' && { envFile: from.envFile }),
  };
}

function commandWords(command: unknown, args: unknown, isWindows: boolean): string[] | undefined {
  if (Array.isArray(command)) return command.length > 0 ? command.map(String) : undefined;
  if (typeof command !== 'string' || command.trim() === '') return undefined;
  const isLine = args === undefined && /^[^\s\\/"']+\s+\S/.test(command); // a path may contain blanks
  return isLine ? (splitCommandLine(command, isWindows)?.words ?? [command]) : [command];
}

/** `null` removes a variable. */
function textValues(values: unknown): Record<string, string | null> | undefined {
  if (!isJsonRecord(values) || Object.keys(values).length === 0) return undefined;
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value === null ? null : String(value)]));
}

export const isJsonRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
