import { redactAllSecrets } from '../../shell/environment.ts';

/** Input of VS Code's format that replaces a value of a server. */
interface SecretInput {
  type: 'promptString';
  id: string;
  description: string;
  password: true;
}

/** A server whose secrets are inputs. `values`: the replaced values by id; a placeholder such as `<token>` or `YOUR_KEY` has none. */
export interface ServerWithInputs {
  server: Record<string, unknown>;
  inputs: SecretInput[];
  values: Map<string, string>;
}

/** Replaces the probable secrets of a server in VS Code's form by inputs, and the variables of other agents by those of VS Code. */
export function replaceServerSecrets(name: string, server: Record<string, unknown>): ServerWithInputs {
  const inputs: SecretInput[] = [];
  const values = new Map<string, string>();
  const toInput = (key: string, value: string): string => {
    const base = `${name}-${key}`
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '');
    let id = base;
    for (let count = 2; inputs.some((input) => input.id === id); count++) id = `${base}-${count}`;
    inputs.push({ type: 'promptString', id, description: `${key} of ${name}`, password: true });
    if (!isPlaceholder(value)) values.set(id, value);
    return `\${input:${id}}`;
  };
  const hide = (key: string, value: string): string => {
    const text = toVsCodeVariables(value);
    const [, scheme = '', rest = text] = /^((?:Bearer|Basic|Token) )(.*)$/is.exec(text) ?? [];
    if (looksSecret(key, text)) return scheme + toInput(key, rest);
    return hideParts(text, toInput);
  };
  const hideValues = (record: unknown) =>
    Object.fromEntries(
      Object.entries(record as Record<string, unknown>).map(([key, value]) => [
        key,
        typeof value === 'string' ? hide(key, value) : value,
      ]),
    );
  const args = Array.isArray(server.args) ? hideArguments(server.args.map(String), hide) : undefined;
  const replaced: Record<string, unknown> = {
    ...server,
    ...(typeof server.command === 'string' && { command: toVsCodeVariables(server.command) }),
    ...(args && { args }),
    ...(typeof server.url === 'string' && { url: hideParts(toVsCodeVariables(server.url), toInput) }),
    ...(server.env !== undefined && { env: hideValues(server.env) }),
    ...(server.headers !== undefined && { headers: hideValues(server.headers) }),
  };
  return { server: replaced, inputs, values };
}

type Hide = (key: string, value: string) => string;

/** Hides the values of `--api-key VALUE`, `--api-key=VALUE`, `-e API_KEY=VALUE` and `--header "Authorization: VALUE"`. */
function hideArguments(args: readonly string[], hide: Hide): string[] {
  return args.map((arg, at) => {
    const flag = /^--?([A-Za-z][\w-]*)$/.exec(args[at - 1] ?? '')?.[1];
    const [, start, key, value] = /^((?:--?)?([A-Za-z][\w-]*)(?:=|:\s*))(.+)$/s.exec(arg) ?? [];
    if (start !== undefined && !/^[\w-]+:\/\//.test(arg)) return start + hide(key!, value!);
    return hide(flag !== undefined && !arg.startsWith('-') && secretFlag.test(flag) ? flag : `argument ${at + 1}`, arg);
  });
}

/** Hides the password of an address, secrets of its query, and the placeholder of a reader (`<your token>`). */
function hideParts(text: string, toInput: (key: string, value: string) => string): string {
  return text
    .replace(/(:\/\/[^/\s:@]*:)([^/\s@]+)(?=@)/g, (whole, before: string, password: string) =>
      isVariable(password) ? whole : before + toInput('password', password),
    )
    .replace(/([?&]([\w-]+)=)([^&\s#]+)/g, (whole, before: string, key: string, value: string) =>
      looksSecret(key, value) ? before + toInput(key, value) : whole,
    )
    .replace(/<([A-Za-z][\w .:/-]*)>/g, (whole, hint: string) => toInput(hint, whole));
}

const secretFlag = /key|token|secret|passw|credential|bearer|(^|-)pat$/i;

const looksSecret = (key: string, value: string): boolean =>
  value !== '' &&
  !isVariable(value.replace(/^(?:Bearer|Basic|Token) /i, '')) &&
  (/key|token|secret|passw|auth|credential|cookie|pat$/i.test(key) ||
    /^(sk|ghp|gho|github_pat|glpat|xox[a-z])[-_]/.test(value) ||
    (redactAllSecrets(value) !== value && !/:\/\//.test(value)));

const isVariable = (value: string): boolean => /^\$\{(env|input):[^{}]+\}$/.test(value);

const isPlaceholder = (value: string): boolean =>
  /^(?:<.*>|\[.*\]|\{.*\}|\.{3,}|…|x{3,}|\*{3,}|.*\.\.\.)$|your[-_ ]|[-_ ]here$|^(?:changeme|replace[-_ ]?me|todo)$/i.test(
    value,
  );

/** Variables of other agents and shells (`${NAME}`, `${NAME:-default}`) in VS Code's form. */
const toVsCodeVariables = (value: string): string =>
  value.replace(/\$\{([A-Za-z_]\w*)(:-[^}]*)?\}/g, (whole, name: string) =>
    ownVariables.has(name) ? whole : `\${env:${name}}`,
  );
const ownVariables = new Set(['workspaceFolder', 'workspaceFolderBasename', 'userHome', 'pathSeparator']);
