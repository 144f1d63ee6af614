import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../support/editor/project.ts';

const sources = path.join(projectRoot, 'node_modules/node-llama-cpp/llama');
const run = promisify(execFile);

/** What llama.cpp's own tool takes for something. */
export interface LlamaBench {
  /** Seconds of CPU, of all of its threads, loading included. @param args as `llama-bench` has them; `nice`: its nice value */
  seconds(args: readonly string[], nice: number): Promise<number>;
}

/** llama.cpp's own `llama-bench`, built once from the sources of the engine that is here; else why it cannot be had. */
export async function llamaBench(): Promise<LlamaBench | string> {
  if (process.platform !== 'linux') return 'CPU seconds of a process are read from /proc';
  const { tag } = JSON.parse(readFileSync(path.join(sources, 'llama.cpp.info.json'), 'utf8')) as { tag: string };
  const folder = path.join(tmpdir(), 'towpath-llama.cpp', tag);
  const tool = path.join(folder, 'build', 'bin', 'llama-bench');
  if (!existsSync(tool)) {
    const missing = ['git', 'cmake', 'c++'].filter((name) => !isThere(name));
    if (missing.length > 0) return `there is no ${missing.join(', no ')} to build llama-bench with`;
    console.log(`Building llama.cpp's own tool in ${folder}, once; that takes minutes.`);
    build(folder);
  }
  return {
    async seconds(args, nice) {
      const timed = ['-c', '"$@" >/dev/null 2>&1 || exit 1; times', 'sh', 'nice', '-n', `${nice}`, tool, ...args];
      const { stdout } = await run('sh', timed);
      const [, children = ''] = stdout.split('\n'); // the first line is the shell's own
      return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + Number(m) * 60 + Number(s), 0);
    },
  };
}

function build(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const source = path.join(folder, 'source');
  const low = (...args: string[]) => execFileSync('nice', ['-n', '19', ...args], { stdio: 'inherit' });
  if (!existsSync(source)) low('git', 'clone', '--quiet', path.join(sources, 'gitRelease.bundle'), source);
  const off = ['TESTS', 'EXAMPLES', 'SERVER', 'APP', 'UI'].map((part) => `-DLLAMA_BUILD_${part}=OFF`);
  const options = ['-DCMAKE_BUILD_TYPE=Release', '-DLLAMA_OPENSSL=OFF', '-DLLAMA_USE_PREBUILT_UI=OFF', ...off];
  low('cmake', '-S', source, '-B', path.join(folder, 'build'), ...options);
  low('cmake', '--build', path.join(folder, 'build'), '--target', 'llama-bench', '--parallel', '2');
}

function isThere(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
