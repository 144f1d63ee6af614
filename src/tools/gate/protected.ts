import { type Sentence, sentence } from '../../protocol/l10n.ts';
import { parseJson } from '../bounds.ts';
import { plain } from './plain.ts';
import { secretFolders, secretNames, secretReason } from './secrets.ts';

/**
 * Places inside the workspace that are more than files. Every function takes the segments of a path relative to its
 * root and ignores case: on many disks `.VSCODE` is `.vscode`.
 */

/** Why a change of this place is asked about every time, whatever has been allowed; undefined for ordinary places. */
export const protectedReason = (segments: readonly string[]): Sentence | undefined =>
  startingReason(segments) ?? installedReason(segments) ?? secretReason(segments);

/** Why what is written here starts something by itself, or loosens the gate; a command that only names it is asked about, too. */
export function startingReason(segments: readonly string[]): Sentence | undefined {
  const names = segments.map(plain);
  const name = names.at(-1) ?? '';
  const path = names.join('/');
  if (names.some((segment) => editorFolders.has(segment)) || editorFiles.test(name) || editorSettings.test(path))
    return sentence('It can change settings of the editor or start programs.');
  if (names.some((segment) => agentFolders.has(segment)) || agentFiles.test(name) || isOfAgent(names))
    return sentence('It instructs or configures agents, this one included.');
  if (names.some((segment) => versionStores.has(segment)) || versionFiles.test(name))
    return sentence('It belongs to a version control system, which can run programs that stand in it.');
  if (names.some((segment) => ciFolders.has(segment)) || ciFiles.test(name))
    return sentence('It runs in continuous integration, often with secrets.');
  if (names.some((segment) => hookFolders.has(segment)) || hookFiles.test(name))
    return sentence('It can run code when a package manager, Git or a build starts.');
  if (profileFiles.test(name) || startsBySystem.test(path))
    return sentence('It runs when a shell, a debugger or the system starts.');
  return undefined;
}

/** Why a change of an installed package is asked about every time: nobody starts it, and it runs. */
export const installedReason = (segments: readonly string[]): Sentence | undefined =>
  segments.some((segment) => installed.test(plain(segment))) ? whyInstalled : undefined;

export const whyInstalled = sentence(
  'It is installed code, which the editor, its extensions and other tools run by themselves.',
);

/** Git's own files: never written by the file tools. `git~1` is what `.git` is called on old Windows disks. */
export const isGitInternal = (segments: readonly string[]) =>
  segments.some((segment) => plain(segment) === '.git' || plain(segment) === 'git~1');

/** A name that is not `.vscode` but would be read as `.vscode` by a person. */
export function isTwin(segment: string): boolean {
  if (/^[\x20-\x7e]*$/.test(segment)) return false;
  const look = [...segment.normalize('NFKD').replace(/\p{M}/gu, '')].map((letter) => lookAlikes[letter] ?? letter);
  const seen = [look.join('')];
  return seen[0] !== segment && (isGitInternal(seen) || protectedReason(seen) !== undefined);
}

/** A change of `package.json` that adds or alters a script which runs by itself on install. */
export function changesInstallScripts(path: string, before: string | null, after: string | null): boolean {
  if (!/(^|\/)package\.json$/i.test(path)) return false;
  const [scripts, then] = [installScripts(before), installScripts(after)];
  return scripts === undefined || scripts !== then;
}

/** Undefined: it cannot be read, so nobody knows. */
function installScripts(text: string | null): string | undefined {
  try {
    const scripts = (parseJson(text ?? '{}') as { scripts?: Record<string, unknown> }).scripts ?? {};
    return JSON.stringify(scriptsOfInstall.map((name) => scripts[name] ?? null));
  } catch {
    return undefined;
  }
}

/** Of npm, the last one of pnpm. */
const scriptsOfInstall =
  'preinstall install postinstall prepublish preprepare prepare postprepare dependencies pnpm:devPreinstall'.split(' ');

const set = (names: string) => new Set(names.split(/\s+/));

const editorFolders = set(
  '.vscode .vscode-server .vscode-insiders .idea .zed .fleet .devcontainer .vs .nova .settings .sourcekit-lsp .codesandbox .theia .factorypath',
);
/** And what language servers, which an editor starts by itself, run or load. */
const editorFiles =
  /\.(code-workspace|code-profile|sublime-project)$|^\.?rust-analyzer\.toml$|^\.gitpod\.ya?ml$|^steepfile$|^\.?devcontainer\.json$|^\.(n?vimrc|exrc|nvim\.lua|dir-locals(-2)?\.el|clangd|luarc\.jsonc?|solargraph\.yml|ycm_extra_conf\.py)$/;
/** A person's own settings of an editor that is made of VS Code, whatever it is called, on every system; what Ruby's server loads. */
const editorSettings =
  /(^|\/)((\.config|application support|roaming)\/[^/]+|user-data)\/user(\/|$)|(^|\/)\.(cursor|windsurf)[\w-]*\/(data|extensions)(\/|$)|(^|\/)ruby_lsp\/(.*\/)?addon(\.rb)?$/;
