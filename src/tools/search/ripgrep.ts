import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { because } from '../../protocol/content/tools.ts';
import { withTemporary } from '../core/tempFiles.ts';
import { ToolError } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import type { GlobLimits } from './globLimits.ts';
import type { SearchRoot } from './searchRoots.ts';

/** How long one search may take, in milliseconds. */
const timeLimit = 20_000;

/**
 * Hidden files are files too, Git's own are not; ignore files count whether or not the folder is a repository. What a write at work has
 * there is left out by who asks: one more glob for each path costs more than a look at those that are told.
 */
const common = ['--no-config', '--hidden', '--no-require-git', '--no-messages', '--crlf', '--glob=!.git'];

/** What of a folder above the searched one can make ripgrep leave something out. */
const ignoring = ['.gitignore', '.ignore', '.rgignore', '.git'];

/**
 * Runs ripgrep in a place and gives its output line by line (of `--files`, name by name) until `onLine` returns false. Resolves to
 * whether it was cut short, by that or by the time limit. `input`: what it looks into where the target is `-`. Throws `TOOL_NOT_AVAILABLE` without ripgrep, `TOOL_ARGS_INVALID` for a bad pattern.
 */
export async function ripgrep(
  workspace: Workspace,
  place: SearchRoot,
  options: readonly string[],
  onLine: (line: string) => boolean,
  signal: AbortSignal,
  input?: string,
): Promise<{ cut: boolean }> {
  if (!workspace.ripgrep) throw new ToolError('TOOL_NOT_AVAILABLE', 'There is no ripgrep here. Use fs.list.');
  signal.throwIfAborted();
  const [separator, more] = options.includes('--files') ? ['\0', ['--null']] : ['\n', []];
  const above = isIgnoredFromAbove(place) ? [] : ['--no-ignore-parent'];
  const child = spawn(workspace.ripgrep, [...common, ...above, ...more, ...options, '--', place.target], {
    cwd: place.folder,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  }) as ChildProcessByStdio<Writable | null, Readable, Readable>;
  child.stdin?.on('error', () => undefined).end(input); // whoever has enough does not read to the end
  let cut = false;
  let errors = '';
  const stop = () => {
    cut = true;
    child.kill('SIGKILL');
  };
  const timer = setTimeout(stop, timeLimit);
  signal.addEventListener('abort', stop, { once: true });
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
    const say = (line: string) => {
      try {
        if (!cut && !onLine(line)) stop();
      } catch (error) {
        failed = error; // thrown here it would be nobody's
        stop();
      }
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      let from = 0;
      for (let end = text.indexOf(separator); end >= 0 && !cut; end = text.indexOf(separator, from)) {
        say(rest + text.slice(from, end));
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
    signal.removeEventListener('abort', stop);
  }
}

/**
 * Else ripgrep is spared holding each path to the folders above, which takes it a third longer in a large tree. At once: their names are
 * known to the system from finding the folder, and each thing that waits for another thread takes longer than all of them.
 */
function isIgnoredFromAbove({ folder, target }: SearchRoot): boolean {
  if (target !== './') return true;
  for (let at = folder; at !== paths.dirname(at); at = paths.dirname(at))
    if (ignoring.some((name) => existsSync(paths.join(paths.dirname(at), name)))) return true;
  return false;
}

/**
 * Calls `work` with the options for a glob's limits. Where no ignore file can be written, more is looked at. Its removal is not waited
 * for.
 */
export async function withLimits<Result>(
  { options, ignored }: GlobLimits,
  work: (options: string[]) => Promise<Result>,
): Promise<Result> {
  if (!ignored) return work(options);
  return new Promise((resolve, reject) => {
    withTemporary(tmpdir(), async (file) => {
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
  // Its advice is about options of its own, which nobody can give here.
  const [said = ''] = errors.replace(/^rg: /, '').trim().split('\n\n');
  const what = /literal "?.?\\n/.test(said)
    ? 'a pattern is looked for within one line, so it cannot hold \\n.'
    : said.split('\n').slice(0, 4).join('\n');
  return new ToolError(
    'TOOL_ARGS_INVALID',
    `pattern: ${what}\nFor literal text, set fixed to true.`,
    because('PATTERN_INVALID'),
  );
}
