import { realpath } from 'node:fs/promises';
import * as paths from 'node:path';
import { readRegularFile } from '../sandbox/regularFile.ts';
import { siteOfTarget } from './networkSite.ts';
import { publicRegistries } from './publicRegistries.ts';

interface RegistryOptions {
  /** Environment of the editor. */
  environment: NodeJS.ProcessEnv;
  /** Home folder of the user. */
  home: string;
  /** Open folders (absolute, real): a settings file in one of them is not the user's own. */
  folders: readonly string[];
}

/** Returns the sites of the public package registries, and of those that the user's own settings name. */
export async function findPackageRegistries(options: RegistryOptions): Promise<string[]> {
  const known = publicRegistries.flatMap(({ hosts }) => hosts.map((host) => `https://${host}`));
  const own = [...registriesInEnvironment(options.environment), ...(await registriesInSettings(options))];
  return [...new Set([...known, ...own])].slice(0, maxRegistries);
}

/** Limit of the sites in one rule. */
const maxRegistries = 200;

const variableName =
  /^(?:npm_config_(?:@[\w.-]+:)?registry|yarn_npm_registry_server|yarn_registry|corepack_npm_registry|bun_config_registry|pip_index_url|pip_extra_index_url|uv_(?:default_index|index|index_url|extra_index_url)|goproxy|cargo_registries_\w+_index|bundle_mirror__\w+|rubygems_host|hex_mirror(?:_url)?|hex_builds_url)$/i;

const registriesInEnvironment = (environment: NodeJS.ProcessEnv): string[] =>
  Object.entries(environment).flatMap(([name, value]) =>
    variableName.test(name) && value ? value.split(/[\s,|]+/).flatMap(siteOf) : [],
  );

/** Settings files below the home folder, with the lines that name a registry. */
const settings: readonly (readonly [path: string, line: RegExp])[] = [
  ['.npmrc', /^\s*(?:@[\w.-]+:)?registry\s*=(.*)$/gm],
  ['.yarnrc.yml', /^\s*npmRegistryServer\s*:(.*)$/gm],
  ['.yarnrc', /^\s*"?registry"?\s(.*)$/gm],
  ...['.config/pip/pip.conf', '.pip/pip.conf', 'Library/Application Support/pip/pip.conf'].map(
    (path) => [path, /^\s*(?:extra-)?index-url\s*=((?:.*)(?:\n[ \t]+\S.*)*)$/gm] as const,
  ),
  ['.config/uv/uv.toml', /^\s*(?:url|index-url|default-index)\s*=(.*)$/gm],
  ...['.cargo/config.toml', '.cargo/config'].map((path) => [path, /^\s*(?:index|registry)\s*=(.*)$/gm] as const),
];

const maxSettingsBytes = 100_000;

async function registriesInSettings({ home, folders }: RegistryOptions): Promise<string[]> {
  const found = settings.map(async ([name, line]) => {
    const real = await realpath(paths.join(home, name)).catch(() => undefined);
    if (real === undefined || folders.some((folder) => real.startsWith(`${folder}${paths.sep}`))) return [];
    const text = await readRegularFile(real, maxSettingsBytes).then(String, () => '');
    return [...text.matchAll(line)].flatMap(([, value]) => value!.split(/[\s,]+/).flatMap(siteOf));
  });
  return (await Promise.all(found)).flat();
}

/** Returns the site of an address such as `"sparse+https://user@host:8443/index/"`; empty for other values. */
function siteOf(value: string): string[] {
  const address = /^["']?(?:[\w-]+=)?(?:sparse\+|git\+)?(https?:\/\/[^"']+)["']?$/i.exec(value.trim())?.[1];
  if (address === undefined || !URL.canParse(address)) return [];
  const { protocol, hostname, port } = new URL(address);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return host === '' ? [] : [siteOfTarget({ host, port: Number(port) || (protocol === 'http:' ? 80 : 443) })];
}
