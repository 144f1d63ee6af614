import { setTimeout as pause } from 'node:timers/promises';
import { parseSignInRecord, type SignInRecord } from './signInRecord.ts';

/**
 * Secret storage and the files beside it. Secrets of one window may reach the others with a delay; `storedVersion` and `noteVersion` access a
 * file that all windows see at once, and that contains no secret. `exclusive` runs one `work` for a key over all windows.
 */
export interface SignInStorage {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
  storedVersion(key: string): number;
  noteVersion(key: string, version: number): void;
  exclusive<Value>(key: string, work: () => Promise<Value>): Promise<Value>;
}

/** Milliseconds to wait for a secret of another window, and between two looks. */
const catchUpMs = 5000;
const lookMs = 25;

/**
 * Sign-ins by key. Without a working secret storage they live in memory until the window closes.
 *
 * @invariant tokens-in-secret-storage: Tokens of servers are in the secret storage or in memory, never in a file of Towpath.
 */
export class SignInStore {
  private readonly inMemory = new Map<string, SignInRecord>();

  constructor(private readonly storage: SignInStorage) {}

  async read(key: string): Promise<SignInRecord | undefined> {
    return this.inMemory.get(key) ?? parseSignInRecord(await this.storage.get(key).catch(() => undefined));
  }

  /** Reads the latest version, also if another window has just stored it. Called while the key is exclusive. */
  async readLatest(key: string): Promise<SignInRecord | undefined> {
    const own = this.inMemory.get(key);
    if (own) return own;
    const deadline = Date.now() + catchUpMs;
    let record = await this.read(key);
    while ((record?.version ?? 0) < this.storage.storedVersion(key) && Date.now() < deadline) {
      await pause(lookMs);
      record = await this.read(key);
    }
    return record;
  }

  /** Stores a record. Returns false if it is only in memory. */
  async write(key: string, record: Omit<SignInRecord, 'version'>): Promise<boolean> {
    const version = Math.max(this.storage.storedVersion(key), (await this.read(key))?.version ?? 0) + 1;
    const text = JSON.stringify({ ...record, version });
    try {
      await this.storage.set(key, text);
      if ((await this.storage.get(key)) !== text) throw new Error('The secret storage did not retain the value.');
    } catch {
      this.inMemory.set(key, { ...record, version });
      return false;
    }
    this.inMemory.delete(key);
    this.storage.noteVersion(key, version); // after the secret: a crash in between only hides that there is a newer one
    return true;
  }

  async forget(key: string): Promise<void> {
    this.inMemory.delete(key);
    await this.storage.delete(key);
    this.storage.noteVersion(key, 0);
  }

  /** Tests if a sign-in was stored that the secret storage no longer has, as without a keychain. */
  async isLost(key: string): Promise<boolean> {
    return this.storage.storedVersion(key) > 0 && (await this.read(key)) === undefined;
  }

  exclusive<Value>(key: string, work: () => Promise<Value>): Promise<Value> {
    return this.storage.exclusive(key, work);
  }
}