const agentFolders = set(
  '.towpath .cursor .windsurf .claude .codex .gemini .continue .roo .clinerules .kilocode .aider .agents .opencode .kiro .junie .amazonq .qwen .trae .augment .crush .goose .factory .copilot',
);
const agentFiles =
  /^(agents?(\.override)?|claude(\.local)?|gemini|qwen|copilot-instructions|warp|crush)\.md$|\.(instructions|prompt|chatmode|agent)\.md$|^\.?(cursor|windsurf|cline|kilocode|augment|goose)rules$|^\.(roomodes|goosehints|rules)$|^\.?mcp\.json$|^\.?(opencode|crush)\.jsonc?$|^\.aider\.conf\.ya?ml$|^skill\.md$|^([\w-]+[-.])?(plugin|extension)\.json$|^marketplace\.json$/;
/**
 * A hidden folder whose tree has such a name is an agent's, whatever that is called: servers, hooks, settings and what else it runs or
 * is told by.
 */
const isOfAgent = (names: readonly string[]): boolean => {
  const at = names.findIndex((name) => /^\.\w/.test(name));
  return at >= 0 && names.slice(at + 1).some((name) => ofAgents.test(name));
};
const ofAgents =
  /^(mcp([._-][\w.-]+)?\.(jsonc?|toml|ya?ml)|hooks?([._-].*)?|settings([._-][\w.-]+)?\.(jsonc?|toml|ya?ml)|agents?|rules|skills|extensions|plugins|commands|prompts)$/;

/** Stores of version control systems beside Git, whose own the file tools do not write at all: their settings name hooks and extensions. */
const versionStores = set('.hg .svn .jj .bzr .pijul _darcs .fossil-settings .sl .repo cvsroot .p4root');
const versionFiles = /^(\.fslckout|_fossil_|\.hgrc|hgrc|\.bzrrc|\.p4(config|enviro)|\.hgsub(state)?)$/;

const ciFolders = set(
  '.github .gitlab .circleci .buildkite .woodpecker .forgejo .gitea .ci .semaphore .teamcity .tekton .harness .azuredevops .azure-pipelines .builds .bitrise .screwdriver',
);
const ciFiles =
  /^jenkinsfile([.-].*)?$|gitlab-ci\.ya?ml$|^azure-pipelines[\w.-]*\.ya?ml$|^buildspec[\w.-]*\.ya?ml$|^cloudbuild[\w.-]*\.(ya?ml|json)$|^\.?(travis|drone|appveyor|woodpecker|cirrus|semaphore|codefresh|codemagic|bitrise|bitbucket-pipelines|wercker|shippable|circle|buddy|screwdriver|copr|packit)\.ya?ml$|^\.(drone|cirrus)\.(star|jsonnet)$|^\.build\.ya?ml$/;
const hookFolders = set('.husky .githooks .yarn .mvn .cargo .gradle .bundle .lefthook .direnv .mise mise-tasks');
const hookFiles =
  /^\.(envrc|npmrc|yarnrc(\.ya?ml)?|gitattributes|gitmodules|gitconfig|bazelrc|pypirc|tool-versions|condarc|gemrc|pre-commit-(config|hooks)\.ya?ml|pnp\.(c|loader\.m)js|huskyrc(\.\w+)?)$|^\.?pnpmfile\.[cm]?js$|^pnpm-workspace\.ya?ml$|^(bunfig\.toml|binding\.gyp|pip\.(conf|ini)|nuget\.config|uv\.toml|(site|user)customize\.py)$|\.pth$|^\.?(lefthook(-local)?)\.(ya?ml|toml|json)$|^\.?mise(\.[\w-]+)?\.toml$/;
const profileFiles =
  /^\.(bash(rc|_profile|_login|_logout|_aliases)|profile|z(sh(rc|env)|profile|login|logout)|[kct]+shrc|cshrc|login|logout|inputrc|x(profile|initrc|session(rc)?)|pam_environment|gdbinit|lldbinit(-\w+)?|pdbrc(\.py)?|pythonrc(\.py)?|irbrc|pryrc|rprofile|renviron)$|^(config\.fish|(microsoft\.\w+_)?profile\.ps1)$/;
const startsBySystem =
  /(^|\/)(launchagents|launchdaemons|\.config\/(autostart|systemd|environment\.d)|etc\/(systemd|cron[\w.]*|init\.d|profile\.d|rc\.local)|spool\/cron|start menu\/programs\/startup)(\/|$)/;
const installed =
  /^(node_modules|\.?venv|virtualenv|site-packages|dist-packages|__pypackages__|\.tox|\.nox|\.terraform|\.poetry|\.pdm-plugins|pyvenv\.cfg)$/;
/** Hidden names of such places: what a glob may mean although nothing of that name is there yet. */
export const hiddenPlaces: readonly string[] = [
  ...[editorFolders, agentFolders, versionStores, ciFolders, hookFolders, secretFolders, secretNames].flatMap(
    (names) => [...names],
  ),
  ...'.env .git .devcontainer.json .mcp.json .gitattributes .gitconfig .gitlab-ci.yml .travis.yml .bashrc .zshrc .profile'.split(
    ' ',
  ),
].filter((name) => /^\.[^*?[{]+$/.test(name));

/** Letters of other scripts that are drawn like Latin ones; NFKD has folded full-width and mathematical forms already. */
const lookAlikes: Record<string, string> = Object.fromEntries(
  'аa сc ԁd еe ɡg һh іi ıi јj ӏl оo рp ԛq ѕs υu ѵv ѡw хx уy αa νv οo ρp ιi τt κk тt кk мm пn ոn սu օo ցg АA ВB СC ЕE НH ІI КK МM ОO РP ЅS ТT ХX ΑA ΒB ΕE ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΧX ․.'
    .split(' ')
    .map((pair) => [...pair] as [string, string]),
);
