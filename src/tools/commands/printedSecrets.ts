import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { unescapeShellWord } from '../shellSyntax/expandWord.ts';
import { commandProgramName, type ShellCommandSegment } from '../shellSyntax/shellWords.ts';

/**
 * Returns the reason for an approval of a command that prints secrets: passwords, tokens or private keys of a program, or the environment
 * of another process. Undefined if nothing is known.
 */
export function printedSecretsReason(parts: readonly ShellCommandSegment[]): LocalizedMessage | undefined {
  return parts.some(({ words }) => printsKeys(words)) ? printed : undefined;
}

const printed = message('It can print passwords, tokens or keys, and its output is sent to the model.');

function printsKeys(words: ShellCommandSegment['words']): boolean {
  const plain = words.map(unescapeShellWord);
  const programs = words.map(commandProgramName);
  return programs.some((program, at) => {
    const rest = plain.slice(at + 1);
    const known = stores.get(program);
    if (known?.test(rest.join(' '))) return true;
    return at === 0 && !takesText.has(program) && namesSecrets([program, ...rest]);
  });
}

const takesText = new Set(
  'echo printf grep egrep fgrep rg ag ack sed awk cat head tail less more find fd ls tree wc diff test [ cd code npm pnpm yarn npx bun deno node python python3 ruby go cargo make pytest jest vitest tsc eslint touch mkdir cp mv rm'.split(
    ' ',
  ),
);

const verb = '(?:get|print|show|export|read|reveal|decrypt|dump|fill|lookup|find|fetch|view|access|create)';
const noun =
  '(?:tokens?|secrets?|passwords?|passphrases?|credentials?|creds|private-keys?|secret-keys?|secret-subkeys?|generic-password|internet-password|keychain)';
// One word with verb and noun (`print-access-token`); two adjacent words (`secret show`) count too.
const oneWord = new RegExp(
  `^-*(?:[a-z]+[-:])*${verb}[-:](?:[a-z]+[-:])*${noun}(?:[-:](?:value|string|keys?|subkeys?))?$`,
);
const twoWords = new RegExp(`^(?:${noun}[ :]${verb}|${verb} ${noun}(?:/.*)?|auth[ :]token)$`);

function namesSecrets(words: readonly string[]): boolean {
  const names = words.map((word) => (/^[a-z][a-z:-]*(\/[\w.-]+)?$|^--?[a-z][a-z-]*$/.test(word) ? word : ' '));
  return names.some(
    (name, at) =>
      at > 0 &&
      (oneWord.test(name) || twoWords.test(name) || (at <= 3 && twoWords.test(`${name} ${names[at + 1] ?? ''}`))),
  );
}

// Programs that store secrets, with the arguments that print a secret, where the generic words do not match.
const stores = new Map<string, RegExp>([
  ['ps', /(^| )(?!-)[A-Za-z]*e[A-Za-z]*( |$)|(^| )-?-?[A-Za-z]*E|environ/],
  ['git', /(^| )credential(-[\w-]+)? (fill|get)( |$)|(^| )credential-\w+/],
  ['gpg', /(^| )--export-secret/],
  ['gpg2', /(^| )--export-secret/],
  ['security', /(^| )(find-(generic|internet)-password|dump-keychain|export)( |$)/],
  ['pass', /^(?!(ls|list|find|search|help|version|git|init)( |$)).+/],
  ['gopass', /^(show|cat|[^ -]+\/|-o)/],
  ['op', /(^| )(read|item get|document get|inject|run)( |$)/],
  ['bw', /(^| )(get|export|list|unlock|login)( |$)/],
  ['lpass', /(^| )(show|export)( |$)/],
  ['keepassxc-cli', /(^| )(show|clip|export|attachment-export)( |$)/],
  ['vault', /(^| )(read|kv get|print token|unwrap|login)( |$)/],
  ['secret-tool', /(^| )(lookup|search)( |$)/],
  ['kwallet-query', /(^| )(-r|--read-password)/],
  ['gh', /(^| )auth token|(^| )auth status .*(-t|--show-token)( |$)/],
  ['glab', /(^| )auth status .*(-t|--show-token)( |$)/],
  [
    'aws',
    /(^| )(sts (get-session-token|assume-role\S*|get-federation-token)|ecr get-login-password|--with-decryption|configure (get|export-credentials))/,
  ],
  ['kubectl', /(^| )(config view .*--raw|(get|describe|edit) (\S+,)?secrets?([ /,]|$))/],
  ['heroku', /(^| )(config|auth:token)/],
  ['sops', /(^| )(-d|--decrypt|decrypt|exec-env|exec-file)( |$)/],
  ['ansible-vault', /(^| )(view|decrypt|edit)( |$)/],
  ['age', /(^| )(-d|--decrypt)( |$)/],
  ['nmcli', /(^| )(-s|--show-secrets)( |$)/],
  ['netsh', /key=clear/i],
  ['wg', /(^| )(showconf|show .*(private-key|preshared-keys))/],
  ['systemd-creds', /(^| )(cat|decrypt)( |$)/],
  ['chamber', /(^| )(read|export|env|exec)( |$)/],
  ['doppler', /(^| )(secrets|run)( |$)/],
]);
