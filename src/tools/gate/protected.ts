import { type Sentence, sentence } from '../../protocol/l10n.ts';
import { parseJson } from '../bounds.ts';
import { bracesOf } from './expand.ts';
import { isLeftover, leftoverGlob } from './leftovers.ts';
import { plain } from './plain.ts';

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
  if (names.some((segment) => agentFolders.has(segment)) || agentFiles.test(name))
    return sentence('It instructs or configures agents, this one included.');
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

/** Why reading this file is asked about: what is read goes to the model's provider. Undefined for ordinary files. */
export function secretReason(segments: readonly string[]): Sentence | undefined {
  const names = segments.map(plain);
  const name = (names.at(-1) ?? '').replace(/[.~-](bak|backup|old|orig|save)$|~$/, ''); // a copy is as good
  const secret =
    isLeftover(name) || // of whatever file
    (/^\.env([._-]|$)/.test(name) && !/\.(example|sample|template|dist|defaults?)$/.test(name)) ||
    /\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk|tfvars|tfvars\.json|tfstate|env)$/.test(name) ||
    /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/.test(name) ||
    /^secrets?\.(json|ya?ml|toml)$/.test(name) ||
    secretFiles.has(name) ||
    names.slice(0, -1).some((segment) => secretFolders.has(segment)) ||
    /^\.\w+_history$/.test(name) ||
    accounts.test(names.join('/')) ||
    (names.includes('.git') && (name === 'config' || name === 'config.worktree' || name === 'credentials'));
  return secret ? sentence('It may hold secrets, and what is read goes to the model.') : undefined;
}

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
  '.vscode .vscode-server .vscode-insiders .idea .zed .fleet .devcontainer .vs .nova .settings',
);
/** And what language servers, which an editor starts by itself, run or load. */
const editorFiles =
  /\.(code-workspace|code-profile|sublime-project)$|^\.?devcontainer\.json$|^\.(n?vimrc|exrc|nvim\.lua|dir-locals(-2)?\.el|clangd|luarc\.jsonc?|solargraph\.yml|ycm_extra_conf\.py)$/;
/** A person's own settings of an editor that is made of VS Code, whatever it is called, on every system; what Ruby's server loads. */
const editorSettings =
  /(^|\/)((\.config|application support|roaming)\/[^/]+|user-data)\/user(\/|$)|(^|\/)\.(cursor|windsurf)[\w-]*\/(data|extensions)(\/|$)|(^|\/)ruby_lsp\/(.*\/)?addon(\.rb)?$/;
const agentFolders = set(
  '.towpath .cursor .windsurf .claude .codex .gemini .continue .roo .clinerules .kilocode .aider .agents .opencode .kiro .junie .amazonq .qwen .trae .augment .crush .goose .factory .copilot',
);
const agentFiles =
  /^(agents?(\.override)?|claude(\.local)?|gemini|qwen|copilot-instructions|warp|crush)\.md$|\.(instructions|prompt|chatmode|agent)\.md$|^\.?(cursor|windsurf|cline|kilocode|augment|goose)rules$|^\.(roomodes|goosehints|rules)$|^\.?mcp\.json$|^\.?(opencode|crush)\.jsonc?$|^\.aider\.conf\.ya?ml$/;
const ciFolders = set(
  '.github .gitlab .circleci .buildkite .woodpecker .forgejo .gitea .ci .semaphore .teamcity .tekton .harness .azuredevops .azure-pipelines .builds .bitrise .screwdriver',
);
const ciFiles =
  /^jenkinsfile([.-].*)?$|gitlab-ci\.ya?ml$|^azure-pipelines[\w.-]*\.ya?ml$|^buildspec[\w.-]*\.ya?ml$|^cloudbuild[\w.-]*\.(ya?ml|json)$|^\.?(travis|drone|appveyor|woodpecker|cirrus|semaphore|codefresh|codemagic|bitrise|bitbucket-pipelines|wercker|shippable|circle|buddy|screwdriver|copr|packit)\.ya?ml$|^\.(drone|cirrus)\.(star|jsonnet)$|^\.build\.ya?ml$/;
const hookFolders = set('.husky .githooks .yarn .mvn .cargo .gradle .bundle .lefthook .direnv');
const hookFiles =
  /^\.(envrc|npmrc|yarnrc(\.ya?ml)?|gitattributes|gitmodules|gitconfig|bazelrc|pypirc|tool-versions|condarc|gemrc|pre-commit-(config|hooks)\.ya?ml|pnp\.(c|loader\.m)js|huskyrc(\.\w+)?)$|^\.?pnpmfile\.[cm]?js$|^pnpm-workspace\.ya?ml$|^(bunfig\.toml|binding\.gyp|pip\.(conf|ini)|nuget\.config|uv\.toml|(site|user)customize\.py)$|\.pth$|^\.?(lefthook(-local)?)\.(ya?ml|toml|json)$|^\.?mise(\.[\w-]+)?\.toml$/;
