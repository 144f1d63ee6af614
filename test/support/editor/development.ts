import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from './project.ts';

/**
 * Puts the project into a server's extensions folder as if it were installed, so that whoever opens the server's address has
 * Towpath, with any browser. It is a link: a new build needs only a reload of the window, and removing the extension in the
 * editor removes the link.
 */
export function installDevelopmentExtension(extensionsDir: string): void {
  const { publisher, name, version } = JSON.parse(readFileSync(path.join(projectRoot, 'package.json'), 'utf8'));
  mkdirSync(extensionsDir, { recursive: true });
  symlinkSync(projectRoot, path.join(extensionsDir, `${publisher}.${name}-${version}`), 'junction');
}
