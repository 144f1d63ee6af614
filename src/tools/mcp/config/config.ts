import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import stringify from 'safe-stable-stringify';
import * as z from 'zod';
import { inEnglish, message } from '../../../protocol/text/l10n.ts';
import type { LocalizableText, Localizer } from '../../../protocol/text/localized.ts';
import { jsonTrouble, maxJsonBytes } from '../../core/parseLimits.ts';
import { notPlain, readPlain } from '../../sandbox/regularFile.ts';
import { settled, usedInputs, type VariableFolder } from './variables.ts';

/** A value that a configuration leaves to the person: `${input:id}`. */
export type Input = z.infer<typeof inputSchema>;

/** A server as it is configured: the folder's variables are filled in, `${env:…}` and `${input:…}` stay until it starts. */
export type Definition = {
  name: string;
  /** As people know the place it is configured in. */
  source: string;
  /** The file's absolute path, or `settings`: its approval holds there only. */
  place: string;
  /** What its approval is bound to. */
  hash: string;
  /** Those it uses. */
  inputs: Input[];
} & (Local | Remote);

export interface Local {
  type: 'stdio';
  command: string;
  args: string[];
  cwd: string;
  /** `null` takes a variable away. */
  env: Record<string, string | null>;
}

export interface Remote {
  /** `http` falls back to `sse` where a server knows only that. */
  type: 'http' | 'sse';
  url: string;
  headers: Record<string, string>;
}

/** One place where servers are configured. */
export interface ConfigSource {
  /** As people know it: `.vscode/mcp.json`. */
  name: string;
  /** The file's absolute path, or `settings`. */
  place: string;
  /** JSON with comments (a file), or the value of the setting. */
  content: string | object;
  /** What `${workspaceFolder}` means and where servers start. */
  folder: VariableFolder;
}

/**
 * Everything that can be used, and a sentence for each thing that cannot: a wrong server leaves the others alone.
 * No definitions at all: the file cannot be read as a whole.
 */
export async function readConfig(
  source: ConfigSource,
  tell: Localizer = inEnglish,
): Promise<{ definitions?: Definition[]; switchedOff?: SwitchedOff[]; problems: string[] }> {
  const problems: string[] = [];
  const problem: Problem = (where, what) => {
    const place = [source.name, ...(where ? [tell(where)] : [])].join(': ');
    if (problems.length < mostProblems) problems.push(`${place}: ${tell(what)}`);
    else problems[mostProblems] = tell(message('{0}: there is more. Fix this first.', source.name));
  };
  const value = typeof source.content === 'string' ? parseText(source.content, problem) : source.content;
  if (value === undefined) return { problems };
  const file = check(fileSchema, value, '', problem);
  if (!file) return { problems };

  const inputs = new Map<string, Input>();
  const lists = [
    { at: 'inputs', list: file.inputs },
    { at: 'mcp.inputs', list: file.mcp.inputs },
  ];
  for (const { at, list } of lists)
    for (const [index, raw] of list.entries()) {
      const input = check(inputSchema, raw, `${at}[${index}]`, problem);
      if (input) inputs.set(input.id, input);
    }
  const definitions: Definition[] = [];
  const switchedOff: SwitchedOff[] = [];
  const servers = serversOf(file, problem);
  if (servers.length > mostServers) problem('servers', message('only the first {0} are used.', mostServers));
  for (const { at, name, raw } of servers.slice(0, mostServers)) {
    try {
      if (isSwitchedOff(raw)) switchedOff.push({ name, source: source.name, place: source.place });
      else definitions.push(await define(name, raw, source, inputs));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problem(`${at}.${name}${error.key}`, error.what);
    }
  }
  return { definitions, switchedOff, problems };
}

/** Returns the servers of all forms of the file: VS Code's own, that of other editors, and that of VS Code's settings. */
function serversOf(file: z.output<typeof fileSchema>, problem: Problem): { at: string; name: string; raw: unknown }[] {
  const forms = [
    ['servers', file.servers],
    ['mcpServers', file.mcpServers],
    ['mcp.servers', file.mcp.servers],
  ] as const;
  const places = new Map<string, string>();
  return forms.flatMap(([at, servers]) =>
    Object.entries(servers).flatMap(([name, raw]) => {
      const first = places.get(name);
      if (first === undefined) places.set(name, at);
      else
        problem(`${at}.${name}`, message('{0} already has a server with this name, and that server is used.', first));
      return first === undefined ? [{ at, name, raw }] : [];
    }),
  );
}

/** Anything that is neither clearly on nor off is refused, so that it is not started. */
function isSwitchedOff(raw: unknown): boolean {
  const { disabled = false, enabled = true } = Object(raw) as { disabled?: unknown; enabled?: unknown };
  if (typeof disabled !== 'boolean') throw new ConfigError('.disabled', 'expected true or false');
  if (typeof enabled !== 'boolean') throw new ConfigError('.enabled', 'expected true or false');
  return disabled || !enabled;
}

