import { type ParseError, parse } from 'jsonc-parser';
import { checkJsonLimits } from '../../core/parseLimits.ts';
import { type AddCommand, parseAddCommand } from './addCommand.ts';
import { splitCommandLine } from './commandLine.ts';
import { proposedServerName } from './proposedName.ts';
import { isJsonRecord, normalizeServerEntry } from './serverEntry.ts';

/**
 * Server that a user entered. `entry`: its configuration in any agent's form; `name`: its own, or a proposed one.
 * `inputs`: entries of VS Code's `inputs` beside it.
 */
export interface EnteredServer {
  name: string;
  entry: Record<string, unknown>;
  inputs: readonly unknown[];
}

/**
 * Reads a command line, an address, an install link or pasted JSON of any common form.
 * Returns an empty list if the text is none of them.
 */
export function parseServerInput(text: string, isWindows = process.platform === 'win32'): EnteredServer[] {
  const trimmed = withoutFence(text).trim();
  if (trimmed === '' || trimmed.length > maxLength) return [];
  const found = isJsonLike(trimmed) ? parseServerJson(trimmed, isWindows) : parseLine(trimmed, isWindows);
  return found.slice(0, maxServers);
}

const maxLength = 200_000;
const maxServers = 100;

/** Tests if a text has line comments that end only with the line, so that its line ends matter. */
export const hasLineComments = (text: string): boolean => isJsonLike(text.trim()) && /(^|[\s,{}[\]])\/\//.test(text);

// A block of Markdown, of which an input box makes one line.
const withoutFence = (text: string): string =>
  text.trim().replace(/^```(?:jsonc?|json5|sh|bash|shell|console)?\s([\s\S]*?)\s*```$/i, '$1');

const isJsonLike = (text: string): boolean => /^(?:[{[]|\/[/*]|"[^"\n]+"\s*:)/.test(text);

function parseLine(text: string, isWindows: boolean): EnteredServer[] {
  const linked = parseInstallLink(text, isWindows);
  if (linked) return linked;
  const address = addressOf(text);
  if (address !== undefined) return named(undefined, { url: address }, []);
  const line = splitCommandLine(text, isWindows);
  if (!line) return [];
  const { words, env, cwd } = line;
  const added = parseAddCommand(words);
  if (added === 'unclear') return [];
  if (added) return fromAddCommand(added, env, isWindows);
  const [command, ...args] = words;
  if (command === undefined || !isCommand(command)) return [];
  return named(
    undefined,
    {
      command,
      ...(args.length > 0 && { args }),
      ...(cwd !== undefined && { cwd }),
      ...(env.size > 0 && { env: Object.fromEntries(env) }),
    },
    [],
  );
}

function fromAddCommand(added: AddCommand, env: ReadonlyMap<string, string>, isWindows: boolean): EnteredServer[] {
  if ('json' in added) return parseServerJson(added.json, isWindows, added.name);
  const { name, ...entry } = added;
  const own = 'env' in entry ? entry.env : undefined;
  return named(name, { ...entry, ...(env.size > 0 && { env: { ...Object.fromEntries(env), ...own } }) }, []);
}

// A program, not a word of a sentence or the beginning of something that was cut.
const isCommand = (word: string): boolean =>
  /^[\w@.~/$%\\]/.test(word) && !/[,;:?!…]$/.test(word) && !/^[a-z][a-z+.-]+:\/\//i.test(word);

/** Address of one word; a host without a scheme is one if its path says so, or on this machine. */
function addressOf(text: string): string | undefined {
  const [, inner = text] = /^<?(\S+?)>?$/.exec(text) ?? [];
  if (/\s/.test(inner)) return undefined;
  if (/^https?:\/\//i.test(inner)) return URL.canParse(inner) && new URL(inner).hostname !== '' ? inner : undefined;
  if (/^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?:\/\S*)?$/i.test(inner)) return `http://${inner}`;
  if (/^(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?\/(?:\S*\/)?(?:mcp|sse)\/?$/i.test(inner)) return `https://${inner}`;
  return undefined;
}

/** Links of the editors: `vscode:mcp/install?{…}`, `https://…/redirect/mcp/install?name=…&config=…`, Cursor's with a base64 `config`. */
function parseInstallLink(text: string, isWindows: boolean): EnteredServer[] | undefined {
  if (/\s/.test(text) || !/mcp[/-]install|install-mcp/i.test(text)) return undefined;
  const [, scheme, query = ''] = /^([a-z][a-z0-9+.-]*):[^?]*\?(.*)$/is.exec(text) ?? [];
  if (scheme === undefined) return undefined;
  const redirect = new URLSearchParams(query).get('url');
  if (redirect !== null && /^[a-z-]+:mcp\/install/i.test(redirect)) return parseInstallLink(redirect, isWindows);
  if (query.startsWith('%7B') || query.startsWith('{')) return parseServerJson(decoded(query), isWindows);
  const values = new URLSearchParams(query);
  const config = values.get('config');
  if (config === null) return undefined;
  const json = config.trim().startsWith('{') ? config : Buffer.from(config, 'base64').toString('utf8');
  const inputs = values.get('inputs');
  return parseServerJson(
    inputs === null ? json : json.replace(/\}\s*$/, `,"inputs":${inputs}}`),
    isWindows,
    values.get('name') ?? undefined,
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

function parseServerJson(text: string, isWindows: boolean, name?: string): EnteredServer[] {
  const value = parsed(text) ?? parsed(`{${text}}`) ?? parsed(text.replace(/[,}\s]+$/, '}'));
  if (value === undefined) return [];
  const inputs = [...inputsOf(value), ...(isJsonRecord(value) && isJsonRecord(value.mcp) ? inputsOf(value.mcp) : [])];
  return serversIn(value, isWindows, name).flatMap((one) => named(one.name, one.entry, inputs));
}

function parsed(text: string): unknown {
  const json = text.trim().replace(/,$/, '');
  if (checkJsonLimits(json)) return undefined;
  const errors: ParseError[] = [];
  const value: unknown = parse(json, errors, { allowTrailingComma: true });
  return errors.length === 0 && typeof value === 'object' && value !== null ? value : undefined;
}

const inputsOf = (value: unknown): unknown[] =>
  isJsonRecord(value) && Array.isArray(value.inputs) ? value.inputs : [];

/** Keys of the lists of servers in the settings of agents. */
const lists = ['servers', 'mcpServers', 'mcp.servers', 'amp.mcpServers', 'context_servers', 'mcp_servers', 'mcp'];

interface NamedEntry {
  name: string | undefined;
  entry: Record<string, unknown>;
}

function serversIn(value: unknown, isWindows: boolean, name?: string, depth = 0): NamedEntry[] {
  if (depth > 2) return [];
  if (Array.isArray(value)) return value.flatMap((one) => serversIn(one, isWindows, undefined, depth + 1));
  if (!isJsonRecord(value)) return [];
  const list = lists.find((key) => typeof value[key] === 'object' && value[key] !== null);
  if (list !== undefined) return serversIn(value[list], isWindows, undefined, depth + 1);
  if (normalizeServerEntry(value, isWindows))
    return [{ name: name ?? (typeof value.name === 'string' ? value.name : undefined), entry: value }];
  return Object.entries(value).flatMap(([key, one]) =>
    key !== 'inputs' && normalizeServerEntry(one, isWindows)
      ? [{ name: key, entry: one as Record<string, unknown> }]
      : [],
  );
}

const named = (
  name: string | undefined,
  entry: Record<string, unknown>,
  inputs: readonly unknown[],
): EnteredServer[] => [{ name: name?.trim() || proposedServerName(entry), entry, inputs }];
