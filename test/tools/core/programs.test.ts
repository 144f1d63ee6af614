import assert from 'node:assert/strict';
import {
  excludeCurrentFolderFromPath,
  type ProgramEnvironment,
  processTreeTerminationCommand,
  resolveProgramPath,
  shellLaunchArguments,
} from '../../../src/tools/core/programs.ts';

const windows = (env: NodeJS.ProcessEnv, files: readonly string[] = []): ProgramEnvironment => ({
  platform: 'win32',
  env,
  isFile: (path) => files.includes(path),
});

describe('a program on Windows', () => {
  it('of the system is started by its path below the system folder', () => {
    const system = windows({ systemroot: 'D:\\Windows', PATH: '.;C:\\project' });
    assert.equal(shellLaunchArguments(system)[0], 'D:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe');
    assert.deepEqual(processTreeTerminationCommand(7, system), [
      'D:\\Windows\\System32\\taskkill.exe',
      '/pid',
      '7',
      '/t',
      '/f',
    ]);
  });

  for (const SystemRoot of [undefined, '', '.', 'project', '\\\\server\\share'])
    it(`is of the usual folder where the variable says ${SystemRoot}`, () =>
      assert.equal(
        processTreeTerminationCommand(7, windows({ SystemRoot }))[0],
        'C:\\Windows\\System32\\taskkill.exe',
      ));

  const files = [
    'C:\\project\\npx.cmd',
    'C:\\Program Files\\nodejs\\npx.cmd',
    'C:\\Git\\cmd\\git.exe',
    'npx.cmd',
    '.\\git.exe',
  ];
  const found: [name: string, path: string, program: string | undefined][] = [
    ['npx', 'C:\\Windows;C:\\Program Files\\nodejs', 'C:\\Program Files\\nodejs\\npx.cmd'],
    ['npx', '"C:\\Program Files\\nodejs"', 'C:\\Program Files\\nodejs\\npx.cmd'],
    ['npx', '.;;bin;C:\\Program Files\\nodejs', 'C:\\Program Files\\nodejs\\npx.cmd'],
    ['git', 'C:\\Git\\cmd', 'C:\\Git\\cmd\\git.exe'],
    ['git.exe', 'C:\\Git\\cmd', 'C:\\Git\\cmd\\git.exe'],
    ['npx', '.;', undefined],
    ['git', '', undefined],
    ['.\\server.exe', '', '.\\server.exe'],
    ['C:\\x\\server.exe', '', 'C:\\x\\server.exe'],
  ]; // biome-ignore format: a table
  for (const [name, PATH, program] of found)
    it(`${name} with the folders ${PATH} is ${program}`, () =>
      assert.equal(resolveProgramPath(name, windows({ Path: PATH, PATHEXT: '.exe;.cmd' }, files)), program));

  it('is never looked for in the folder where something runs', () => {
    const env: NodeJS.ProcessEnv = {};
    excludeCurrentFolderFromPath({ platform: 'win32', env });
    assert.deepEqual(env, { NoDefaultCurrentDirectoryInExePath: '1' });
    const other: NodeJS.ProcessEnv = {};
    excludeCurrentFolderFromPath({ platform: 'linux', env: other });
    assert.deepEqual(other, {});
  });

  it('elsewhere is what it is called', () =>
    assert.equal(resolveProgramPath('npx', { platform: 'linux', env: {}, isFile: () => false }), 'npx'));
});
