import { execFile, execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../support/editor/project.ts';
import { modelCacheFolder } from '../support/modelCacheFolder.ts';

const sources = path.join(projectRoot, 'node_modules/node-llama-cpp/llama');
const run = promisify(execFile);

/** What llama.cpp's own tool takes for something. */
export interface LlamaBench {
  /** Seconds of CPU, of all of its threads, loading included. @param args as `llama-bench` has them; `nice`: its nice value */
  seconds(args: readonly string[], nice: number): Promise<number>;
}

/**
 * llama.cpp's own `llama-bench`, built once from the sources that come with the engine, in front of the very engine that Towpath uses:
 * built for this processor, an engine is up to twice as fast or as slow. Else why it cannot be had.
 */
export async function llamaBench(): Promise<LlamaBench | string> {
  if (process.platform !== 'linux') return 'CPU seconds of a process are read from /proc';
  const platform = `linux-${process.arch}`;
  const engine = path.join(projectRoot, 'node_modules/@node-llama-cpp', platform, 'bins', platform);
  if (!existsSync(engine)) return `there is no engine for ${platform}`;
  const { tag } = JSON.parse(readFileSync(path.join(sources, 'llama.cpp.info.json'), 'utf8')) as { tag: string };
  const folder = path.join(modelCacheFolder(), 'llama-bench', `${tag}-${platform}`);
  const tool = path.join(folder, 'llama-bench');
  if (!existsSync(tool)) {
    const missing = ['git', 'c++'].filter((name) => !isThere(name));
    if (missing.length > 0) return `there is no ${missing.join(', no ')} to build llama-bench with`;
    console.log(`Building llama.cpp's own tool in ${folder}, once.`);
    build(folder, engine);
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

/** The tool looks for the engine's libraries where it is itself. */
function build(folder: string, engine: string): void {
  mkdirSync(path.dirname(folder), { recursive: true, mode: 0o700 });
  const made = mkdtempSync(`${folder}-`);
  try {
    const source = path.join(made, 'source');
    execFileSync(
      'git',
      ['-c', 'advice.detachedHead=false', 'clone', '--quiet', path.join(sources, 'gitRelease.bundle'), source],
      { stdio: 'inherit' },
    );
    const libraries = readdirSync(engine).filter((name) => name.endsWith('.so'));
    for (const name of libraries) copyFileSync(path.join(engine, name), path.join(made, name));
    const used = libraries.filter((name) => !name.startsWith('libggml-cpu')).map((name) => `-l:${name}`);
    const headers = ['include', 'ggml/include', 'common', 'tools/llama-bench'].flatMap((one) => [
      '-I',
      `${source}/${one}`,
    ]);
    const code = ['main.cpp', 'llama-bench.cpp'].map((name) => `${source}/tools/llama-bench/${name}`);
    const linked = ['-L', made, ...used, '-Wl,-rpath,$ORIGIN', '-pthread'];
    const options = ['-O2', '-DNDEBUG', '-std=c++17', '-o', `${made}/llama-bench`];
    execFileSync('c++', [...options, ...headers, ...code, ...linked], { stdio: 'inherit' });
    rmSync(source, { recursive: true });
    renameSync(made, folder);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    throw error;
  }
}

function isThere(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
