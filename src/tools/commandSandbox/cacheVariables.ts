import * as paths from 'node:path';

/**
 * Variables by which tools find their caches, with the folder below the caches of a workspace. A cache is private to the sandboxed commands
 * of a workspace: programs outside run what they find in a shared one. `XDG_CACHE_HOME` serves every tool that follows the XDG rules.
 */
const cacheFolders: Readonly<Record<string, string>> = {
  XDG_CACHE_HOME: 'xdg',
  npm_config_cache: 'npm',
  PNPM_HOME: 'pnpm', // holds the store, and pnpm itself in the version that a project names
  YARN_CACHE_FOLDER: 'yarn',
  BUN_INSTALL_CACHE_DIR: 'bun',
  DENO_DIR: 'deno',
  COREPACK_HOME: 'corepack',
  PIP_CACHE_DIR: 'pip',
  UV_CACHE_DIR: 'uv',
  POETRY_CACHE_DIR: 'poetry',
  PRE_COMMIT_HOME: 'pre-commit',
  CARGO_HOME: 'cargo',
  GOCACHE: 'go-build',
  GOMODCACHE: 'go-mod',
  MAVEN_USER_HOME: 'maven-wrapper',
  GRADLE_USER_HOME: 'gradle',
  NUGET_PACKAGES: 'nuget',
  COMPOSER_CACHE_DIR: 'composer',
  BUNDLE_USER_CACHE: 'bundle',
  GEM_SPEC_CACHE: 'gem',
  CCACHE_DIR: 'ccache',
  SCCACHE_DIR: 'sccache',
};

/**
 * @param folder folder of the workspace's caches, absolute
 * @param own variables of the command otherwise, with those of the proxy: options are appended to them
 */
export function cacheVariables(folder: string, own: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const named = Object.entries(cacheFolders).map(([name, below]) => [name, paths.join(folder, below)]);
  const repository = `-Dmaven.repo.local=${paths.join(folder, 'maven')}`; // `MAVEN_ARGS` exists since Maven 3.9
  const goFolders = own.GOPATH || (own.HOME && paths.join(own.HOME, 'go'));
  return {
    ...Object.fromEntries(named),
    // Go writes only to the first one, also what it knows of the checksum database.
    GOPATH: [paths.join(folder, 'go'), goFolders].filter(Boolean).join(paths.delimiter),
    MAVEN_OPTS: [own.MAVEN_OPTS, repository].filter(Boolean).join(' '),
  };
}

/** Folders that must exist before a tool is told to use them. */
export const cacheFolderNames: readonly string[] = [...Object.values(cacheFolders), 'maven', 'go'];

/** Settings of the user in folders that `cacheVariables` replaces: path below the home folder, and below the caches. */
export const cacheSettings: readonly (readonly [source: string, link: string])[] = [
  ['.cargo/config.toml', 'cargo/config.toml'],
  ['.cargo/config', 'cargo/config'],
  ['.gradle/gradle.properties', 'gradle/gradle.properties'],
  ['.gradle/init.gradle', 'gradle/init.gradle'],
  ['.gradle/init.d', 'gradle/init.d'],
];
