import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, promises as fs } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { message } from '../../../protocol/text/l10n.ts';
import { joinLocalizableTexts, type LocalizableText, messageOf } from '../../../protocol/text/localized.ts';
import { LLMError } from '../../core/errors.ts';
import { type DownloadOptions, downloadModelFiles } from '../download/download.ts';
import { offlineModelHint } from '../download/fetchRange.ts';
import {
  engineLibraryVersion,
  enginesFolder,
  engineVersionNodeModulesFolder,
  removeOtherEngines,
} from './engineFolders.ts';
import pinned from './gpuEngines.json' with { type: 'json' };
import { enginePackageByPlatform } from './missingEngine.ts';

const scope = '@node-llama-cpp';

export interface GpuEngine {
  kind: 'cuda' | 'vulkan' | 'cuda-ext';
  name: string;
  version: string;
  bytes: number;
  unpacked: number;
  integrity: string;
}

export function gpuEnginesFor(platform: string, arch: string): GpuEngine[] {
  const plain = enginePackageByPlatform[`${platform}-${arch}` as keyof typeof enginePackageByPlatform];
  return (['cuda', 'vulkan', 'cuda-ext'] as const).flatMap((kind) => {
    const name = `${plain}-${kind}`;
    const known = (pinned.engines as Record<string, Omit<GpuEngine, 'kind' | 'name' | 'version'>>)[name];
    return known ? [{ kind, name, version: pinned.version, ...known }] : [];
  });
}

export const gpuEngineArchiveName = ({ name, version }: GpuEngine) => `${name}-${version}.tgz`;

export const gpuEngineArchiveUrl = (engine: GpuEngine, registry: string) =>
  `${registry.replace(/\/+$/, '')}/${scope}/${engine.name}/-/${gpuEngineArchiveName(engine)}`;

export interface GpuEngineInstallOptions
  extends Pick<DownloadOptions, 'signal' | 'onProgress' | 'lock' | 'connectMs' | 'retryMs'> {
  /** The `node_modules` of a package; in a checkout, the folder also contains unrelated packages. */
  modules: string;
  storage: string;
  registry: string;
}

/**
 * Installs a GPU engine beside a copy of the library and its engine in `storage`. Uses the archive that the user placed in `storage`, or
 * downloads the archive; the pinned checksum must match. The installation is complete or absent, and other versions are removed. Throws
 * `LLMError` with the offline solution, the error of the lock, or the signal's reason.
 */
export async function addGpuEngine(engine: GpuEngine, options: GpuEngineInstallOptions): Promise<void> {
  const { modules, storage, registry, signal } = options;
  if (engineLibraryVersion(modules) !== engine.version)
    throw new LLMError('UNKNOWN', message('There is no local engine here to which a GPU engine could be added.'));
  const folder = enginesFolder(storage);
  const archive = path.join(folder, gpuEngineArchiveName(engine));
  if (!existsSync(archive)) await fetchArchive(engine, folder, registry, options);
  const lock = await options.lock(path.join(folder, 'engines.lock'));
  try {
    await checkSum(archive, engine);
    signal?.throwIfAborted();
    await unpack(engine, archive, modules, storage);
    await fs.rm(archive, { force: true });
    await removeOtherEngines(storage, engine.version);
  } finally {
    await lock.release();
  }
}

export async function removeGpuEngine({ name, version }: GpuEngine, storage: string): Promise<void> {
  await fs.rm(path.join(engineVersionNodeModulesFolder(storage, version), scope, name), {
    recursive: true,
    force: true,
  });
}

async function fetchArchive(
  engine: GpuEngine,
  folder: string,
  registry: string,
  options: GpuEngineInstallOptions,
): Promise<void> {
  const url = gpuEngineArchiveUrl(engine, registry);
  const { signal, onProgress, lock, connectMs, retryMs } = options;
  try {
    const file = { name: gpuEngineArchiveName(engine), url, bytes: engine.bytes };
    await downloadModelFiles(
      { address: `${scope}/${engine.name}@${engine.version}`, files: [file] },
      { folder, signal, onProgress, lock, connectMs, retryMs },
    );
  } catch (error) {
    if (!(error instanceof LLMError)) throw error;
    const { values = [] } = error.said ?? {};
    const why = values.at(-1) === offlineModelHint ? (values[0] as LocalizableText) : messageOf(error);
    throw new LLMError(error.code, joinLocalizableTexts([why, byHand(engine, folder, url)]));
  }
}

const byHand = (engine: GpuEngine, folder: string, url: string) =>
  message(
    'Without network: fetch {0} on another machine, save the file in {1} as {2}, and run this command again.',
    url,
    folder,
    gpuEngineArchiveName(engine),
  );

async function checkSum(archive: string, engine: GpuEngine): Promise<void> {
  const hash = createHash('sha512');
  for await (const bytes of createReadStream(archive, { highWaterMark: 1 << 20 })) hash.update(bytes);
  if (`sha512-${hash.digest('base64')}` === engine.integrity) return;
  await fs.rm(archive, { force: true });
  throw new LLMError(
    'LLM_BAD_RESPONSE',
    message(
      '{0} is not the engine of this version of Towpath: its checksum differs. It was deleted; try again.',
      path.basename(archive),
    ),
  );
}

async function unpack(engine: GpuEngine, archive: string, modules: string, storage: string): Promise<void> {
  const target = engineVersionNodeModulesFolder(storage, engine.version);
  const work = await fs.mkdtemp(path.join(enginesFolder(storage), '.new-'));
  try {
    const fresh = path.join(work, 'engine');
    await fs.mkdir(fresh);
    await promisify(execFile)(tar(), ['-xzf', archive, '-C', fresh, '--strip-components=1']);
    if (engineLibraryVersion(target) !== engine.version) {
      const copy = path.join(work, 'copy');
      await fs.cp(modules, path.join(copy, 'node_modules'), { recursive: true });
      await fs.rm(path.dirname(target), { recursive: true, force: true });
      await fs.rename(copy, path.dirname(target));
    }
    const folder = path.join(target, scope, engine.name);
    await fs.rm(folder, { recursive: true, force: true });
    await fs.mkdir(path.dirname(folder), { recursive: true });
    await fs.rename(fresh, folder);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new LLMError('UNKNOWN', message('The engine could not be installed in {0}: {1}', path.dirname(target), why));
  } finally {
    await fs.rm(work, { recursive: true, force: true });
  }
}

function tar(): string {
  return process.platform === 'win32'
    ? path.join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'tar.exe')
    : 'tar';
}
