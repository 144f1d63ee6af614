import { applyEdits, modify, type ParseError, parse } from 'jsonc-parser';
import { checkJsonLimits } from '../../core/parseLimits.ts';
import { isJsonRecord, normalizeServerEntry } from './serverEntry.ts';
import { replaceServerSecrets, type ServerWithInputs } from './serverSecrets.ts';
import { findInputVariables } from './variables.ts';

/**
 * Server from another agent's settings, in the format of VS Code. `inputs` replace stored keys and are requested at the start; `left` names
 * the settings that are not imported.
 */
export interface ImportableMcpServer extends Omit<ServerWithInputs, 'inputs'> {
  name: string;
  inputs: ({ id: string } & Record<string, unknown>)[];
  left: string[];
}

/**
 * Returns the servers in another agent's file (`mcpServers`): only start or address, without automatic permissions. Possible keys stay in
 * the old file. Nothing throws.
 */
export function parseImportableServers(text: string): ImportableMcpServer[] {
  const file = parsed(text);
  const servers = file?.mcpServers ?? file?.servers;
  if (!isJsonRecord(servers)) return [];
  return Object.entries(servers)
    .slice(0, 100)
    .flatMap(([name, raw]) => {
      if (!isJsonRecord(raw) || raw.disabled === true || name.trim() === '') return [];
      return toImportableServer(name, raw) ?? [];
    });
}

/**
 * Converts one server of any agent's configuration; undefined if it names neither a command nor an address.
 * @param known inputs beside the server, in VS Code's form; a used input without one is requested as a text
 */
export function toImportableServer(
  name: string,
  raw: unknown,
  known: readonly unknown[] = [],
  isWindows = process.platform === 'win32',
): ImportableMcpServer | undefined {
  const entry = normalizeServerEntry(raw, isWindows);
  if (!entry) return undefined;
  const { server, inputs, values } = replaceServerSecrets(name, entry.server);
  const own = new Set(inputs.map(({ id }) => id));
  const used = findInputVariables(server).filter((id) => !own.has(id));
  const others = used.map((id) => {
    const input = known.find((one) => isJsonRecord(one) && one.id === id) as Record<string, unknown> | undefined;
    return { type: 'promptString', description: id, ...input, id };
  });
  return { name, left: entry.left, server, inputs: [...others, ...inputs.map((input) => ({ ...input }))], values };
}

/** Adds servers to VS Code's file; comments and other content stay. Undefined if the file is unreadable. */
export function addServersToConfig(
  text: string | undefined,
  servers: readonly ImportableMcpServer[],
): string | undefined {
  let made = text?.trim() ? text : '{}\n';
  const before = parsed(made);
  if (!before) return undefined;
  const formattingOptions = { insertSpaces: !/^\t/m.test(made), tabSize: /^ {4}\S/m.test(made) ? 4 : 2, eol: '\n' };
  const set = (path: (string | number)[], value: unknown) => {
    made = applyEdits(made, modify(made, path, value, { formattingOptions }));
  };
  for (const { name, server } of servers) set(['servers', name], server);
  const existingInputs = Array.isArray(before.inputs) ? before.inputs : [];
  const inputs = servers
    .flatMap((one) => one.inputs)
    .filter(({ id }) => !existingInputs.some((one) => isJsonRecord(one) && one.id === id));
  for (const [index, input] of inputs.entries()) set(['inputs', existingInputs.length + index], input);
  return made;
}

/** Removes a server and its inputs that no other server uses; comments and other content stay. Undefined if the file is unreadable. */
export function removeServerFromConfig(text: string, name: string): string | undefined {
  const before = parsed(text);
  if (!before) return undefined;
  const { mcp } = before;
  const forms = [
    { path: ['servers'], servers: before.servers },
    { path: ['mcpServers'], servers: before.mcpServers },
    { path: ['mcp', 'servers'], servers: isJsonRecord(mcp) ? mcp.servers : undefined },
  ];
  let made = text;
  const remove = (path: (string | number)[]) => {
    made = applyEdits(made, modify(made, path, undefined, { formattingOptions: {} }));
  };
  const form = forms.find(({ servers }) => isJsonRecord(servers) && Object.hasOwn(servers, name));
  if (!form) return text;
  remove([...form.path, name]);
  const removed = (form.servers as Record<string, unknown>)[name];
  const remaining = JSON.stringify(parsed(made));
  const isIdle = (input: unknown) =>
    isJsonRecord(input) &&
    JSON.stringify(removed).includes(`\${input:${String(input.id)}}`) &&
    !remaining.includes(`\${input:${String(input.id)}}`);
  if (Array.isArray(before.inputs))
    for (const [index, input] of [...before.inputs.entries()].reverse()) if (isIdle(input)) remove(['inputs', index]);
  return made;
}

export function serverNamesInConfig(text: string | undefined): Set<string> | undefined {
  const file = parsed(text?.trim() ? text : '{}');
  const forms = [file?.servers, file?.mcpServers, isJsonRecord(file?.mcp) ? file.mcp.servers : undefined];
  return file && new Set(forms.flatMap((servers) => (isJsonRecord(servers) ? Object.keys(servers) : [])));
}

function parsed(text: string): Record<string, unknown> | undefined {
  if (checkJsonLimits(text)) return undefined;
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  return errors.length === 0 && isJsonRecord(value) ? value : undefined;
}
