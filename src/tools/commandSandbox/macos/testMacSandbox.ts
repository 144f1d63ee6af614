import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import * as paths from 'node:path';
import { message } from '../../../protocol/text/l10n.ts';
import type { SandboxAvailability } from '../../core/commandSandbox.ts';
import type { SandboxedCommand, SandboxedCommandRequest } from '../commandSandbox.ts';
import { outputOfTest } from '../outputOfTest.ts';

interface TestOptions {
  store: string;
  home: string;
  program: string;
}

// `inside` proves that the script ran. Nothing else but `done` must appear.
const testScript = `echo x > "$1/file" && echo inside
(: > "$2/.towpath-test-$$") 2>/dev/null && echo wrote && rm -f "$2/.towpath-test-$$"
(mkdir "$1/.vscode" || mkdir "$1/sub/.GIT" || echo x > "$1/AGENTS.md" || mv "$1/sub" "$1/.vscode" || mkdir "$TMPDIR/.vscode") 2>/dev/null && echo protected
(cat "$1/.env" || cat "$1/.ENV" || cat "/System/Volumes/Data$1/.env" || { ln "$1/.env" "$1/copy" && cat "$1/copy"; }) >/dev/null 2>&1 && echo read
"$3" -e 'require("net").connect(+process.argv[1], "127.0.0.1").on("connect", () => { console.log("connected"); process.exit() }).on("error", () => {})' "$4"
echo done`;

/**
 * Runs a real command in a folder of its own, which must fail to write outside, to write protected names, to read a secret and to connect.
 * Never rejects.
 */
export async function testMacSandbox(
  { store, home, program }: TestOptions,
  prepare: (request: SandboxedCommandRequest) => Promise<SandboxedCommand>,
): Promise<SandboxAvailability> {
  try {
    const problem = await tryCommand(store, home, prepare);
    if (problem) return { isAvailable: false, reason: message('a test failed ({0})', problem) };
    return { isAvailable: true, program: paths.basename(program), isPreview: true };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { isAvailable: false, reason: message('a test failed ({0})', text) };
  }
}

async function tryCommand(
  store: string,
  outside: string,
  prepare: (request: SandboxedCommandRequest) => Promise<SandboxedCommand>,
): Promise<string | undefined> {
  await mkdir(store, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(paths.join(await realpath(store), 'test-'));
  const server = createServer((socket) => socket.destroy());
  try {
    await new Promise<void>((resolve, reject) => server.listen(0, '127.0.0.1', resolve).once('error', reject));
    await mkdir(paths.join(folder, 'sub'));
    await writeFile(paths.join(folder, '.env'), 'A=1\n');
    const { port } = server.address() as { port: number };
    const nothing = async () => false;
    const request = {
      ...{ runId: '', folder, folders: [folder] },
      questions: { mayConnect: nothing, mayKeep: nothing },
    };
    const command = await prepare(request);
    try {
      const { text, errors } = await outputOfTest(command, [
        ...['/bin/sh', '-c', testScript, 'sh'],
        ...[folder, outside, process.execPath, String(port)],
      ]);
      const lines = text.split('\n');
      if (!lines.includes('done')) return errors || 'the command did not end';
      if (!lines.includes('inside')) return 'the workspace is not writable inside';
      if (lines.includes('wrote')) return 'a command could write outside';
      if (lines.includes('protected')) return 'a command could write a protected file';
      if (lines.includes('read')) return 'a command could read a secret';
      return lines.includes('connected') ? 'a command could connect' : undefined;
    } finally {
      await command.discard();
    }
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}
