import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { missingEngineReason } from '../../../../src/llm/local/engineInstall/engineFolders.ts';
import {
  type EnginePlatform,
  type ExtensionBuildInfo,
  thisMachine,
  unavailableEngineReason,
} from '../../../../src/llm/local/engineInstall/missingEngine.ts';
import { MissingEngineError, toLoadFailure } from '../../../../src/llm/local/ipc/failures.ts';
import { toEnglishText } from '../../../../src/protocol/text/l10n.ts';

const linux: EnginePlatform = { platform: 'linux', arch: 'x64', glibc: true };
const alpine: EnginePlatform = { ...linux, glibc: false };
const bsd: EnginePlatform = { platform: 'freebsd', arch: 'x64', glibc: true };
const universal: ExtensionBuildInfo = { target: 'universal' };
const own: ExtensionBuildInfo = { target: 'linux-x64', engine: 'linux-x64' };

describe('why there is no local engine', () => {
  const cases: [string, EnginePlatform, ExtensionBuildInfo | undefined, boolean, string][] = [
    [
      'the package for every platform, where there is one with an engine',
      linux,
      universal,
      false,
      'This is the package of Towpath for every platform, which has no local engine. Install the one for linux-x64, or connect to a provider.',
    ],
    [
      'the package for every platform, on Alpine',
      alpine,
      universal,
      false,
      'There is no local engine for a Linux without glibc (Alpine and others), so local models do not run on this machine. Connect to a provider.',
    ],
    [
      'a package with an engine, on Alpine',
      alpine,
      own,
      true,
      'There is no local engine for a Linux without glibc (Alpine and others), so local models do not run on this machine. Connect to a provider.',
    ],
    [
      'a platform that nobody makes one for',
      bsd,
      universal,
      false,
      'There is no local engine for freebsd-x64, so local models do not run on this machine. Connect to a provider.',
    ],
    [
      "another platform's package",
      linux,
      { target: 'win32-x64', engine: 'win-x64' },
      false,
      'This is the package of Towpath for win32-x64, and this machine is linux-x64. Install the one for it, or connect to a provider.',
    ],
    [
      'files that are gone',
      linux,
      own,
      false,
      'Files of the local engine are missing or damaged. Reinstall Towpath, or connect to a provider.',
    ],
    [
      'a system that is too old',
      linux,
      own,
      true,
      'The local engine for linux-x64 does not start here: its files are damaged, or this system is too old for it. Connect to a provider, or reinstall Towpath.',
    ],
    [
      'a checkout without its packages',
      linux,
      undefined,
      false,
      'There is no local engine for linux-x64 here. Run "npm ci" in Towpath\'s folder, or connect to a provider.',
    ],
  ];
  for (const [what, machine, shipped, isThere, sentence] of cases)
    it(what, () => assert.equal(toEnglishText(unavailableEngineReason(machine, shipped, isThere)), sentence));

  it('the process of a model says the same when the library is not there', () => {
    const { message, details } = toLoadFailure(new MissingEngineError('Cannot find it'), '/a.gguf', {
      shipped: universal,
    });
    assert.equal(message, toEnglishText(unavailableEngineReason(thisMachine(), universal, false)));
    assert.deepEqual(details, { path: '/a.gguf', cause: 'Cannot find it' });
  });

  it('is known before a model is downloaded', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'towpath-engine-'));
    const write = (file: string, content: object) => {
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      writeFileSync(path.join(folder, file), JSON.stringify(content));
    };
    try {
      write('target.json', universal);
      const machine: EnginePlatform = { platform: 'linux', arch: process.arch, glibc: true };
      assert.match(
        toEnglishText(missingEngineReason(folder, machine) ?? ''),
        /for every platform|There is no local engine/,
      );
      const name = `linux-${process.arch}`;
      write('target.json', { target: name, engine: name });
      write('node_modules/node-llama-cpp/package.json', { version: '1.0.0' });
      assert.match(toEnglishText(missingEngineReason(folder, machine) ?? ''), /missing or damaged/);
      write(`node_modules/@node-llama-cpp/${name}/package.json`, { name: `@node-llama-cpp/${name}` });
      assert.equal(missingEngineReason(folder, machine), undefined);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
