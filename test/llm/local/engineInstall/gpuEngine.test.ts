import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  engineLibraryVersion,
  engineNodeModulesFolder,
  enginesFolder,
  engineVersionNodeModulesFolder,
  removeOtherEngines,
} from '../../../../src/llm/local/engineInstall/engineFolders.ts';
import { inspectInstalledEngines } from '../../../../src/llm/local/engineInstall/engines.ts';
import {
  addGpuEngine,
  type GpuEngine,
  type GpuEngineInstallOptions,
  gpuEngineArchiveUrl,
  gpuEnginesFor,
  removeGpuEngine,
} from '../../../../src/llm/local/engineInstall/gpuEngine.ts';
import pinned from '../../../../src/llm/local/engineInstall/gpuEngines.json' with { type: 'json' };
import { acquireRunLock } from '../../../../src/runs/lock.ts';

const root = path.resolve(import.meta.dirname, '../../../..');
const version = '3.21.1';

describe('a GPU engine', () => {
  let folder: string;
  let dist: string;
  let storage: string;
  let registry: Server;
  let asked: { path?: string; authorization?: string }[];
  let archives: Record<string, Buffer>;
  let options: GpuEngineInstallOptions;

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'towpath-gpu-'));
    dist = path.join(folder, 'dist');
    storage = path.join(folder, 'storage');
    write('dist/target.json', { target: 'linux-x64', engine: 'linux-x64' });
    write('dist/node_modules/node-llama-cpp/package.json', { name: 'node-llama-cpp', version });
    write('dist/node_modules/@node-llama-cpp/linux-x64/package.json', { name: '@node-llama-cpp/linux-x64', version });
    asked = [];
    archives = {};
    registry = createServer((request, response) => {
      asked.push({ path: request.url, authorization: request.headers.authorization });
      const bytes = archives[request.url ?? ''];
      response.writeHead(bytes ? 200 : 404, { 'content-length': bytes?.length ?? 0 }).end(bytes);
    });
    await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
    options = { modules: path.join(dist, 'node_modules'), storage, registry: url, lock: acquireRunLock, retryMs: 1 };
  });
  afterEach(async () => {
    registry.closeAllConnections();
    await new Promise((resolve) => registry.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  const write = (file: string, content: object) => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), JSON.stringify(content));
  };
  /** An engine as the registry has it, and its archive. */
  const made = (kind: GpuEngine['kind']): { engine: GpuEngine; bytes: Buffer } => {
    const name = `linux-x64-${kind}`;
    write(`${kind}/package/package.json`, { name: `@node-llama-cpp/${name}`, version });
    write(`${kind}/package/bins/${name}/llama-addon.node`, { kind });
    const bytes = execFileSync('tar', ['-cz', 'package'], { cwd: path.join(folder, kind) });
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    return { engine: { kind, name, version, bytes: bytes.length, unpacked: bytes.length, integrity }, bytes };
  };
  const offer = ({ engine, bytes }: ReturnType<typeof made>): GpuEngine => {
    archives[new URL(gpuEngineArchiveUrl(engine, options.registry)).pathname] = bytes;
    return engine;
  };
  const modules = () => engineVersionNodeModulesFolder(storage, version);
  const installed = () =>
    inspectInstalledEngines(engineNodeModulesFolder(dist, storage), { ...linux, exists: () => false });
  const linux = { platform: 'linux', arch: 'x64' };
  const fails = (promise: Promise<unknown>, says: RegExp) =>
    assert.rejects(promise, ({ message }) => says.test(message));

  it('comes from the registry, without a token, and lies beside a copy of the library and the engine that was there', async () => {
    write('storage/engines/3.20.0/node_modules/node-llama-cpp/package.json', { version: '3.20.0' });
    const engine = offer(made('vulkan'));
    assert.equal(engineNodeModulesFolder(dist, storage), options.modules);
    await addGpuEngine(engine, options);
    assert.deepEqual(asked, [
      { path: '/@node-llama-cpp/linux-x64-vulkan/-/linux-x64-vulkan-3.21.1.tgz', authorization: undefined },
    ]);
    assert.equal(engineNodeModulesFolder(dist, storage), modules());
    assert.deepEqual(installed(), { installed: ['linux-x64', 'linux-x64-vulkan'], gpu: ['vulkan'] });
    assert.deepEqual(readdirSync(enginesFolder(storage)), [version], 'neither an archive nor another version is left');
  });

  it('and another one beside it, and one less', async () => {
    const [vulkan, cuda] = [offer(made('vulkan')), offer(made('cuda'))];
    await addGpuEngine(vulkan, options);
    await addGpuEngine(cuda, options);
    assert.deepEqual(installed().gpu, ['cuda', 'vulkan']);
    await removeGpuEngine(cuda, storage);
    assert.deepEqual(installed().gpu, ['vulkan']);
  });

  it('of which another one comes than this version knows is not taken', async () => {
    const { engine, bytes } = made('cuda');
    const other = Buffer.from(bytes);
    other[other.length - 1]! ^= 1;
    offer({ engine, bytes: other });
    await fails(addGpuEngine(engine, options), /is not the engine of this version of Towpath/);
    assert.deepEqual(readdirSync(enginesFolder(storage)), []);
    assert.equal(engineNodeModulesFolder(dist, storage), options.modules);
  });

  it('that the registry makes larger than it is, is not taken either', async () => {
    const { engine, bytes } = made('cuda');
    offer({ engine, bytes: Buffer.concat([bytes, Buffer.alloc(10)]) });
    await fails(addGpuEngine(engine, options), /sent more than the \d+ bytes/);
    assert.equal(engineNodeModulesFolder(dist, storage), options.modules);
  });

  it('is taken from its folder where a person has put it, and nobody is asked', async () => {
    const { engine, bytes } = made('cuda');
    mkdirSync(enginesFolder(storage), { recursive: true });
    writeFileSync(path.join(enginesFolder(storage), 'linux-x64-cuda-3.21.1.tgz'), bytes);
    await addGpuEngine(engine, options);
    assert.deepEqual([asked, installed().gpu], [[], ['cuda']]);
  });

  it('without network: says what to put where', async () => {
    const { engine } = made('cuda');
    const url = 'http://127.0.0.1:9';
    const where = enginesFolder(storage);
    await assert.rejects(addGpuEngine(engine, { ...options, registry: `${url}/` }), ({ message }) => {
      assert.ok(
        message.endsWith(
          `Without network: fetch ${url}/@node-llama-cpp/linux-x64-cuda/-/linux-x64-cuda-3.21.1.tgz on another machine, save the file in ${where} as linux-x64-cuda-3.21.1.tgz, and run this command again.`,
        ),
        message,
      );
      return true;
    });
  });

  it('is not there by half when it is stopped', async () => {
    const engine = offer(made('vulkan'));
    const stop = new AbortController();
    const stopped = addGpuEngine(engine, {
      ...options,
      signal: stop.signal,
      onProgress: () => stop.abort(new Error('stopped')),
    });
    await fails(stopped, /^stopped$/);
    assert.equal(existsSync(modules()), false);
    await addGpuEngine(engine, options);
    assert.deepEqual(installed().gpu, ['vulkan']);
  });

  it('needs a library to be added to', async () => {
    rmSync(options.modules, { recursive: true });
    await fails(addGpuEngine(made('cuda').engine, options), /There is no local engine here/);
  });

  it('stays out of use once Towpath has another version of the library, and goes', async () => {
    await addGpuEngine(offer(made('vulkan')), options);
    write('dist/node_modules/node-llama-cpp/package.json', { name: 'node-llama-cpp', version: '3.22.0' });
    assert.equal(engineNodeModulesFolder(dist, storage), options.modules);
    await removeOtherEngines(storage, engineLibraryVersion(options.modules));
    assert.deepEqual(readdirSync(enginesFolder(storage)), []);
  });
});

