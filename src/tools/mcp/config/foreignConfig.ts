import { applyEdits, modify, type ParseError, parse } from 'jsonc-parser';
import { checkJsonLimits } from '../../core/parseLimits.ts';

/**
 * Server from another agent's settings, in the format of VS Code. `inputs` replace stored keys and are requested at the start; `left` names
 * the settings that are not imported.
 */
export interface ImportableMcpServer {
  name: string;
  server: Record<string, unknown>;
  inputs: { type: 'promptString'; id: string; description: string; password: true }[];
  left: string[];
}

/**
 * Returns the servers in another agent's file (`mcpServers`): only start or address, without automatic permissions. Possible keys stay in
 * the old file. Nothing throws.
 */
export function parseImportableServers(text: string): ImportableMcpServer[] {
  const file = parsed(text);
  const servers = file?.mcpServers ?? file?.servers;
  if (!isObject(servers)) return [];
  return Object.entries(servers)
    .slice(0, 100)
    .flatMap(([name, raw]) => {
      if (!isObject(raw) || raw.disabled === true || name.trim() === '') return [];
      return typeof raw.command === 'string' || typeof raw.url === 'string' || typeof raw.httpUrl === 'string'
        ? [asServer(name, raw)]
        : [];
    });
}

const taken = new Set('type command args cwd env envFile url httpUrl headers'.split(' '));
const silent = new Set(['disabled', 'name', 'description']);

function asServer(name: string, raw: Record<string, unknown>): ImportableMcpServer {
  const inputs: ImportableMcpServer['inputs'] = [];
  const hiddenOne = (key: string, value: unknown): unknown => {
    const spelled = variables(value);
    if (typeof spelled !== 'string' || !looksSecret(key, spelled)) return spelled;
    const id = `${name}-${key}`.toLowerCase().replace(/[^a-z0-9]+/g, '-');
    inputs.push({ type: 'promptString', id, description: `${key} of ${name}`, password: true });
    return `\${input:${id}}`;
  };
  const hidden = (values: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, hiddenOne(key, value)]));
  const { command, args, cwd, envFile, httpUrl } = raw;
  const url = raw.url ?? httpUrl;
  const remote = typeof command !== 'string';
  const type = raw.type === 'sse' ? 'sse' : remote ? 'http' : 'stdio';
  const server = remote
    ? { type, url: variables(url), ...(isObject(raw.headers) && { headers: hidden(raw.headers) }) }
    : {
        type,
        command: variables(command),
        ...(Array.isArray(args) && { args: args.map((arg, at) => hiddenOne(`argument ${at + 1}`, arg)) }),
        ...(typeof cwd === 'string' && { cwd }),
        ...(isObject(raw.env) && { env: hidden(raw.env) }),
        ...(typeof envFile === 'string' && { envFile }),
      };
  const left = Object.keys(raw).filter((key) => !taken.has(key) && !silent.has(key));
  return { name, server, inputs, left };
}

const variables = (value: unknown): unknown =>
  typeof value === 'string'
    ? value.replace(/\$\{([A-Za-z_]\w*)(:-[^}]*)?\}/g, (whole, name: string) =>
        known.has(name) ? whole : `\${env:${name}}`,
      )
    : value;
const known = new Set(['workspaceFolder', 'workspaceFolderBasename', 'userHome', 'pathSeparator']);

const looksSecret = (key: string, value: string): boolean =>
  value !== '' &&
  !/^(Bearer )?\$\{(env|input):[^{}]+\}$/.test(value) &&
  (/key|token|secret|passw|auth|credential|cookie|pat$/i.test(key) ||
    /^(sk|ghp|gho|github_pat|glpat|xox[a-z])[-_]/.test(value));

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
    .filter(({ id }) => !existingInputs.some((one) => isObject(one) && one.id === id));
  if (inputs.length > 0) set(['inputs'], [...existingInputs, ...inputs]);
  return made;
}

export function serverNamesInConfig(text: string | undefined): Set<string> | undefined {
  const file = parsed(text?.trim() ? text : '{}');
  const forms = [file?.servers, file?.mcpServers, isObject(file?.mcp) ? file.mcp.servers : undefined];
  return file && new Set(forms.flatMap((servers) => (isObject(servers) ? Object.keys(servers) : [])));
}

function parsed(text: string): Record<string, unknown> | undefined {
  if (checkJsonLimits(text)) return undefined;
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  return errors.length === 0 && isObject(value) ? value : undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
