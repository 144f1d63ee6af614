import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as paths from 'node:path';
import type { CommandLimits } from '../../src/tools/commandSandbox/commandLimits.ts';
import type { CommandSandbox, SandboxedCommand, SandboxReport } from '../../src/tools/commandSandbox/commandSandbox.ts';
import { createLinuxSandbox } from '../../src/tools/commandSandbox/linux/linuxSandbox.ts';
import { built } from './programs.ts';

export interface TemporarySandbox extends CommandSandbox {
  /** Folder with the store and the home. */
  folder: string;
  home: string;
  cleanup(): Promise<void>;
}

const isTemporary = (path: string): boolean => /^\/(?:var\/)?tmp(?:\/|$)/.test(path);

/** A real sandbox with a store and a home of its own; undefined where this machine or user cannot have one. */
export async function temporarySandbox(
  open: readonly string[] = [],
  limits?: Partial<CommandLimits>,
): Promise<TemporarySandbox | undefined> {
  if (process.platform !== 'linux') return undefined;
  const base = isTemporary(process.cwd()) ? paths.join(homedir(), '.cache') : paths.resolve('test/out');
  mkdirSync(base, { recursive: true });
  const folder = mkdtempSync(paths.join(base, 'sandbox-')); // inside, the folders for temporary files are others
  const forwarder = paths.join(folder, 'sandboxForwarder.cjs');
  writeFileSync(forwarder, (await built('sandboxForwarder.cjs')).files.get('sandboxForwarder.cjs')!);
  const home = mkdtempSync(paths.join(folder, 'home-'));
  const sandbox = createLinuxSandbox({
    store: paths.join(folder, 'store'),
    forwarder,
    home,
    hidden: [],
    limits,
    folders: async () => open,
  });
  const cleanup = async () => {
    await sandbox.close();
    await rm(folder, { recursive: true, force: true });
  };
  if ((await sandbox.availability()).isAvailable) return { ...sandbox, folder, home, cleanup };
  await cleanup();
  return undefined;
}

const maxOutput = 1_000_000;

interface SandboxedEnd {
  code: number | null;
  output: string;
  report: SandboxReport;
}

/** Runs a line of a shell as `shell.run` does, for at most a number of seconds, and keeps what it has changed. */
export async function runSandboxed(
  command: SandboxedCommand,
  line: string,
  env: NodeJS.ProcessEnv = process.env,
  maxSeconds = 60,
): Promise<SandboxedEnd> {
  const child = command.spawn(['/bin/bash', '-c', line], { ...env, ...command.environment });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (output = (output + chunk).slice(-maxOutput)));
  const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), maxSeconds * 1000);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  return { code, output, report: await command.keep() };
}
