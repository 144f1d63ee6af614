/** Names whose values are, or give, somebody's access; and those that change what a program runs. */
const dropped = [
  /KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|PRIVATE|COOKIE|AUTH|ASKPASS|SESSION|_PAT$|_PWD$|_DSN$/i,
  /^(VSCODE|ELECTRON|CHROME|npm|TOWPATH|BASH_FUNC|LD|DYLD)_/i,
  /^(NODE_OPTIONS|NODE_PATH|NODE_CHANNEL_FD|NODE_UNIQUE_ID|NODE_EXTRA_CA_CERTS|NODE_V8_COVERAGE)$/i,
  /^(BASH_ENV|ENV|PROMPT_COMMAND|PS4|SHELLOPTS|BASHOPTS|IFS|CDPATH|PYTHONSTARTUP|PERL5OPT|RUBYOPT)$/,
];
/** An address with a user and a password in it. */
const addressWithPassword = /:\/\/[^/\s:@]*:[^/\s@]+@/;

/** The variable by which every process of a command can be found again, wherever it went. */
export const markerName = 'TOWPATH_COMMAND';

/** The environment of a command: the editor's own without secrets, and quiet programs that do not wait for an answer. */
export function commandEnvironment(own: NodeJS.ProcessEnv, marker: string): NodeJS.ProcessEnv {
  const kept = Object.entries(own).filter(
    ([name, value]) => !dropped.some((pattern) => pattern.test(name)) && !addressWithPassword.test(value ?? ''),
  );
  return {
    ...Object.fromEntries(kept),
    TERM: 'dumb',
    NO_COLOR: '1',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    [markerName]: marker,
  };
}
