import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { foldCase } from '../core/caseFold.ts';
import { isLeftoverTempFile, leftoverTempFileGlob } from '../core/tempFiles.ts';
import { expandBraces } from '../shellSyntax/expandWord.ts';

/**
 * Returns the reason to approve reading of this file, because the content is sent to the model's provider; undefined for ordinary files.
 */
export function secretFileReason(segments: readonly string[]): LocalizedMessage | undefined {
  const names = segments.map(foldCase);
  const name = (names.at(-1) ?? '').replace(backup, ''); // a backup is as secret as the file
  const path = names.join('/');
  const secret =
    isLeftoverTempFile(name) || // of any file
    (secretName.test(name) && !isTemplate.test(name) && !isPublicPart.test(name)) ||
    names.slice(0, -1).some((segment) => secretFolders.has(segment)) ||
    secretPaths.test(path) ||
    processMemory.test(path) ||
    (names.includes('.git') && (name === 'config' || name === 'config.worktree' || name === 'credentials'));
  return secret ? mayContainSecretsReason : undefined;
}

const isTemplate = /^\.env[._-].*\.?(example|sample|template|dist|defaults?)$/;
// Names of certificates and public keys; a private key among them is detected by content.
const isPublicPart =
  /(^|[._-])(public|pub|ca|cacerts?|certs?|certificates?|crt|chain|fullchain|bundle|roots?)\.(pem|key|asc|gpg|pgp)$/;

export const mayContainSecretsReason = message('It may contain secrets, and its contents are sent to the model.');

const backup = /[.~-](bak|backup|old|orig|save)$|~$/;

export const secretFolders: ReadonlySet<string> = new Set(
  '.ssh .gnupg .aws .kube .docker .azure .password-store'.split(' '),
);

// Extensions of data files: `secrets.yaml` may hold secrets, `secrets.ts` is code.
const data = 'json,jsonc,json5,yaml,yml,toml,ini,cfg,conf,cnf,config,properties,xml,plist,txt,csv,vars';

/**
 * Names of secret files as globs: the only list. Excludes a name without an extension if a code folder could have the same name
 * (`secrets`).
 */
export const secretFileNameGlobs: readonly string[] = [
  '.env',
  '.env[._-]*',
  '*.{pem,key,p8,p12,pfx,jks,jceks,keystore,kdbx,ppk,asc,pgp,gpg,keytab,ovpn,tfvars,tfvars.json,tfstate,env}',
  'id_{rsa,dsa,ecdsa,ed25519}',
  'id_{rsa,dsa,ecdsa,ed25519}_sk',
  `*{secret,credential,kubeconfig,adminsdk}*.{${data}}`,
  '{service-account,service_account,serviceaccount}*.json',
  'kubeconfig',
  '*[._-]{kubeconfig,credentials}',
  '*{deploy,master,private,signing}[_-]key',
  '.*[._-]{pass,password,passphrase}',
  `passwords.{${data}}`,
  ...'.envrc .npmrc .pypirc .netrc _netrc .pgpass .git-credentials .htpasswd .dockercfg .dockerconfigjson .vault-token'.split(
    ' ',
  ),
  ...'.my.cnf .mylogin.cnf .s3cfg .boto .databrickscfg .sentryclirc .dev.vars auth.json local.settings.json'.split(' '),
  '{key,keystore}.properties',
  '.*_history',
];

const pathGlobs: readonly string[] = [
  '.config/{gh,gcloud,hub,op,rclone,doctl,glab,configstore,stripe,heroku,fly,supabase}/**',
  '.m2/settings*.xml',
  '.*/credentials',
];

const escaped = (text: string) => text.replace(/[.+^$()|\\]/g, '\\$&');
// Compiles a glob: `*` stays within a name, `**` does not.
const sourceOf = (glob: string) =>
  (expandBraces(glob) ?? [])
    .map((one) => escaped(one).replace(/\*\*|\*/g, (stars) => (stars.length > 1 ? '.*' : '[^/]*')))
    .join('|');
const secretName = new RegExp(`^(${secretFileNameGlobs.map(sourceOf).join('|')})$`);
const secretPaths = new RegExp(`(^|/)(${pathGlobs.map(sourceOf).join('|')})$`);
/** Returns regular expressions, as `protectedPathForms`, for secret files: they match templates and public keys, too. */
export const secretPathForms = (): string[] => [
  `/(?:${secretFileNameGlobs.map(sourceOf).join('|')})(?:[.~-](?:bak|backup|old|orig|save)|~)?$`,
  `/(?:${pathGlobs.map(sourceOf).join('|')})$`,
  `/(?:${[...secretFolders].map(escaped).join('|')})/.*$`,
];

// Environment and memory of a process on Linux, which contain the keys of the process.
const processMemory = /(^|\/)proc\/([^/]+\/(task\/[^/]+\/)?(environ|mem|auxv)|kcore)$/;

/** The same files as case-insensitive globs, for programs that walk folders themselves. */
export const caseInsensitiveSecretGlobs: readonly string[] = [
  '.env~',
  '.git',
  leftoverTempFileGlob,
  ...secretFileNameGlobs.flatMap((name) => [name, `${name}~`, `${name}[.~-]{bak,backup,old,orig,save}`]),
  ...pathGlobs.map((glob) => `**/${glob}`),
  ...[...secretFolders].map((name) => `**/${name}/**`),
];

/** The same for `grep -r`, which supports only names, without braces and case folding. */
export const grepSecretExcludes: readonly string[] = caseInsensitiveSecretGlobs
  .map((glob) => glob.replace(/\/\*\*$/, '').replace(/^.*\//, ''))
  .flatMap((glob) => expandBraces(glob) ?? [])
  .map((glob) =>
    glob.replace(/\[[^\]]*\]|[a-z]/g, (part) => (part.length > 1 ? part : `[${part}${part.toUpperCase()}]`)),
  )
  .flatMap((glob) => [`--exclude=${glob}`, ...(glob.includes('[xX][mM][lL]') ? [] : [`--exclude-dir=${glob}`])]);