/** A configured server that its configuration switches off: it is neither started nor asked about. */
export interface SwitchedOff {
  name: string;
  /** As `Definition` has them. */
  source: string;
  place: string;
}

/** Of one file: each may be asked about. */
const mostServers = 100;
const mostProblems = 64;

type Problem = (where: LocalizableText, what: LocalizableText) => void;

class ConfigError extends Error {
  constructor(
    readonly key: string,
    readonly what: LocalizableText,
  ) {
    super(inEnglish(what));
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
});

/** `streamable-http` and its other spellings are names of `http`. */
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
});

const remoteSchema = z.object({
  type: transportSchema.default('http'),
  url: z.string(),
  headers: z.record(z.string(), z.string()).default({}),
});

function parseText(text: string, problem: Problem): unknown {
  const trouble = jsonTrouble(text);
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
  const { key, message } = inWords(parsed.error, (schema as z.ZodType) === inputSchema);
  problem(`${where}${key}`.replace(/^\./, ''), message);
  return undefined;
}

function inWords(error: z.ZodError, ofInput = false): { key: string; message: LocalizableText } {
  const issue = error.issues[0]!;
  const key = issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  const text = issue.message.replace(/^Invalid input: /, '');
  return { key, message: issue.code === 'invalid_value' && ofInput ? message(otherInput) : text };
}

async function define(
  name: string,
  raw: unknown,
  { name: source, place, folder }: ConfigSource,
  inputs: ReadonlyMap<string, Input>,
): Promise<Definition> {
  const isRemote = typeof raw === 'object' && raw !== null && 'url' in raw;
  const parsed = (isRemote ? remoteSchema : localSchema).safeParse(raw);
  if (!parsed.success) {
    const { key, message } = inWords(parsed.error);
    throw new ConfigError(key, message);
  }
  const fill = (key: string, text: string) => {
    const { value, problem } = settled(text, folder);
    if (problem) throw new ConfigError(key, problem);
    return value;
  };
  const data = parsed.data;
  const connection = 'url' in data ? remote(data, fill) : await local(data, folder, fill);
  const used = usedInputs(connection);
  const unknown = used.find((id) => !inputs.has(id));
  if (unknown !== undefined) throw new ConfigError('', message('there is no input "{0}" in inputs.', unknown));
  const hash = createHash('sha256').update(stringify(connection)).digest('hex');
  return { name, source, place, hash, inputs: used.map((id) => inputs.get(id)!), ...connection };
}

type Fill = (key: string, text: string) => string;

function remote({ type, url, headers }: z.output<typeof remoteSchema>, fill: Fill): Remote {
  const filled = fill('.url', url);
  const { protocol } = URL.canParse(filled) ? new URL(filled) : { protocol: '' };
  const isOpen = /^\$\{(env|input):/.test(filled); // checked once it is known
  if (!isOpen && protocol !== 'http:' && protocol !== 'https:')
    throw new ConfigError('.url', message('an address starts with https:// or http://.'));
  return { type, url: filled, headers: mapValues(headers, (value, key) => fill(`.headers.${key}`, value)) };
}

async function local(data: z.output<typeof localSchema>, folder: VariableFolder, fill: Fill): Promise<Local> {
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
  };
}

/**
 * Tells whether a command holds several words: no program has all of them as its name, and the first is a name alone or a program itself. A path
 * with blanks that leads nowhere stays a path.
 */
async function isCommandLine(command: string, cwd: string): Promise<boolean> {
  const [first, ...others] = command.trim().split(/\s+/);
  if (first === undefined || others.length === 0 || /\$\{(env|input):/.test(command)) return false;
  const onPath = (process.env.PATH ?? '').split(path.delimiter);
  const endings = process.platform === 'win32' ? ['', '.exe', '.cmd', '.bat', '.com'] : [''];
  const isProgram = async (name: string) => {
    const folders = /[\\/]/.test(name) ? [cwd] : [cwd, ...onPath];
    const places = folders.flatMap((folder) => endings.map((ending) => path.resolve(folder, name + ending)));
    return (await Promise.all(places.map(isFile))).includes(true);
  };
  return !(await isProgram(command)) && (!/[\\/]/.test(first) || (await isProgram(first)));
}

const isFile = (place: string): Promise<boolean> =>
  stat(place).then(
    (stats) => stats.isFile(),
    () => false,
  );

/** Read with the configuration, so that the approval covers what it says. */
async function envFile(file: string): Promise<Record<string, string>> {
  try {
    return { ...(parseEnv(await readPlainFile(file)) as Record<string, string>) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === notPlain ? message('not a regular file') : (code ?? message('damaged'));
    throw new ConfigError('.envFile', message('it cannot be read ({0}).', why));
  }
}

/** A repository decides what is read before anybody is asked: a device or a pipe would never end. Throws. */
export async function readPlainFile(file: string): Promise<string> {
  return (await readPlain(file, maxJsonBytes)).toString('utf8');
}

const mapValues = <Value, Result>(record: Record<string, Value>, map: (value: Value, key: string) => Result) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
