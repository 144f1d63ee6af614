import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import * as paths from 'node:path';
import { secret } from './probe.ts';

/** Secrets in the home folder. */
export const homeFiles: Readonly<Record<string, string>> = {
  '.ssh/id_ed25519': secret,
  '.ssh/config': secret,
  '.aws/credentials': secret,
  '.config/gh/hosts.yml': secret,
  '.config/gcloud/credentials.db': secret,
  '.config/google-chrome/Default/Login Data': secret,
  '.config/Code/User/globalStorage/state.vscdb': secret,
  '.local/share/keyrings/login.keyring': secret,
  '.mozilla/firefox/a.default/key4.db': secret,
  '.gnupg/private-keys-v1.d/a.key': secret,
  '.kube/config': secret,
  '.docker/config.json': `{"auths":{"r":{"auth":"${secret}"}}}`,
  '.netrc': secret,
  '.git-credentials': secret,
  '.gitconfig': `[user]\n\tname = Probe\n\temail = probe@example.com\n[http]\n\textraheader = "Authorization: ${secret}"\n`,
  '.npmrc': `//registry.npmjs.org/:_authToken=${secret}\n`,
  '.pypirc': secret,
  '.pgpass': secret,
  '.bash_history': secret,
  '.claude.json': secret,
  '.vscode-server/data/User/state': secret,
  '.cargo/credentials.toml': secret,
  '.config/pip/pip.conf': `[global]\nindex-url = https://user:${secret}@host/simple\n`,
};

interface PreparedFolders {
  home: string;
  journals: string;
  template: string;
}

/** Fills the home folder with secrets, and the template of the open folder with a repository, protected files and secrets. */
export function createHome({ home, journals, template }: PreparedFolders): void {
  const write = (folder: string, files: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(files)) {
      const path = paths.join(folder, name);
      mkdirSync(paths.dirname(path), { recursive: true });
      writeFileSync(path, `${text}\n`);
    }
  };
  write(home, { ...homeFiles, '.bashrc': '# before', notes: 'notes', 'vault/token': secret });
  symlinkSync(paths.join(home, 'vault'), paths.join(home, '.azure'));
  write(journals, { 'run/journal.jsonl': secret });
  write(template, {
    file: 'before',
    'folder/a': 'a',
    'folder/b': 'b',
    'folder/deep/c': 'c',
    '.vscode/settings.json': '{}',
    'AGENTS.md': 'before',
    'node_modules/.bin/tool': 'before',
    'package.json': '{"name":"probe","version":"1.0.0","scripts":{"test":"node test.js"}}',
    'test.js': 'require("node:fs").writeFileSync("tested", "yes")',
    '.env': secret,
    'server/.env.production': secret,
    'server/key.pem': secret,
    'server/code.js': 'code',
  });
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', template, '-c', 'user.name=P', '-c', 'user.email=p@e', ...args], {
      stdio: 'ignore',
      env: { PATH: process.env.PATH, HOME: '/', GIT_CONFIG_NOSYSTEM: '1' },
    });
  git('init', '-q', '--template=', '-b', 'main');
  write(template, { '.git/info/exclude': '.env*\nnode_modules\n' });
  git('add', 'file', 'folder', 'package.json');
  git('commit', '-q', '-m', 'first');
}
