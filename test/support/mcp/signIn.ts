import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSignInStorage } from '../../../src/extension/mcp/signInStorage.ts';
import type { SignInRequest, SignInUser } from '../../../src/tools/mcp/oauth/authorize.ts';
import { loopbackRedirect } from '../../../src/tools/mcp/oauth/loopbackRedirect.ts';
import { PendingRedirects } from '../../../src/tools/mcp/oauth/pendingRedirects.ts';
import { ServerSignIn, type SignInDependencies } from '../../../src/tools/mcp/oauth/serverSignIn.ts';
import { SignInStore } from '../../../src/tools/mcp/oauth/signInStore.ts';

/** Secrets in a file, as of an editor whose windows share them. */
export function secretsIn(folder: string) {
  const file = path.join(folder, 'secrets.json');
  const read = (): Record<string, string> => {
    try {
      return JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      return {};
    }
  };
  const write = (all: Record<string, string>) => {
    mkdirSync(folder, { recursive: true });
    const temporary = `${file}.${randomUUID()}`;
    writeFileSync(temporary, JSON.stringify(all));
    renameSync(temporary, file);
  };
  return {
    all: read,
    get: async (name: string) => read()[name],
    store: async (name: string, value: string) => write({ ...read(), [name]: value }),
    delete: async (name: string) => {
      const { [name]: _, ...others } = read();
      write(others);
    },
  };
}

/** A user who confirms and whose browser goes where it is sent, until it reaches this machine's answer. */
export class SignInPerson implements SignInUser {
  readonly confirmed: SignInRequest[] = [];
  readonly addresses: string[] = [];
  /** Status of the last page that the browser showed. */
  pages: number[] = [];
  by: 'browser' | 'link' | undefined = 'browser';
  /** What the browser does with an address. */
  browse = async (address: string): Promise<void> => {
    let next: string | undefined = address;
    while (next !== undefined) {
      const response: Response = await fetch(next, { redirect: 'manual' });
      this.pages.push(response.status);
      await response.body?.cancel();
      next = response.headers.get('location') ?? undefined;
    }
  };
  readonly cancel = new AbortController();

  async confirm(request: SignInRequest) {
    this.confirmed.push(request);
    return this.by;
  }

  async wait<Value>(
    _server: string,
    address: string,
    _by: 'browser' | 'link',
    work: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value> {
    this.addresses.push(address);
    const waiting = work(this.cancel.signal);
    waiting.catch(() => {});
    await this.browse(address);
    return waiting;
  }
}

/** One window: its storage, and its user. Windows of one folder share their secrets. */
export class SignInWindow {
  readonly user = new SignInPerson();
  readonly redirects = new PendingRedirects();
  readonly notStored: string[] = [];
  readonly secrets: ReturnType<typeof secretsIn>;
  readonly dependencies: SignInDependencies;

  constructor(
    readonly folder = mkdtempSync(path.join(tmpdir(), 'sign-in-')),
    secrets = secretsIn(folder),
  ) {
    this.secrets = secrets;
    const ways = [loopbackRedirect({ page: String })];
    this.dependencies = {
      store: new SignInStore(createSignInStorage(secrets, path.join(folder, 'sign-ins'))),
      user: this.user,
      ways: () => ways,
      redirects: this.redirects,
      clientMetadata: () => '',
      notStored: (server) => this.notStored.push(server),
    };
  }

  signInOf(url: string, more: { clientId?: string; clientSecret?: string } = {}): ServerSignIn {
    return new ServerSignIn({ name: 'tracker', url, ...more }, this.dependencies);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
