/**
 * Manages the llama.cpp engines of node-llama-cpp: one npm package per platform and kind.
 *
 * - node engines.mjs keep: runs after every install and removes the engines of other platforms, which npm installs too; never fails an
 * install
 * - node engines.mjs add cuda|vulkan|cuda-ext: downloads a GPU engine for this machine
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const scope = '@node-llama-cpp';
const modules = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../node_modules');
const folder = path.join(modules, scope);

const platforms = { linux: 'linux', darwin: 'mac', win32: 'win' };
const architectures = { x64: 'x64', arm64: 'arm64', arm: 'armv7l', riscv64: 'riscv64' };
const machine = `${platforms[process.platform] ?? process.platform}-${architectures[process.arch] ?? process.arch}`;
/** Engine of a plain install; on Apple silicon, this engine uses the GPU. */
const plain = machine === 'mac-arm64' ? 'mac-arm64-metal' : machine;
const extras =
  { 'linux-x64': ['cuda', 'cuda-ext', 'vulkan'], 'win-x64': ['cuda', 'cuda-ext', 'vulkan'] }[machine] ?? [];

const [command, kind] = process.argv.slice(2);
try {
  if (command === 'keep') keep();
  else if (command === 'add') add(kind);
  else throw new Error('Say what to do: keep, or add cuda | vulkan | cuda-ext.');
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

function keep() {
  const wanted = new Set([plain, ...extras.map((extra) => `${machine}-${extra}`)]);
  try {
    // the overrides of package.json replace GPU engines with another package
    for (const name of existsSync(folder) ? readdirSync(folder) : [])
      if (!wanted.has(name) || packageName(name) !== `${scope}/${name}`)
        rmSync(path.join(folder, name), { recursive: true, force: true });
  } catch (error) {
    console.warn(`Engines of other machines could not be removed from ${folder}: ${error.message}`);
  }
}

function add(extra) {
  if (!extras.includes(extra)) throw new Error(`No GPU engine "${extra ?? ''}" for ${machine}. ${alternatives()}`);
  const version = installedVersion();
  const name = `${machine}-${extra}`;
  const target = path.join(folder, name);
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(path.join(folder, '.add-'));
  try {
    console.log(`Fetching ${scope}/${name}@${version}, some hundred megabytes…`);
    run('npm', ['pack', `${scope}/${name}@${version}`, '--silent'], work, 'npm could not fetch it');
    const archive = readdirSync(work).find((file) => file.endsWith('.tgz'));
    if (!archive) throw new Error('npm fetched nothing.');
    run('tar', ['-xzf', archive], work, 'the package could not be unpacked');
    rmSync(target, { recursive: true, force: true });
    renameSync(path.join(work, 'package'), target);
    console.log(`${target} is ready. Start the editor again to use it.`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function alternatives() {
  if (extras.length > 0) return `There are ${extras.join(', ')}.`;
  return plain.endsWith('metal') ? 'The installed engine uses the GPU already.' : 'There are none for this machine.';
}

function run(program, args, cwd, trouble) {
  const shell = process.platform === 'win32'; // npm is a script on Windows
  const { status, error } = spawnSync(program, args, { cwd, shell, stdio: ['ignore', 'ignore', 'inherit'] });
  if (error || status !== 0) throw new Error(`${trouble} (${error?.message ?? `exit code ${status}`}).`);
}

function installedVersion() {
  try {
    return JSON.parse(readFileSync(path.join(modules, 'node-llama-cpp', 'package.json'), 'utf8')).version;
  } catch {
    throw new Error(`node-llama-cpp is not installed in ${modules}. Run npm ci first.`);
  }
}

function packageName(name) {
  try {
    return JSON.parse(readFileSync(path.join(folder, name, 'package.json'), 'utf8')).name;
  } catch {
    return undefined;
  }
}
