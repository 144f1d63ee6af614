import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { outcomeDetails } from '../../protocol/content/tools.ts';
import { onAbort } from '../../protocol/values/abort.ts';
import { withTempFile } from '../core/tempFiles.ts';
import { ToolError } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import type { RipgrepExclusions } from './globLimits.ts';
import type { SearchRoot } from './searchRoots.ts';

// Timeout of a search in milliseconds.
const timeLimit = 20_000;

/**
 * Searches hidden files but not `.git`; ignore files apply outside of repositories too. The caller filters temporary files of writes: an
 * exclusion would cost more per path than a filter of results.
 */
const common = ['--no-config', '--hidden', '--no-require-git', '--no-messages', '--crlf', '--glob=!.git'];

const ignoring = ['.gitignore', '.ignore', '.rgignore', '.git'];

/**
 * Runs ripgrep and reports the output line by line (with `--files`, name by name) until `onLine` returns false. Resolves to true if
 * truncated, also by the timeout. `input` is searched if the target is `-`. Throws `TOOL_NOT_AVAILABLE` without ripgrep,
 * `TOOL_ARGS_INVALID` for a bad pattern.
 */
export async function runRipgrep(
  workspace: Workspace,
  root: SearchRoot,
  options: readonly string[],
  onLine: (line: string) => boolean,
  signal: AbortSignal,
  input?: string,
): Promise<{ cut: boolean }> {
  if (!workspace.ripgrep) throw new ToolError('TOOL_NOT_AVAILABLE', 'There is no ripgrep here. Use fs.list.');
  signal.throwIfAborted();
  const [separator, more] = options.includes('--files') ? ['\0', ['--null']] : ['\n', []];
  const above = isIgnoredFromAbove(root) ? [] : ['--no-ignore-parent'];
  const child = spawn(workspace.ripgrep, [...common, ...above, ...more, ...options, '--', root.target], {
    cwd: root.folder,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  }) as ChildProcessByStdio<Writable | null, Readable, Readable>;
  child.stdin?.on('error', () => undefined).end(input); // ripgrep may exit before the end of the input
  let cut = false;
  let errors = '';
  const stop = () => {
    cut = true;
    child.kill('SIGKILL');
  };
  const timer = setTimeout(stop, timeLimit);
  const stopListening = onAbort(signal, stop);
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(0, 2000);
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  try {
    let failed: unknown;
    let rest = '';
    const emitLine = (line: string) => {
      try {
        if (!cut && !onLine(line)) stop();
      } catch (error) {
        failed = error; // an exception here would be lost
        stop();
      }
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      let from = 0;
      for (let end = text.indexOf(separator); end >= 0 && !cut; end = text.indexOf(separator, from)) {
        emitLine(rest + text.slice(from, end));
        rest = '';
        from = end + 1;
      }
      rest += text.slice(from);
    });
    const code = await ended;
    signal.throwIfAborted();
    if (failed) throw failed;
    if (!cut && (code === null || rest !== ''))
      throw new ToolError('TOOL_EXEC_FAILED', 'ripgrep ended in the middle of its answer.');
    if (code === 2 && !cut && errors !== '') throw badPattern(errors);
    return { cut };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new ToolError('TOOL_EXEC_FAILED', 'ripgrep could not be started.');
    throw error;
  } finally {
    clearTimeout(timer);
    stopListening();
  }
}

/**
 * Tests for ignore files in parent folders. If there are none, ripgrep can skip the checks of parents, which take a third of the time in
 * large trees. Synchronous, because the system has cached the names and each asynchronous call would take longer than all checks.
 */
function isIgnoredFromAbove({ folder, target }: SearchRoot): boolean {
  if (target !== './') return true;
  for (let at = folder; at !== paths.dirname(at); at = paths.dirname(at))
    if (ignoring.some((name) => existsSync(paths.join(paths.dirname(at), name)))) return true;
  return false;
}

/**
 * Calls `work` with the options of a glob's limits. If no ignore file can be written, more files are searched. The removal is not awaited.
 */
export async function withRipgrepExclusions<Result>(
  { options, ignored }: RipgrepExclusions,
  work: (options: string[]) => Promise<Result>,
): Promise<Result> {
  if (!ignored) return work(options);
  return new Promise((resolve, reject) => {
    withTempFile(tmpdir(), async (file) => {
      const result = work([...options, ...(isWritten(file, ignored.join('\n')) ? [`--ignore-file=${file}`] : [])]);
      resolve(result);
      await result.catch(() => undefined);
    }).catch(reject);
  });
}

function isWritten(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}

function badPattern(errors: string): ToolError {
  // ripgrep's advice is about its own options, which the model cannot set.
  const [firstError = ''] = errors.replace(/^rg: /, '').trim().split('\n\n');
  const what = /literal "?.?\\n/.test(firstError)
    ? 'a pattern is looked for within one line, so it cannot hold \\n.'
    : firstError.split('\n').slice(0, 4).join('\n');
  return new ToolError(
    'TOOL_ARGS_INVALID',
    `pattern: ${what}\nFor literal text, set fixed to true.`,
    outcomeDetails('PATTERN_INVALID'),
  );
}
