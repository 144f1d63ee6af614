import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { message } from '../../protocol/text/l10n.ts';
import { StoreError } from '../../runs/journal.ts';
import { acquireShortLock, type RunLock } from '../../runs/lock.ts';
import { signInError } from '../../tools/mcp/oauth/signInErrors.ts';
import type { SignInStorage } from '../../tools/mcp/oauth/signInStore.ts';
import { DecisionFile } from '../settings/decisionFile.ts';

interface SecretValues {
  get(name: string): PromiseLike<string | undefined>;
  store(name: string, value: string): PromiseLike<void>;
  delete(name: string): PromiseLike<void>;
}

/** Milliseconds to wait for the lock of a window that works; a refresh takes at most as long as its requests. */
const maxWait = 120_000;
const retryAfter = 50;

/**
 * Creates the storage of sign-ins: values in the secret storage; in `folder`, for each sign-in, a lock over all windows and the number of the
 * last version. The files contain no secret, address or name.
 */
export function createSignInStorage(secrets: SecretValues, folder: string): SignInStorage {
  const file = (key: string, ending: string) => path.join(folder, `${key}.${ending}`);
  return {
    get: async (key) => secrets.get(secretName(key)),
    set: async (key, value) => secrets.store(secretName(key), value),
    delete: async (key) => secrets.delete(secretName(key)),
    storedVersion: (key) => Number(new DecisionFile(file(key, 'json')).get('version')) || 0,
    noteVersion: (key, version) => new DecisionFile(file(key, 'json')).update('version', version),
    async exclusive(key, work) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const lock = await acquire(file(key, 'lock'));
      try {
        return await work();
      } finally {
        await lock.release();
      }
    },
  };
}

/** The lock of a process that has ended is taken over at once; the holder otherwise shows by a heartbeat that it works. */
async function acquire(file: string): Promise<RunLock> {
  const deadline = Date.now() + maxWait;
  for (;;) {
    try {
      return await acquireShortLock(file);
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'STORE_LOCKED') throw error;
      if (Date.now() > deadline) throw signInError(message('another window does not finish its sign-in'));
      await pause(retryAfter);
    }
  }
}

const secretName = (key: string): string => `towpath.mcp.signIn:${key}`;
