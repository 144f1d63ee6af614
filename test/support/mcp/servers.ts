import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import path from 'node:path';
import { projectRoot } from '../editor/project.ts';
import { eventually } from '../eventually.ts';

const require = createRequire(path.join(projectRoot, 'package.json'));

/** The script of one of the reference servers from npm. */
export function referenceServer(name: 'everything' | 'filesystem' | 'memory'): string {
  const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`);
  return path.join(path.dirname(manifest), 'dist', 'index.js');
}

/** A server that misbehaves: `faulty.mjs` with the fault's name. */
export const faultyServer = path.join(import.meta.dirname, 'faulty.mjs');

/** A server that speaks only revision 2026-07-28. */
export const statelessServer = path.join(import.meta.dirname, 'stateless.mjs');

/** A server that tries to mislead. */
export const hostileServer = path.join(import.meta.dirname, 'hostile.mjs');

/** The reference server over HTTP, on a free port of this machine. */
export async function everythingOverHttp(transport: 'streamableHttp' | 'sse'): Promise<{ url: string; close(): void }> {
  const port = await freePort();
  const child = spawn(process.execPath, [referenceServer('everything'), transport], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await listening(child, port);
  const place = transport === 'sse' ? 'sse' : 'mcp';
  return { url: `http://127.0.0.1:${port}/${place}`, close: () => void child.kill() };
}

async function listening(child: ChildProcess, port: number): Promise<void> {
  let said = '';
  child.stderr!.on('data', (text) => {
    said += text;
  });
  await eventually(`the server says that it listens on ${port}`, () => said.includes(String(port)));
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
