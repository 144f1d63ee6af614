import { cannotBeUndone } from '../policy/irreversibleVerbs.ts';

const containerPrograms = new Set('docker docker-compose podman podman-compose nerdctl'.split(' '));
const forgePrograms = new Set(['gh', 'glab']);

/**
 * Returns the program or Git command by which one rule covers commands outside of the sandbox; undefined for a command that no such rule
 * covers: it could remove or publish what cannot be restored, or start another local program.
 * @param words words of one program, all known
 */
export function outsideProgramOf(words: readonly string[]): string | undefined {
  const [program = '', ...rest] = words;
  if (containerPrograms.has(program)) return isContainerWork(rest) ? program : undefined;
  if (forgePrograms.has(program)) return isForgeQuery(rest) ? program : undefined;
  if (program === 'ssh') {
    const host = sshHostOf(rest);
    return host === undefined ? undefined : `ssh ${host}`;
  }
  if (program === 'git') return isRemoteGitCommand(rest) ? `git ${rest[0]}` : undefined;
  return undefined;
}

// In databases, `\d` describes a table. `-d` starts a container in the background, and `--rm` removes what the command has created.
const harmlessContainerWords = /(?<![^\s'"])(?:-d|--rm|\\+d[\w+]*)(?![^\s'"])/g;

// Rights and folders of this machine.
const openContainer =
  /^--(?:privileged|pid|ipc|uts|userns|cap-add|device|security-opt)\b|(?:^|=|-\w*v)(?:\/|~|\.\.)[^:]*:|\b(?:src|source)=/;

function isContainerWork(words: readonly string[]): boolean {
  const removesVolumes = words.includes('down') && words.some((word) => /^(?:-v|--volumes|--rmi.*)$/.test(word));
  if (words.some((word) => openContainer.test(word))) return false;
  const isAccount = words.some((word) => /^(?:login|logout|plugin|swarm|context)$/.test(word));
  return !removesVolumes && !isAccount && !cannotBeUndone(words.join(' ').replaceAll(harmlessContainerWords, ''));
}

const queries = /^(?:list|ls|view|status|checks|diff|watch|show)$/;

const changesForge = /^(?:-[XfF]|--(?:method|field|raw-field|input)|graphql$)|:\/\//;

function isForgeQuery([topic = '', ...rest]: readonly string[]): boolean {
  if (topic === 'api') return !rest.some((word) => changesForge.test(word));
  if (topic === 'status' || topic === 'search') return true;
  if (!/^(?:pr|mr|issue|run|ci|workflow|release|repo|label|cache|ruleset|project)$/.test(topic)) return false;
  const opensBrowser = rest.some((word) => word === '--web' || (topic !== 'run' && /^-\w*w/.test(word)));
  return queries.test(rest[0] ?? '') && !opensBrowser;
}

// Other options can name a program, a library or a file with settings.
const plainSshOption =
  /^-(?:[46ACKTvqnNtx]+|[pli][^ ]*|[pli] [^ ]+|o ?(?:BatchMode|ConnectTimeout|ServerAlive\w+|LogLevel)=\w+)$/;

/** Returns the host, by its name in the command; undefined if the command does more than run something there. */
function sshHostOf(words: readonly string[]): string | undefined {
  for (let at = 0; at < words.length; at++) {
    const host = words[at]!;
    if (!host.startsWith('-'))
      return /^[\w.@-]{1,80}$/.test(host) && !cannotBeUndone(words.slice(at + 1).join(' ')) ? host : undefined;
    const takesNext = /^-[plio]$/.test(host);
    if (!plainSshOption.test(takesNext ? `${host} ${words[++at] ?? ''}` : host)) return undefined;
  }
  return undefined;
}

const remoteGitOptions: Readonly<Record<string, RegExp>> = {
  push: /^(?:-[uvqn]+|--(?:set-upstream|tags|follow-tags|dry-run|verbose|quiet|progress|porcelain|atomic|all))$/,
  fetch: /^(?:-[vqnatp]+|--(?:all|tags|no-tags|prune|verbose|quiet|progress|dry-run|depth=\d+|unshallow))$/,
  pull: /^(?:-[vqr]+|--(?:rebase|no-rebase|ff-only|ff|tags|verbose|quiet|progress|autostash))$/,
  'ls-remote': /^(?:-[qht]+|--(?:heads|branches|tags|refs|symref|quiet|exit-code))$/,
};
// A name of a remote: an address or a path could be any other repository, and name a program.
const remoteName = /^[A-Za-z][\w-]*$/;
const branchName = /^[\w@][\w./@-]*(?::[\w@][\w./@-]*)?$/;

function isRemoteGitCommand([verb = '', ...rest]: readonly string[]): boolean {
  const options = Object.hasOwn(remoteGitOptions, verb) ? remoteGitOptions[verb]! : undefined;
  const [remote, ...branches] = rest.filter((word) => !word.startsWith('-'));
  return (
    options !== undefined &&
    rest.every((word) => !word.startsWith('-') || options.test(word)) &&
    (remote === undefined || remoteName.test(remote)) &&
    branches.every((branch) => branchName.test(branch))
  );
}
