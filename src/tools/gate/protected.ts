/**
 * Places inside the workspace that are more than files. Every function takes the segments of a path relative to its
 * root and ignores case: on many disks `.VSCODE` is `.vscode`.
 */

/** Why a change of this place is asked about every time, whatever has been allowed; undefined for ordinary places. */
export function protectedReason(segments: readonly string[]): string | undefined {
  const names = segments.map(plain);
  const name = names.at(-1) ?? '';
  if (names.some((segment) => editorFolders.has(segment)) || name.endsWith('.code-workspace'))
    return 'It can change settings of the editor or start programs.';
  if (names.some((segment) => agentFolders.has(segment)) || agentFiles.has(name))
    return 'It instructs or configures agents, this one included.';
  if (names.some((segment) => ciFolders.has(segment)) || ciFiles.has(name))
    return 'It runs in continuous integration, often with secrets.';
  if (names.some((segment) => hookFolders.has(segment)) || hookFiles.has(name))
    return 'It can run code when a package manager, Git or a build starts.';
  if (profileFiles.has(name)) return 'It runs when a shell starts.';
  return secretReason(segments);
}

/** Why reading this file is asked about: what is read goes to the model's provider. Undefined for ordinary files. */
export function secretReason(segments: readonly string[]): string | undefined {
  const names = segments.map(plain);
  const name = (names.at(-1) ?? '').replace(/[.~-](bak|backup|old|orig|save)$|~$/, ''); // a copy is as good
  const secret =
    (/^\.env([._-]|$)/.test(name) && !/\.(example|sample|template|dist|defaults?)$/.test(name)) ||
    /\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk|tfvars|tfvars\.json|tfstate|env)$/.test(name) ||
    /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/.test(name) ||
    /^secrets?\.(json|ya?ml|toml)$/.test(name) ||
    secretFiles.has(name) ||
    names.slice(0, -1).some((segment) => secretFolders.has(segment)) ||
    (names.includes('.git') && (name === 'config' || name === 'config.worktree' || name === 'credentials'));
  return secret ? 'It may hold secrets, and what is read goes to the model.' : undefined;
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
  return installScripts(before) !== installScripts(after);
}

function installScripts(text: string | null): string {
  try {
    const scripts = (JSON.parse(text ?? '{}') as { scripts?: Record<string, unknown> }).scripts ?? {};
    return JSON.stringify(scriptsOfInstall.map((name) => scripts[name] ?? null));
  } catch {
    return 'unreadable';
  }
}

/** Of npm, the last one of pnpm. */
const scriptsOfInstall =
  'preinstall install postinstall prepublish preprepare prepare postprepare dependencies pnpm:devPreinstall'.split(' ');

/** As disks compare names that make no difference of case: `ſ` and `S` are `s`, what is drawn as nothing is nothing. */
const plain = (segment: string) =>
  segment
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toUpperCase()
    .toLowerCase()
    .replace(/[. ]+$/, '');
const set = (names: string) => new Set(names.split(/\s+/));

const editorFolders = set('.vscode .vscode-server .idea .zed .fleet .devcontainer');
const agentFolders = set(
  '.towpath .cursor .windsurf .claude .codex .gemini .continue .roo .clinerules .kilocode .aider .agents .opencode',
);
const agentFiles = set(
  'agents.md agents.override.md claude.md claude.local.md gemini.md .cursorrules .windsurfrules .clinerules .roomodes .mcp.json mcp.json .aider.conf.yml',
);
const ciFolders = set('.github .gitlab .circleci .buildkite .woodpecker .forgejo .gitea .ci');
const ciFiles = set(
  '.gitlab-ci.yml azure-pipelines.yml jenkinsfile .travis.yml .drone.yml .appveyor.yml appveyor.yml bitbucket-pipelines.yml cloudbuild.yaml .woodpecker.yml .cirrus.yml',
);
const hookFolders = set('.husky .githooks .yarn .mvn .cargo .gradle .bundle');
const hookFiles = set(
  '.envrc .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs pnpmfile.js bunfig.toml binding.gyp .gitattributes .gitmodules .gitconfig .pre-commit-config.yaml lefthook.yml .lefthook.yml .bazelrc .pypirc pip.conf sitecustomize.py usercustomize.py .tool-versions mise.toml .mise.toml',
);
const profileFiles = set(
  '.bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login .inputrc .xprofile .xinitrc config.fish profile.ps1 microsoft.powershell_profile.ps1',
);
const secretFolders = set('.ssh .gnupg .aws .kube .docker .azure .password-store');
const secretFiles = set(
  '.envrc .npmrc .pypirc .netrc _netrc .pgpass .git-credentials .htpasswd .dockercfg .vault-token credentials.json service-account.json',
);

/** The same places as globs without regard to case, for programs that go through folders by themselves. */
export const secretGlobs: readonly string[] = [
  '.env[._~-]*',
  '.git',
  ...[
    '.env',
    '*.{pem,key,p12,pfx,jks,keystore,kdbx,ppk,tfvars,tfvars.json,tfstate,env}',
    'id_{rsa,dsa,ecdsa,ed25519}',
    'id_{rsa,dsa,ecdsa,ed25519}_sk',
    '{secret,secrets}.{json,yaml,yml,toml}',
    ...secretFiles,
  ].flatMap((name) => [name, `${name}~`, `${name}[.~-]{bak,backup,old,orig,save}`]),
  ...[...secretFolders].map((name) => `**/${name}/**`),
];

/** Letters of other scripts that are drawn like Latin ones; NFKD has folded full-width and mathematical forms already. */
const lookAlikes: Record<string, string> = Object.fromEntries(
  'аa сc ԁd еe ɡg һh іi ıi јj ӏl оo рp ԛq ѕs υu ѵv ѡw хx уy αa νv οo ρp ιi τt κk тt кk мm пn ոn սu օo ցg АA ВB СC ЕE НH ІI КK МM ОO РP ЅS ТT ХX ΑA ΒB ΕE ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΧX ․.'
    .split(' ')
    .map((pair) => [...pair] as [string, string]),
);
