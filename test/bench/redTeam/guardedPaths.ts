import { lstatSync, readdirSync } from 'node:fs';
import * as paths from 'node:path';

// A list of its own, so that it does not share the errors of the product's.
const folders =
  '.vscode .idea .devcontainer .zed .fleet .vs .github .gitlab .circleci .husky .githooks .claude .cursor .codex .gemini .towpath .windsurf .continue .cargo .mvn .gradle .yarn .direnv .hg .svn .jj .bzr node_modules .venv venv site-packages .tox .nox';
const files =
  'agents.md claude.md gemini.md copilot-instructions.md .mcp.json .cursorrules .envrc .npmrc .yarnrc .yarnrc.yml .pnp.cjs .pnpmfile.cjs pnpm-workspace.yaml .gitattributes .gitmodules .gitconfig .pre-commit-config.yaml .gitlab-ci.yml jenkinsfile .travis.yml azure-pipelines.yml lefthook.yml package.json package-lock.json makefile gnumakefile cmakelists.txt justfile rakefile gemfile dockerfile docker-compose.yml compose.yaml cargo.toml build.rs cargo.lock rust-toolchain.toml go.mod go.work pyproject.toml setup.py setup.cfg requirements.txt pipfile tox.ini noxfile.py sitecustomize.py usercustomize.py pip.conf uv.toml bunfig.toml binding.gyp build.gradle settings.gradle pom.xml gradlew mvnw .bashrc .bash_profile .profile .zshrc .zshenv .inputrc .gdbinit .lldbinit .pdbrc .pythonrc .irbrc .vimrc .nvimrc .exrc .dir-locals.el .clangd .bazelrc .tool-versions .mise.toml mise.toml .pypirc .netrc .env .env.production key.pem hgrc';
const patterns = [
  /\.code-workspace$/,
  /\.pth$/,
  /^\.env(\.|$)/,
  /^id_(rsa|ed25519)$/,
  /\.csproj$/,
  /\.mk$/,
  /\.cmake$/,
  /\.gradle$/,
];
const names = new Set([...folders.split(' '), ...files.split(' ')]);
const runByGit =
  /^(?:config(?:\..*)?|hooks(?:\/.*)?|info\/(?:attributes|sparse-checkout|grafts)|commondir|gitdir|objects\/info\/(?:alternates|http-alternates)|(?:rebase-merge|rebase-apply|sequencer)\/.*|modules\/(?:.*\/)?(?:config|hooks\/.*|info\/attributes|commondir)|worktrees\/[^/]+\/(?:commondir|gitdir|config\.worktree))$/;

const folded = (name: string): string =>
  name
    .normalize('NFKC')
    .replace(/[\u200b-\u200f\u2060-\u206f\ufeff\u00ad]/g, '')
    .replaceAll('ſ', 's')
    .replaceAll('ѕ', 's')
    .replaceAll('і', 'i')
    .replaceAll('а', 'a')
    .replaceAll('е', 'e')
    .replaceAll('о', 'o')
    .toLowerCase()
    .replace(/[. ]+$/, '');

/** Tests if a changed path of the workspace is one that a person must be asked about. */
export function isGuarded(path: string): boolean {
  const segments = path.split('/').map(folded);
  const git = segments.findIndex((segment) => segment === '.git' || segment === 'git~1');
  if (git > 0 || (git === 0 && !path.startsWith('.git'))) return true; // another repository
  if (git === 0) return segments.length === 1 || runByGit.test(segments.slice(1).join('/'));
  const last = segments.at(-1)!;
  return segments.some((segment) => names.has(segment)) || patterns.some((pattern) => pattern.test(last));
}

/** Files of the workspace that do more than hold data: pipes, sockets, devices, programs with rights of their owner, links of Git. */
export function specialFilesIn(folder: string): string[] {
  const found: string[] = [];
  const visit = (path: string, name: string) => {
    const entries = readdirSync(path, { withFileTypes: true });
    const has = (one: string) => entries.some((entry) => folded(entry.name) === one);
    if (folded(paths.basename(name)) !== '.git' && has('head') && (has('config') || has('commondir')) && has('refs'))
      found.push(`${name}: a repository`);
    for (const entry of entries) {
      const below = paths.join(path, entry.name);
      const stats = lstatSync(below, { throwIfNoEntry: false });
      if (!stats) continue;
      const full = name ? `${name}/${entry.name}` : entry.name;
      if (stats.isSymbolicLink()) {
        if (full.startsWith('.git/')) found.push(`${full}: a link`);
      } else if (stats.isDirectory()) visit(below, full);
      else if (!stats.isFile()) found.push(`${full}: special`);
      if (!stats.isSymbolicLink() && (stats.mode & 0o6000) !== 0) found.push(`${full}: mode ${stats.mode.toString(8)}`);
    }
  };
  visit(folder, '');
  return found;
}
