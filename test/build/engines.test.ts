import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const script = path.resolve(import.meta.dirname, '../../src/build/engines.mjs');
const machine = `${{ linux: 'linux', darwin: 'mac', win32: 'win' }[process.platform as string]}-${process.arch}`;
const plain = machine === 'mac-arm64' ? 'mac-arm64-metal' : machine;

describe('the engines of the local model', () => {
  let project: string;
  beforeEach(() => {
    project = mkdtempSync(path.join(tmpdir(), 'towpath-engines-'));
    mkdirSync(path.join(project, 'src/llm/local'), { recursive: true });
    cpSync(script, path.join(project, 'src/build/engines.mjs'));
  });
  afterEach(() => rmSync(project, { recursive: true }));

  const run = (...args: string[]) => {
    const { status, stderr } = spawnSync(process.execPath, [path.join(project, 'src/build/engines.mjs'), ...args], {
      encoding: 'utf8',
    });
    return { status, stderr };
  };
  const engine = (name: string, contains = name) => {
    const folder = path.join(project, 'node_modules/@node-llama-cpp', name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name: `@node-llama-cpp/${contains}` }));
  };

  it("of other machines go, this one's stays", () => {
    for (const name of [plain, 'linux-riscv64', 'linux-armv7l', 'sunos-sparc']) engine(name);
    engine('linux-x64-cuda', 'win-arm64'); // what an override leaves behind
    assert.deepEqual(run('keep'), { status: 0, stderr: '' });
    assert.deepEqual(readdirSync(path.join(project, 'node_modules/@node-llama-cpp')), [plain]);
  });

  it('may be missing', () => assert.deepEqual(run('keep'), { status: 0, stderr: '' }));

  it('that nobody makes are refused by name', () => {
    const { status, stderr } = run('add', 'abacus');
    assert.equal(status, 1);
    assert.ok(stderr.startsWith(`No GPU engine "abacus" for ${machine}.`), stderr);
  });

  it('need something to be done with them', () =>
    assert.deepEqual(run(), { status: 1, stderr: 'Say what to do: keep, or add cuda | vulkan | cuda-ext.\n' }));
});
