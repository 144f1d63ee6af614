import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import { findHiddenPaths, type HiddenPathOptions } from '../../../src/tools/commandSandbox/hiddenPaths.ts';

const password = 'registry=https://ann:correct-horse@example.com/';

/** Creates files (a text), folders (a name with `/` at its end) and links (`→ target`) in a temporary folder. */
function createFiles(outer: string, files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = paths.join(outer, name);
    mkdirSync(name.endsWith('/') ? path : paths.dirname(path), { recursive: true });
    if (content.startsWith('→ ')) symlinkSync(paths.resolve(paths.dirname(path), content.slice(2)), path);
    else if (!name.endsWith('/')) writeFileSync(path, content);
  }
}

interface Change extends Omit<Partial<HiddenPathOptions>, 'folders'> {
  folders?: string[];
  isComplete?: boolean;
}

/** Expects the hidden paths: one `kind path` a line, relative to a temporary folder with `home/ann` and `ws`. */
async function check(files: Record<string, string>, expected: string, change: Change = {}): Promise<void> {
  const outer = realpathSync(mkdtempSync(paths.join(tmpdir(), 'towpath-hidden-')));
  try {
    createFiles(outer, { 'home/ann/': '', 'ws/': '', ...files });
    const inside = (path: string) => paths.join(outer, path);
    const found = await findHiddenPaths({
      ...change,
      home: inside('home/ann'),
      folders: (change.folders ?? ['ws']).map(inside),
      extra: change.extra?.map(inside),
    });
    assert.deepEqual(
      found.paths.map(({ path, kind }) => `${kind} ${paths.relative(outer, path)}`),
      expected.split('\n').flatMap((line) => line.trim() || []),
    );
    assert.equal(found.isComplete, change.isComplete ?? true);
  } finally {
    rmSync(outer, { recursive: true });
  }
}

describe('the paths that commands must not read', () => {
  before(function () {
    if (process.platform === 'win32') this.skip();
  });

  it('are the secret files and folders of a home', () =>
    check(
      {
        'home/ann/.ssh/id_rsa': '',
        'home/ann/.aws/config': '',
        'home/ann/.config/gh/hosts.yml': '',
        'home/ann/.config/Code - Insiders/User/state': '',
        'home/ann/.config/htop/htoprc': '',
        'home/ann/.cargo/credentials.toml': '',
        'home/ann/.cargo/bin/rg': '',
        'home/ann/.m2/settings.xml': '',
        'home/ann/.m2/repository/a.jar': '',
        'home/ann/.local/share/keyrings/login.keyring': '',
        'home/ann/.local/share/app/data': '',
        'home/ann/.mozilla/firefox/profile': '',
        'home/ann/.bash_history': '',
        'home/ann/.git-credentials': '',
        'home/ann/Downloads/server.pem': '',
        'home/ann/notes.txt': '',
      },
      `
      folder home/ann/.aws
      file home/ann/.bash_history
      file home/ann/.cargo/credentials.toml
      folder home/ann/.config/Code - Insiders
      folder home/ann/.config/gh
      file home/ann/.git-credentials
      folder home/ann/.local/share/keyrings
      file home/ann/.m2/settings.xml
      folder home/ann/.mozilla
      folder home/ann/.ssh
      file home/ann/Downloads/server.pem`,
    ));

  it('include settings only if they contain a secret', () =>
    check(
      {
        'home/ann/.npmrc': 'registry=https://registry.example.com/',
        'home/ann/.gitconfig': '[user]\nname = Ann',
        'home/ann/.bashrc': 'export API_TOKEN=correct-horse',
        'home/ann/.config/pip/pip.conf': password,
        'ws/.npmrc': password,
        'ws/a/.npmrc': 'save-exact=true',
        'ws/.git/config': password,
        'ws/.git/credentials': '',
        'ws/b/.git/config': '[core]',
      },
      `
      settings home/ann/.bashrc
      settings home/ann/.config/pip/pip.conf
      settings ws/.git/config
      file ws/.git/credentials
      settings ws/.npmrc`,
    ));

  it('include secret files at any depth of an open folder, except in packages', () =>
    check(
      {
        'ws/.env': '',
        'ws/.env.example': '',
        'ws/packages/api/deep/.env.local': '',
        'ws/packages/api/index.ts': '',
        'ws/node_modules/agent/test/key.pem': '',
      },
      `
      file ws/.env
      file ws/packages/api/deep/.env.local`,
    ));

  it('are the targets of links, but nothing around a home or an open folder', () =>
    check(
      {
        'vault/keys/id_rsa': '',
        'vault/env': '',
        'home/ann/.ssh': '→ ../../vault/keys',
        'home/ann/.aws': '→ /',
        'ws/.env': '→ ../vault/env',
        'ws/.gnupg': '→ ..',
        'ws/.kube': '→ missing',
      },
      `
      file vault/env
      folder vault/keys`,
    ));

  it('are found in an open folder of a hidden folder, and in a home that is open', async () => {
    await check(
      { 'home/ann/.config/Code/ws/.env': '', 'home/ann/.config/Code/ws/a': '', 'home/ann/.config/Code/state': '' },
      `
      folder home/ann/.config/Code
      file home/ann/.config/Code/ws/.env`,
      { folders: ['home/ann/.config/Code/ws'] },
    );
    await check({ 'home/ann/.ssh/id_rsa': '' }, 'folder home/ann/.ssh', { folders: ['home/ann'] });
    await check({ 'home/ann/.ssh/id_rsa': '' }, 'file home/ann/.ssh/id_rsa', { folders: ['home/ann/.ssh'] });
  });

  it('include more paths of the caller, if they exist', () =>
    check({ 'runs/1/journal': '' }, 'folder runs', { extra: ['runs', 'missing'] }));

  it('may be more than the limit of names', () =>
    check({ 'ws/a': '', 'ws/b': '', 'ws/c/.env': '' }, '', { maxNames: 3, isComplete: false }));

  it('may be in a folder that nobody can list', () => {
    const outer = mkdtempSync(paths.join(tmpdir(), 'towpath-hidden-'));
    createFiles(outer, { 'closed/.env': '' });
    chmodSync(paths.join(outer, 'closed'), 0);
    return findHiddenPaths({ home: paths.join(outer, 'missing'), folders: [outer] })
      .then(({ isComplete }) => assert.equal(isComplete, true))
      .finally(() => {
        chmodSync(paths.join(outer, 'closed'), 0o700);
        rmSync(outer, { recursive: true });
      });
  });
});
