import { spawn } from 'node:child_process';
import { access, constants, lstat, mkdir, readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import * as paths from 'node:path';
import { message } from '../../../protocol/text/l10n.ts';
import type { SandboxAvailability } from '../../core/commandSandbox.ts';
import type { SandboxedCommand, SandboxedCommandRequest } from '../commandSandbox.ts';
import { outputOfTest } from '../outputOfTest.ts';
import { namespaceRefusal, readNamespaceFacts } from './missingReason.ts';
import type { SandboxPrograms } from './overlayNamespace.ts';
import { supportsSeccompFilter } from './seccompFilter.ts';

const programFolders = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin', '/run/current-system/sw/bin'];

async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of programFolders) {
    const path = paths.join(folder, name);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}

const programNames = ['bwrap', 'mount', 'nsenter', 'unshare', 'find', 'xargs', 'sh', 'perl'] as const;

let foundPrograms: Promise<SandboxPrograms> | undefined;

/** Finds the programs of the sandbox in the folders of the system, once. Rejects with the name of a missing one. */
export function findSandboxPrograms(): Promise<SandboxPrograms> {
  foundPrograms ??= findPrograms().catch((error) => {
    foundPrograms = undefined;
    throw error;
  });
  return foundPrograms;
}

async function findPrograms(): Promise<SandboxPrograms> {
  const found = await Promise.all(programNames.map(async (name) => [name, await findProgram(name)] as const));
  const missing = found.find(([, path]) => path === undefined);
  if (missing) throw new MissingProgramError(missing[0]);
  return Object.fromEntries(found) as unknown as SandboxPrograms;
}

class MissingProgramError extends Error {
  constructor(readonly program: string) {
    super(`${program} is not installed.`);
  }
}

interface TestOptions {
  store: string;
  home: string;
  folders(): Promise<readonly string[]>;
  log?(text: string): void;
}

/** Runs a real command, which must fail to write outside of the open folders and to connect. Never rejects. */
export async function testSandbox(
  { store, home, folders, log }: TestOptions,
  prepare: (request: SandboxedCommandRequest) => Promise<SandboxedCommand>,
): Promise<SandboxAvailability> {
  if (!supportsSeccompFilter(process.arch))
    return { isAvailable: false, reason: message('the processor {0} is not supported', process.arch) };
  try {
    const { bwrap } = await findSandboxPrograms();
    await mkdir(store, { recursive: true, mode: 0o700 });
    const open = await folders();
    if ((await Promise.all(open.map(hasOtherOwner))).includes(true))
      return { isAvailable: false, reason: message('files of the workspace belong to another user or group') };
    const own = paths.join(store, 'test');
    if (open.length === 0) await mkdir(own, { recursive: true });
    const opened = open.length > 0 ? open : [own];
    const isOpen = opened.some((folder) => home === folder || home.startsWith(`${folder}/`));
    const problem = await tryCommand(isOpen ? paths.dirname(store) : home, opened, prepare);
    if (problem) return { isAvailable: false, reason: message('a test failed ({0})', problem) };
    return { isAvailable: true, program: await versionOf(bwrap) };
  } catch (error) {
    if (error instanceof MissingProgramError) return missingProgram(error.program);
    const text = error instanceof Error ? error.message : String(error);
    log?.(`The sandbox is not available: ${text}`);
    if (/overlay/i.test(text))
      return {
        isAvailable: false,
        reason: message(
          'the workspace cannot be shown as an overlay: its disk does not support that, or something is mounted in it',
        ),
      };
    if (!/namespace|unshare|uid map|Operation not permitted|Permission denied/i.test(text))
      return { isAvailable: false, reason: message('a test failed ({0})', text) };
    return namespaceRefusal(await readNamespaceFacts(), text);
  }
}

// Inside, only the user and the main group of the editor exist: no other file can be written.
async function hasOtherOwner(folder: string): Promise<boolean> {
  const names = (await readdir(folder)).slice(0, 500);
  const all = await Promise.all(['', ...names].map((name) => lstat(paths.join(folder, name)).catch(() => undefined)));
  return all.some((stats) => stats && (stats.uid !== process.getuid!() || stats.gid !== process.getgid!()));
}

const missingProgram = (name: string): SandboxAvailability =>
  missingPrograms[name as keyof typeof missingPrograms] ?? {
    isAvailable: false,
    reason: message('util-linux is not installed'),
    steps: message('Install it with: {0}', 'sudo apt-get install util-linux mount findutils'),
  };

const missingPrograms: Partial<Record<(typeof programNames)[number], SandboxAvailability>> = {
  bwrap: {
    isAvailable: false,
    reason: message('bubblewrap is not installed'),
    steps: message('Install it with: {0}', 'sudo apt-get install bubblewrap'),
  },
  perl: {
    isAvailable: false,
    reason: message('Perl is not installed'),
    steps: message('Install it with: {0}', 'sudo apt-get install perl'),
  },
};

// `inside` proves that the script ran; `wrote` must not appear. The pipe is a change that is read and never kept.
const testScript = `mkfifo "$1/.towpath-test-$$" && echo inside
(: > "$2/.towpath-test-$$") 2>/dev/null && echo wrote && rm -f "$2/.towpath-test-$$"
"$3" -e 'require("net").connect(+process.argv[1], "127.0.0.1").on("error", () => {}).resume()' "$4"
echo done`;

/** @param outside folder that the user can write */
async function tryCommand(
  outside: string,
  folders: readonly string[],
  prepare: (request: SandboxedCommandRequest) => Promise<SandboxedCommand>,
): Promise<string | undefined> {
  let isReached = false;
  const server = createServer((socket) => {
    isReached = true;
    socket.destroy();
  });
  await new Promise<void>((resolve, reject) => server.listen(0, '127.0.0.1', resolve).once('error', reject));
  const { port } = server.address() as { port: number };
  const nothing = async () => false;
  const [folder] = folders;
  const request = { runId: '', folder: folder!, folders, questions: { mayConnect: nothing, mayKeep: nothing } };
  try {
    const command = await prepare(request);
    try {
      const script = ['/bin/sh', '-c', testScript, 'sh', folder!, outside, process.execPath, String(port)];
      const { text, errors } = await outputOfTest(command, script);
      const lines = text.split('\n');
      if (!lines.includes('done')) throw new Error(errors || 'the command did not end');
      if (!lines.includes('inside')) return 'the workspace is not writable inside';
      if (lines.includes('wrote')) return 'a command could write outside';
      if (isReached) return 'a command could connect';
      const { special } = await command.keep();
      return special.length === 1 ? undefined : 'changes could not be read';
    } finally {
      await command.discard();
    }
  } finally {
    server.close();
  }
}

async function versionOf(bwrap: string): Promise<string> {
  const child = spawn(bwrap, ['--version'], { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  await new Promise((resolve) => child.once('close', resolve).once('error', resolve));
  return text.trim() || 'bubblewrap';
}
