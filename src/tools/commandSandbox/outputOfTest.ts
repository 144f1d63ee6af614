import type { SandboxedCommand } from './commandSandbox.ts';

const maxSeconds = 20;

/** Runs the program by which a window tests its sandbox, and returns what it prints. Rejects if it cannot be started. */
export async function outputOfTest(
  command: SandboxedCommand,
  program: readonly string[],
): Promise<{ text: string; errors: string }> {
  const child = command.spawn(program, {
    ...process.env,
    ...command.environment,
    ...(process.versions.electron && { ELECTRON_RUN_AS_NODE: '1' }),
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), maxSeconds * 1000);
  try {
    let [text, errors] = ['', ''];
    child.stdout.on('data', (chunk) => (text += chunk));
    child.stderr.on('data', (chunk) => (errors += chunk));
    await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
    return { text, errors: errors.trim().slice(0, 300) };
  } finally {
    clearTimeout(timer);
  }
}
