import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { ensureServer } from './install.ts';

/** Installs a VSIX as a person does, by the editor's own installer, and gives the folder of extensions that it is in. */
export function installVsix(file: string, folder: string): string {
  const { node, root } = ensureServer();
  const extensions = path.join(folder, 'extensions');
  mkdirSync(extensions, { recursive: true });
  const places = ['--extensions-dir', extensions, '--user-data-dir', path.join(folder, 'user-data')];
  const server = ['--server-data-dir', path.join(folder, 'server'), '--accept-server-license-terms'];
  const main = path.join(root, 'out', 'server-main.js');
  const said = execFileSync(node, [main, '--install-extension', file, ...places, ...server], {
    encoding: 'utf8',
    env: { ...process.env, EXTENSIONS_GALLERY: '{}', XDG_RUNTIME_DIR: folder },
  });
  if (!/successfully installed/.test(said)) throw new Error(said);
  return extensions;
}
