// npm start: an editor with Towpath on a fresh copy of the sample workspace. Ctrl-C ends it and removes the copy.
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { findOwnDesktop, openDesktop } from './editor/desktop.ts';
import { installDevelopmentExtension } from './editor/development.ts';
import { whenToldToEnd } from './editor/ending.ts';
import { copySample, temporaryFolder } from './editor/sample.ts';
import { startServer } from './editor/server.ts';
import { workbenchAddress } from './editor/workbench.ts';

console.log('Opening VS Code with Towpath on a fresh copy of the sample workspace …');

const hints = 'Towpath is behind its icon in the activity bar. Ctrl-C here ends the editor and removes the copy.';
const home = temporaryFolder();
const folder = copySample(home);
const stopped = new Promise<void>(whenToldToEnd);

try {
  const desktop = await findOwnDesktop();
  if ('executable' in desktop) await inDesktop(desktop.executable);
  else await inBrowser(desktop.missing);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
process.exit();

async function inDesktop(executable: string): Promise<void> {
  const window = openDesktop(executable, { folder, home });
  console.log(`Desktop VS Code: ${executable}\n${hints}`);
  await Promise.race([stopped, window.closed]);
  window.stop();
}

async function inBrowser(why: string): Promise<void> {
  const extensionsDir = path.join(home, 'extensions');
  installDevelopmentExtension(extensionsDir);
  // This server may do whatever its person may: other pages in the same browser must not be able to talk to it.
  const connectionToken = randomBytes(16).toString('hex');
  const server = await startServer({
    extensionsDir,
    connectionToken,
    userDataDir: path.join(home, 'user-data'),
    settings: { 'workbench.startupEditor': 'readme' },
  });
  console.log(`VS Code ${server.version} in the browser (no desktop VS Code: ${why}). Open this address:\n`);
  console.log(`  ${workbenchAddress(server.port, folder)}&tkn=${connectionToken}\n\n${hints}`);
  const died = new Promise<never>((_, reject) => {
    server.process.once('exit', (code) => reject(new Error(`The VS Code server ended (${code}):\n${server.log()}`)));
  });
  died.catch(() => {}); // also when we ended it
  try {
    await Promise.race([stopped, died]);
  } finally {
    await server.stop();
  }
}