describe('the GPU engines that this version knows', () => {
  const lock = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')).packages;
  const library = lock['node_modules/node-llama-cpp'];

  it('are of the version of the library that is locked, each with its sum', () => {
    assert.equal(pinned.version, library.version);
    const all = Object.keys(library.optionalDependencies).filter((name) => /cuda|vulkan/.test(name));
    assert.deepEqual(
      Object.keys(pinned.engines)
        .map((name) => `@node-llama-cpp/${name}`)
        .sort(),
      all.sort(),
    );
    for (const { integrity, bytes, unpacked } of Object.values(pinned.engines))
      assert.ok(/^sha512-[\w+/]{86}==$/.test(integrity) && bytes < unpacked);
  });

  const kinds: [string, string, string[]][] = [
    ['linux', 'x64', ['cuda', 'vulkan', 'cuda-ext']],
    ['win32', 'x64', ['cuda', 'vulkan', 'cuda-ext']],
    ['linux', 'arm64', []],
    ['darwin', 'arm64', []],
    ['aix', 'ppc64', []],
  ];
  for (const [platform, arch, expected] of kinds)
    it(`on ${platform}-${arch}: ${expected.join(', ') || 'none'}`, () =>
      assert.deepEqual(
        gpuEnginesFor(platform, arch).map(({ kind }) => kind),
        expected,
      ));
});
