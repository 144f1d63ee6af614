import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import stringify from 'safe-stable-stringify';
import * as z from 'zod';
import { message, toEnglishText } from '../../../protocol/text/l10n.ts';
import type { LocalizableText, Localizer } from '../../../protocol/text/localized.ts';
import { checkJsonLimits, maxJsonBytes } from '../../core/parseLimits.ts';
import { notRegularFileCode, readRegularFile } from '../../sandbox/regularFile.ts';
import { type ConfigVariableFolders, fillFolderVariables, findInputVariables } from './variables.ts';

export type McpConfigInput = z.infer<typeof inputSchema>;

/**
 * Configured server with the folder's variables filled in; `${env:…}` and `${input:…}` stay until the start. `source` is the displayed
 * location; `place` is the absolute path of the file, or `settings`, and binds the approval. `hash` identifies the definition in approvals;
 * `inputs` are the used inputs.
 */
export type McpServerDefinition = {
  name: string;
  source: string;
  place: string;
  hash: string;
  inputs: McpConfigInput[];
  /** Access that `sandbox` of the configuration requests in addition; not applied, so not part of `hash`. */
  sandboxRequests?: SandboxRequests;
} & (StdioServerConfig | RemoteServerConfig);

export interface StdioServerConfig {
  type: 'stdio';
  command: string;
  args: string[];
  cwd: string;
  /** `null` removes a variable. */
  env: Record<string, string | null>;
  /** Starts in the sandbox for commands. Absent otherwise, so that earlier approvals stay valid. */
  sandboxEnabled?: true;
}

/** Host names and paths that VS Code's `sandbox` would allow. */
interface SandboxRequests {
  hosts: string[];
  paths: string[];
}

export interface RemoteServerConfig {
  /** `http` falls back to `sse` if the server supports only SSE. */
  type: 'http' | 'sse';
  url: string;
  headers: Record<string, string>;
  /** Client that the user registered for the sign-in. */
  oauth?: { clientId: string; clientSecret?: string };
}

/**
 * Configuration of servers. `name` is the displayed location (`.vscode/mcp.json`); `place` is the absolute path, or `settings`; `content`
 * is JSON with comments, or the value of the setting; `folder` is the meaning of `${workspaceFolder}` and the start folder.
 */
export interface McpConfigSource {
  name: string;
  place: string;
  content: string | object;
  folder: ConfigVariableFolders;
}

/**
 * Parses a configuration: valid servers, and one sentence for each problem; an invalid server does not affect others. Definitions are
 * absent if the whole file is unreadable.
 */
export async function parseMcpConfig(
  source: McpConfigSource,
  localizer: Localizer = toEnglishText,
): Promise<{ definitions?: McpServerDefinition[]; switchedOff?: DisabledMcpServer[]; problems: string[] }> {
  const problems: string[] = [];
  const problem: Problem = (where, what) => {
    const location = [source.name, ...(where ? [localizer(where)] : [])].join(': ');
    if (problems.length < maxProblems) problems.push(`${location}: ${localizer(what)}`);
    else problems[maxProblems] = localizer(message('{0}: there is more. Fix this first.', source.name));
  };
  const value = typeof source.content === 'string' ? parseText(source.content, problem) : source.content;
  if (value === undefined) return { problems };
  const file = check(fileSchema, value, '', problem);
  if (!file) return { problems };

  const inputs = new Map<string, McpConfigInput>();
  const lists = [
    { at: 'inputs', list: file.inputs },
    { at: 'mcp.inputs', list: file.mcp.inputs },
  ];
  for (const { at, list } of lists)
    for (const [index, raw] of list.entries()) {
      const input = check(inputSchema, raw, `${at}[${index}]`, problem);
      if (input) inputs.set(input.id, input);
    }
  const definitions: McpServerDefinition[] = [];
  const switchedOff: DisabledMcpServer[] = [];
  const servers = serversOf(file, problem);
  if (servers.length > maxServers) problem('servers', message('only the first {0} are used.', maxServers));
  for (const { at, name, raw } of servers.slice(0, maxServers)) {
    try {
      if (isSwitchedOff(raw)) switchedOff.push({ name, source: source.name, place: source.place });
      else definitions.push(await define(name, raw, source, inputs, file.sandbox));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problem(`${at}.${name}${error.key}`, error.what);
    }
  }
  return { definitions, switchedOff, problems };
}

function serversOf(file: z.output<typeof fileSchema>, problem: Problem): { at: string; name: string; raw: unknown }[] {
  const forms = [
    ['servers', file.servers],
    ['mcpServers', file.mcpServers],
    ['mcp.servers', file.mcp.servers],
  ] as const;
  const definedIn = new Map<string, string>();
  return forms.flatMap(([at, servers]) =>
    Object.entries(servers).flatMap(([name, raw]) => {
      const first = definedIn.get(name);
      if (first === undefined) definedIn.set(name, at);
      else
        problem(`${at}.${name}`, message('{0} already has a server with this name, and that server is used.', first));
      return first === undefined ? [{ at, name, raw }] : [];
    }),
  );
}

