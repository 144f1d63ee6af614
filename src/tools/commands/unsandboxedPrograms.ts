import { posix } from 'node:path';
import { approximateArguments } from '../shellSyntax/commandLine.ts';

// They need what a sandbox withholds: a service of this machine, other rights, keys or accounts.
const programs = new Set(
  (
    'docker docker-compose podman podman-compose nerdctl buildah ctr minikube kind vagrant virsh ' +
    'ssh scp sftp ssh-add ssh-copy-id mosh sudo su doas pkexec runuser systemctl loginctl service mount umount ' +
    'gpg gpg2 gh glab gcloud aws az heroku kubectl helm bwrap unshare nsenter flatpak snap apt apt-get dnf yum pacman brew ' +
    'xdg-open open code cursor'
  ).split(' '),
);
const gitVerbs = new Set('push pull fetch clone ls-remote credential send-email svn p4'.split(' '));

/**
 * Returns the program or Git command in a command line that does not work in a sandbox; undefined if there is none. It is a guess that saves
 * a failure: a program that is not recognized fails inside.
 */
export function programForOutside(command: string): string | undefined {
  for (const words of approximateArguments(command)) {
    for (const [at, word] of words.entries()) {
      const name = posix.basename(word);
      if (/^\w+=/.test(word) || isLauncher(name) || word.startsWith('-')) continue;
      if (programs.has(name)) return name;
      if (name === 'git') {
        const verb = words.find((one, index) => index > at && !one.startsWith('-') && !takesValue(words[index - 1]!));
        const isRemote = verb !== undefined && gitVerbs.has(verb);
        const isUpdate = /^(?:submodule|remote)$/.test(verb ?? '') && words.includes('update');
        const isNew = verb === 'submodule' && words.includes('add');
        if (isRemote || isUpdate || isNew) return `git ${verb}`;
      }
      break;
    }
  }
  return undefined;
}

const takesValue = (option: string): boolean =>
  /^(?:-C|-c|--git-dir|--work-tree|--namespace|--exec-path)$/.test(option);

const isLauncher = (name: string): boolean => /^(?:env|time|nice|nohup|exec|command|timeout|\d+[smh]?)$/.test(name);
