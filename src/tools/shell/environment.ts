import { secretTokenPatterns } from '../core/tokenForms.ts';

const secretName =
  /KEY|TOKEN|SECRET|PASSW|PASSPHRASE|(^|_)PASS(_|$)|CREDENTIAL|PRIVATE|COOKIE|AUTH|ASKPASS|SESSION|BEARER|JWT|WEBHOOK|CONN(ECTION)?_?STR|(^|_)PAT$|_PWD$|_DSN$/i;
export const isSecretVariableName = (name: string): boolean => secretName.test(name);

// Credentials under any name: URLs with a password, keys of well-known forms, also truncated.
const secretValue = new RegExp(
  [
    String.raw`://(?:[^/\s:@]*:[^/\s@]+|[^/\s:@]{16,})@`,
    '-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*',
    String.raw`\b(?:AccountKey|SharedAccessKey|Password|Pwd)=[^;\s]+`,
    String.raw`\b(?:sk-[\w-]{16}|gh[opsur]_\w{20}|github_pat_\w{20}|glpat-[\w-]{16}|xox[abeoprs]-[\w-]{16}|A[KS]IA[A-Z0-9]{16})[\w-]*`,
    String.raw`\b(?:AIza[\w-]{30}|hf_[A-Za-z0-9]{30}|npm_[A-Za-z0-9]{30}|pypi-[\w-]{30}|eyJ[\w-]{10,}\.eyJ[\w.-]+)[\w-]*`,
    String.raw`\b(?:${secretTokenPatterns.join('|')})`,
  ].join('|'),
  'g',
);
export const redactAllSecrets = (value: string): string => value.replace(secretValue, '•••');

/** Redacts secrets for texts that need a decision: only single words are hidden, so that nothing with another meaning disappears. */
export const redactSingleTokenSecrets = (value: string): string =>
  value.replace(secretValue, (found) => (isSecretLikeToken(found.replace(/^:\/\//, '')) ? '•••' : found));

/** Tests for the form of a secret: one word without path or shell characters. */
export const isSecretLikeToken = (value: string): boolean => !/[\s/\\()[\]{}<>`$;|&"']/.test(value);

// Also drops variables that change the executed program.
const dropped = [
  secretName,
  /^(VSCODE|ELECTRON|CHROME|npm|TOWPATH|BASH_FUNC|LD|DYLD)_/i,
  /^(NODE_OPTIONS|NODE_PATH|NODE_CHANNEL_FD|NODE_UNIQUE_ID|NODE_EXTRA_CA_CERTS|NODE_V8_COVERAGE)$/i,
  /^(BASH_ENV|ENV|PROMPT_COMMAND|PS4|SHELLOPTS|BASHOPTS|IFS|CDPATH|PWD|OLDPWD|GLOBIGNORE|BASH_COMPAT|PYTHONSTARTUP|PERL5OPT|RUBYOPT)$/,
];
/** Environment variable that identifies all processes of a command. */
export const commandMarkerVariable = 'TOWPATH_COMMAND';

/**
 * Returns the environment of a command: the editor's without secrets, with settings for non-interactive programs.
 * @param git Git settings in addition to the user's environment
 */
export function commandEnvironment(
  own: NodeJS.ProcessEnv,
  marker: string,
  git: readonly GitSetting[] = [],
): NodeJS.ProcessEnv {
  const variables = Object.entries(own).filter(
    ([name, value]) =>
      !/^GIT_CONFIG_(COUNT|KEY_|VALUE_)/.test(name) &&
      !dropped.some((pattern) => pattern.test(name)) &&
      redactAllSecrets(value ?? '') === value,
  );
  return {
    ...Object.fromEntries(variables),
    TERM: 'dumb',
    NO_COLOR: '1',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    // No editor is available: a prepared message is accepted, and a command without one fails.
    ...Object.fromEntries(['GIT_EDITOR', 'GIT_SEQUENCE_EDITOR', 'EDITOR', 'VISUAL'].map((name) => [name, 'true'])),
    ...gitConfig([...gitSettingsOf(own), ...git]),
    [commandMarkerVariable]: marker,
  };
}

type GitSetting = [key: string, value: string];

function gitSettingsOf(own: NodeJS.ProcessEnv): GitSetting[] {
  const count = Math.min(Number(own.GIT_CONFIG_COUNT) || 0, 100);
  const all = Array.from({ length: count }, (_, at) => [own[`GIT_CONFIG_KEY_${at}`], own[`GIT_CONFIG_VALUE_${at}`]]);
  return all.filter((pair): pair is GitSetting => {
    const [key, value] = pair;
    if (!key || value === undefined) return false;
    return !/extraheader|token|passw|secret|credential|cookie/i.test(key) && redactAllSecrets(value) === value;
  });
}

function gitConfig(settings: readonly GitSetting[]): Record<string, string> {
  if (settings.length === 0) return {};
  const named = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(named) };
}