const profileFiles =
  /^\.(bash(rc|_profile|_login|_logout|_aliases)|profile|z(sh(rc|env)|profile|login|logout)|[kct]+shrc|cshrc|login|logout|inputrc|x(profile|initrc|session(rc)?)|pam_environment|gdbinit|lldbinit(-\w+)?|pdbrc(\.py)?|pythonrc(\.py)?|irbrc|pryrc|rprofile|renviron)$|^(config\.fish|(microsoft\.\w+_)?profile\.ps1)$/;
const startsBySystem =
  /(^|\/)(launchagents|launchdaemons|\.config\/(autostart|systemd|environment\.d)|etc\/(systemd|cron[\w.]*|init\.d|profile\.d|rc\.local)|spool\/cron|start menu\/programs\/startup)(\/|$)/;
const installed =
  /^(node_modules|\.?venv|virtualenv|site-packages|dist-packages|__pypackages__|\.tox|\.nox|pyvenv\.cfg)$/;
const secretFolders = set('.ssh .gnupg .aws .kube .docker .azure .password-store');
const secretFiles = set(
  '.envrc .npmrc .pypirc .netrc _netrc .pgpass .git-credentials .htpasswd .dockercfg .vault-token credentials.json service-account.json',
);

/** Below `.config`, what programs keep about somebody's accounts. */
const accountFolders = 'gh gcloud hub op rclone doctl glab configstore stripe heroku fly supabase'.split(' ');
const accounts = new RegExp(`(^|/)\\.config/(${accountFolders.join('|')})/`);

/** Hidden names of such places: what a glob may mean although nothing of that name is there yet. */
export const hiddenPlaces: readonly string[] = [
  ...[editorFolders, agentFolders, ciFolders, hookFolders, secretFolders, secretFiles].flatMap((names) => [...names]),
  ...'.env .git .devcontainer.json .mcp.json .gitattributes .gitconfig .gitlab-ci.yml .travis.yml .bashrc .zshrc .profile'.split(
    ' ',
  ),
].filter((name) => name.startsWith('.'));

/** The same places as globs without regard to case, for programs that go through folders by themselves. */
export const secretGlobs: readonly string[] = [
  '.env[._~-]*',
  '.git',
  leftoverGlob,
  ...[
    '.env',
    '*.{pem,key,p12,pfx,jks,keystore,kdbx,ppk,tfvars,tfvars.json,tfstate,env}',
    'id_{rsa,dsa,ecdsa,ed25519}',
    'id_{rsa,dsa,ecdsa,ed25519}_sk',
    '{secret,secrets}.{json,yaml,yml,toml}',
    ...secretFiles,
  ].flatMap((name) => [name, `${name}~`, `${name}[.~-]{bak,backup,old,orig,save}`]),
  '.*_history',
  `**/.config/{${accountFolders}}/**`,
  ...[...secretFolders].map((name) => `**/${name}/**`),
];

/** The same for `grep -r`, which knows no braces and no globs without regard to case. */
export const secretExcludes: readonly string[] = secretGlobs
  .map((glob) => glob.replace(/^\*\*\/|\/\*\*$/g, ''))
  .flatMap((glob) => bracesOf(glob) ?? [])
  .map((glob) =>
    glob.replace(/\[[^\]]*\]|[a-z]/g, (part) => (part.length > 1 ? part : `[${part}${part.toUpperCase()}]`)),
  )
  .flatMap((glob) => [`--exclude=${glob}`, `--exclude-dir=${glob}`]);

/** Letters of other scripts that are drawn like Latin ones; NFKD has folded full-width and mathematical forms already. */
const lookAlikes: Record<string, string> = Object.fromEntries(
  'аa сc ԁd еe ɡg һh іi ıi јj ӏl оo рp ԛq ѕs υu ѵv ѡw хx уy αa νv οo ρp ιi τt κk тt кk мm пn ոn սu օo ցg АA ВB СC ЕE НH ІI КK МM ОO РP ЅS ТT ХX ΑA ΒB ΕE ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΧX ․.'
    .split(' ')
    .map((pair) => [...pair] as [string, string]),
);