// Tests the switch of a server; throws for unclear values, so that the server does not start.
function isSwitchedOff(raw: unknown): boolean {
  const { disabled = false, enabled = true } = Object(raw) as { disabled?: unknown; enabled?: unknown };
  if (typeof disabled !== 'boolean') throw new ConfigError('.disabled', 'expected true or false');
  if (typeof enabled !== 'boolean') throw new ConfigError('.enabled', 'expected true or false');
  return disabled || !enabled;
}

export interface DisabledMcpServer {
  name: string;
  source: string;
  place: string;
}

const maxServers = 100;
const maxProblems = 64;

type Problem = (where: LocalizableText, what: LocalizableText) => void;

class ConfigError extends Error {
  constructor(
    readonly key: string,
    readonly what: LocalizableText,
  ) {
    super(toEnglishText(what));
  }
}

const otherInput = 'Towpath supports promptString and pickString.';

const inputSchema = z.object({
  type: z.enum(['promptString', 'pickString'], otherInput),
  id: z.string().min(1),
  description: z.string().optional(),
  default: z.string().optional(),
  password: z.boolean().optional(),
  options: z.array(z.union([z.string(), z.object({ label: z.string(), value: z.string() })])).optional(),
});

const serversShape = {
  servers: z.record(z.string(), z.unknown()).default({}),
  inputs: z.array(z.unknown()).default([]),
};

const fileSchema = z.object({
  ...serversShape,
  mcpServers: serversShape.servers,
  mcp: z.object(serversShape).prefault({}),
  sandbox: z.unknown().optional(),
});

const transportSchema = z
  .string()
  .transform((type) => (type.toLowerCase().replace(/[-_ ]/g, '') === 'streamablehttp' ? 'http' : type))
  .pipe(z.enum(['http', 'sse']));

const localSchema = z.object({
  type: z.literal('stdio').default('stdio'),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  cwd: z.string().optional(),
  env: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).default({}),
  envFile: z.string().optional(),
  sandboxEnabled: z.boolean().default(false),
});

const texts = z.array(z.string()).catch([]);
// VS Code's `sandbox`, of the file or of one server.
const sandboxSchema = z.object({
  network: z
    .object({ allowedDomains: texts.default([]) })
    .catch({ allowedDomains: [] })
    .prefault({}),
  filesystem: z
    .object({ allowWrite: texts.default([]) })
    .catch({ allowWrite: [] })
    .prefault({}),
});

function sandboxRequests(...sandboxes: unknown[]): SandboxRequests | undefined {
  const all = sandboxes.flatMap((one) => {
    const parsed = sandboxSchema.safeParse(one);
    return parsed.success ? [parsed.data] : [];
  });
  const hosts = all.flatMap(({ network }) => network.allowedDomains);
  const paths = all.flatMap(({ filesystem }) => filesystem.allowWrite);
  return hosts.length + paths.length > 0 ? { hosts, paths } : undefined;
}

const remoteSchema = z.object({
  type: transportSchema.default('http'),
  url: z.string(),
  headers: z.record(z.string(), z.string()).default({}),
  oauth: z.object({ clientId: z.string().min(1), clientSecret: z.string().optional() }).optional(),
});

function parseText(text: string, problem: Problem): unknown {
  const trouble = checkJsonLimits(text);
  if (trouble) {
    problem('', trouble.message);
    return undefined;
  }
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const first = errors[0];
  if (!first) return value ?? {};
  const line = text.slice(0, first.offset).split('\n').length;
  problem(message('line {0}', line), message('this is not JSON ({0}).', printParseErrorCode(first.error)));
  return undefined;
}

function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  where: string,
  problem: Problem,
): z.output<Schema> | undefined {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { key, message } = problemOf(parsed.error, (schema as z.ZodType) === inputSchema);
  problem(`${where}${key}`.replace(/^\./, ''), message);
  return undefined;
}

function problemOf(error: z.ZodError, ofInput = false): { key: string; message: LocalizableText } {
  const issue = error.issues[0]!;
  const key = issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  const text = issue.message.replace(/^Invalid input: /, '');
  return { key, message: issue.code === 'invalid_value' && ofInput ? message(otherInput) : text };
}

