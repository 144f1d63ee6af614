import { homedir } from 'node:os';
import path from 'node:path';
import { type LocalizedMessage, message } from '../../../protocol/text/l10n.ts';

/** Folders for the variables of a configuration. `path` is undefined without an open folder; `all` serves `${workspaceFolder:name}`. */
export interface ConfigVariableFolders {
  path: string | undefined;
  all: readonly { name: string; path: string }[];
}

const variable = /\$\{([^{}]*)\}/g;

/** Fills in the folder's variables; `${env:…}` and `${input:…}` stay. `problem` names an unknown variable. */
export function fillFolderVariables(
  text: string,
  folder: ConfigVariableFolders,
): { value: string; problem?: LocalizedMessage } {
  let problem: LocalizedMessage | undefined;
  const value = text.replace(variable, (whole, inside: string) => {
    if (/^(env|input):./.test(inside)) return whole;
    const known = meaning(inside, folder);
    if (known === undefined) problem ??= message('{0} has no meaning here.', whole);
    return known ?? whole;
  });
  return problem === undefined ? { value } : { value, problem };
}

function meaning(name: string, folder: ConfigVariableFolders): string | undefined {
  const [, named] = /^workspaceFolder:(.+)$/.exec(name) ?? [];
  if (named !== undefined) return folder.all.find((one) => one.name === named)?.path;
  const known: Record<string, string | undefined> = {
    workspaceFolder: folder.path,
    workspaceFolderBasename: folder.path && path.basename(folder.path),
    userHome: homedir(),
    pathSeparator: path.sep,
    '/': path.sep,
  };
  return Object.hasOwn(known, name) ? known[name] : undefined;
}

export function findInputVariables(value: unknown): string[] {
  const found = JSON.stringify(value).matchAll(/\$\{input:([^{}]+)\}/g);
  return [...new Set([...found].map(([, id]) => id!))];
}

/** Fills in the variables of all texts, and returns the inserted values for redaction. */
export function fillEnvAndInputVariables<Value>(
  value: Value,
  env: NodeJS.ProcessEnv,
  inputs: ReadonlyMap<string, string>,
): { value: Value; secrets: string[] } {
  const secrets: string[] = [];
  const fill = (one: unknown): unknown => {
    if (typeof one === 'string')
      return one.replace(/\$\{(env|input):([^{}]+)\}/g, (_, kind: string, name: string) => {
        const known = (kind === 'env' ? env[name] : inputs.get(name)) ?? '';
        secrets.push(known);
        return known;
      });
    if (Array.isArray(one)) return one.map(fill);
    if (typeof one === 'object' && one !== null)
      return Object.fromEntries(Object.entries(one).map(([key, item]) => [key, fill(item)]));
    return one;
  };
  return { value: fill(value) as Value, secrets };
}
