import { cannotBeUndone } from '../policy/irreversibleVerbs.ts';
import { isContainerWork } from './outside/containerWork.ts';

const containerPrograms = new Set('docker docker-compose podman podman-compose nerdctl'.split(' '));
const forgePrograms = new Set(['gh', 'glab']);

/**
 * Returns the program or Git command by which one rule covers commands outside of the sandbox; undefined for a command that no such rule
 * covers: it could remove or publish what cannot be restored, or start another local program.
 * @param words words of one program, all known
 */
export function outsideProgramOf(words: readonly string[]): string | undefined {
  const [program = '', ...rest] = words;
  if (containerPrograms.has(program)) return isContainerWork(program, rest) ? program : undefined;
  if (forgePrograms.has(program)) return isForgeQuery(rest) ? program : undefined;
  if (program === 'ssh') {
    const host = sshHostOf(rest);
    return host === undefined ? undefined : `ssh ${host}`;
  }
  if (program === 'git') return isRemoteGitCommand(rest) ? `git ${rest[0]}` : undefined;
  return undefined;
}

const queries = /^(?:list|ls|view|status|checks|diff|watch|show)$/;

// Others send something, or choose the server that receives the token.
const apiOption = /^(?:-[iqt]|--(?:jq|template|paginate|slurp|include|silent|verbose|cache)(?:=.*)?)$/;
// An address, or a repository with its server.
const otherServer =
  /^(?:-\w*R|--repo=)?(?!https:\/\/(?:github|gitlab)\.com\/)(?:.*:\/\/.*|.*@.*|[^/]+\/[^/]+\/[^/]+)$|^--hostname/s;

function isForgeQuery([topic = '', ...rest]: readonly string[]): boolean {
  if (topic === 'api') {
    const isQuery = (word: string) => (word.startsWith('-') ? apiOption.test(word) : !/graphql$|:\/\//.test(word));
    return rest.every(isQuery);
  }
  if (rest.some((word) => otherServer.test(word))) return false;
  if (topic === 'status' || topic === 'search') return true;
  if (!/^(?:pr|mr|issue|run|ci|workflow|release|repo|label|cache|ruleset|project)$/.test(topic)) return false;
  const opensBrowser = rest.some((word) => word === '--web' || (topic !== 'run' && /^-\w*w/.test(word)));
  return queries.test(rest[0] ?? '') && !opensBrowser;
}

// Other options can name a program, a library or a file with settings.
const plainSshOption =
  /^-(?:[46CTvqnNtx]+|p ?\d+|l ?\w[\w.-]*|i ?[\w.~/][\w.~/-]*|o ?(?:BatchMode|ConnectTimeout|ServerAlive\w+|LogLevel)=\w+)$/;

/** Returns the host, by its name in the command; undefined if the command does more than run something there. */
function sshHostOf(words: readonly string[]): string | undefined {
  for (let at = 0; at < words.length; at++) {
    const host = words[at]!;
    if (!host.startsWith('-')) {
      const command = words.slice(at + 1);
      if (command[0]?.startsWith('-')) return undefined; // an option: they may follow the host
      return /^[\w.@-]{1,80}$/.test(host) && !cannotBeUndone(command.join(' ')) ? host : undefined;
    }
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