async function define(
  name: string,
  raw: unknown,
  { name: source, place, folder }: McpConfigSource,
  inputs: ReadonlyMap<string, McpConfigInput>,
  sandbox: unknown,
): Promise<McpServerDefinition> {
  const isRemote = typeof raw === 'object' && raw !== null && 'url' in raw;
  const parsed = (isRemote ? remoteSchema : localSchema).safeParse(raw);
  if (!parsed.success) {
    const { key, message } = problemOf(parsed.error);
    throw new ConfigError(key, message);
  }
  const fill = (key: string, text: string) => {
    const { value, problem } = fillFolderVariables(text, folder);
    if (problem) throw new ConfigError(key, problem);
    return value;
  };
  const data = parsed.data;
  const connection = 'url' in data ? remote(data, fill) : await local(data, folder, fill);
  const used = findInputVariables(connection);
  const unknown = used.find((id) => !inputs.has(id));
  if (unknown !== undefined) throw new ConfigError('', message('there is no input "{0}" in inputs.', unknown));
  const hash = createHash('sha256').update(stringify(connection)).digest('hex');
  const isSandboxed = connection.type === 'stdio' && connection.sandboxEnabled;
  const requests = isSandboxed ? sandboxRequests(sandbox, (raw as { sandbox?: unknown }).sandbox) : undefined;
  return {
    name,
    source,
    place,
    hash,
    inputs: used.map((id) => inputs.get(id)!),
    ...(requests && { sandboxRequests: requests }),
    ...connection,
  };
}

type Fill = (key: string, text: string) => string;

function remote({ type, url, headers, oauth }: z.output<typeof remoteSchema>, fill: Fill): RemoteServerConfig {
  const filled = fill('.url', url);
  const { protocol } = URL.canParse(filled) ? new URL(filled) : { protocol: '' };
  const isOpen = /^\$\{(env|input):/.test(filled); // checked after the value is known
  if (!isOpen && protocol !== 'http:' && protocol !== 'https:')
    throw new ConfigError('.url', message('an address starts with https:// or http://.'));
  if (oauth?.clientSecret !== undefined && !/^\$\{input:[^{}]+\}$/.test(oauth.clientSecret))
    throw new ConfigError('.oauth.clientSecret', message('a secret is an input: {0}.', `\${input:id}`));
  return {
    type,
    url: filled,
    headers: mapValues(headers, (value, key) => fill(`.headers.${key}`, value)),
    ...(oauth && { oauth: mapValues(oauth, (value, key) => fill(`.oauth.${key}`, value)) as typeof oauth }),
  };
}

async function local(
  data: z.output<typeof localSchema>,
  folder: ConfigVariableFolders,
  fill: Fill,
): Promise<StdioServerConfig> {
  const env = mapValues(data.env, (value, key) => (value === null ? null : fill(`.env.${key}`, String(value))));
  const cwd = data.cwd === undefined ? folder.path : path.resolve(folder.path ?? '/', fill('.cwd', data.cwd));
  if (cwd === undefined) throw new ConfigError('.cwd', message('no folder is open; set where it starts.'));
  const command = fill('.command', data.command);
  if (await isCommandLine(command, cwd))
    throw new ConfigError(
      '.command',
      message('this is a whole command line. Put the words after the first into args.'),
    );
  return {
    type: 'stdio',
    command,
    args: data.args.map((arg, index) => fill(`.args[${index}]`, arg)),
    cwd,
    env: { ...(data.envFile && (await envFile(path.resolve(cwd, fill('.envFile', data.envFile))))), ...env },
    ...(data.sandboxEnabled && { sandboxEnabled: true }),
  };
}

/**
 * Tests if a command contains arguments: no program has the whole name, and the first word is a bare name or an existing program. A path
 * with blanks that does not exist stays a path.
 */
async function isCommandLine(command: string, cwd: string): Promise<boolean> {
  const [first, ...others] = command.trim().split(/\s+/);
  if (first === undefined || others.length === 0 || /\$\{(env|input):/.test(command)) return false;
  const onPath = (process.env.PATH ?? '').split(path.delimiter);
  const endings = process.platform === 'win32' ? ['', '.exe', '.cmd', '.bat', '.com'] : [''];
  const isProgram = async (name: string) => {
    const folders = /[\\/]/.test(name) ? [cwd] : [cwd, ...onPath];
    const candidates = folders.flatMap((folder) => endings.map((ending) => path.resolve(folder, name + ending)));
    return (await Promise.all(candidates.map(isFile))).includes(true);
  };
  return !(await isProgram(command)) && (!/[\\/]/.test(first) || (await isProgram(first)));
}

const isFile = (place: string): Promise<boolean> =>
  stat(place).then(
    (stats) => stats.isFile(),
    () => false,
  );

// Reads the file with the configuration, so that the approval covers the content.
async function envFile(file: string): Promise<Record<string, string>> {
  try {
    return { ...(parseEnv(await readPlainConfigFile(file)) as Record<string, string>) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === notRegularFileCode ? message('not a regular file') : (code ?? message('damaged'));
    throw new ConfigError('.envFile', message('it cannot be read ({0}).', why));
  }
}

/** Reads a plain file. The repository chooses the file before any approval, and a device or a pipe would never end. Throws. */
export async function readPlainConfigFile(file: string): Promise<string> {
  return (await readRegularFile(file, maxJsonBytes)).toString('utf8');
}

const mapValues = <Value, Result>(record: Record<string, Value>, map: (value: Value, key: string) => Result) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
