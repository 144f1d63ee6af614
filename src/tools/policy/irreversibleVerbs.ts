import { posix } from 'node:path';
import { approximateArguments } from '../shellSyntax/commandLine.ts';

/** Tests for a command with a word, in any position, that removes, moves, publishes or pushes something. */
export const cannotBeUndone = (command: string): boolean =>
  approximateArguments(command).some((words) =>
    words.some((word) => verbs.has(posix.basename(word).replace(/^-+/, '').toLowerCase())),
  );
const verbs = new Set(
  (
    'rm rmdir unlink shred del delete remove uninstall drop dropdb destroy purge prune wipe truncate trash mv move rename push publish ' +
    'unpublish deploy release upload submit merge kill pkill killall reset flushall flushdb sync send mail dd mkfs sudo doas su ' +
    'clean clear checkout restore rebase filter-branch update-ref discard-changes force no-verify chmod chown eval d fdx'
  ).split(' '),
);
