import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import * as paths from 'node:path';
import {
  type FolderSurroundings,
  findAllowableFolder,
  usableFolders,
} from '../../../src/tools/commandSandbox/allowedFolders.ts';

// Holds allowed-folders-hold-data.
describe('folders outside of the workspace that a rule can allow', () => {
  if (process.platform === 'win32') return;
  let home: string;
  let surroundings: FolderSurroundings;
  const at = (path: string) => paths.join(home, path);

  beforeEach(() => {
    home = realpathSync(mkdtempSync(paths.join(realpathSync('.'), 'test/out/home-')));
    for (const folder of [
      '.cache/tool/deep',
      '.cache/empty',
      'work/app',
      'data',
      'tools/x/bin',
      'other/.git',
      '.config/app',
      'Secret/a',
      '.local/share/x',
      'lib/node_modules/p',
      '.hidden',
    ])
      mkdirSync(at(folder), { recursive: true });
    writeFileSync(at('data/file'), '');
    writeFileSync(at('Secret/a/id_rsa'), '');
    surroundings = {
      home,
      folders: [at('work/app')],
      hidden: [at('store'), at('.config/Code')],
      environment: { PATH: `/usr/bin:${at('tools/x/bin')}` },
      uid: process.getuid!(),
    };
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));
  const find = async (path: string, more: Partial<FolderSurroundings> = {}) => {
    const found = await findAllowableFolder(path, { ...surroundings, ...more });
    return found === undefined ? undefined : paths.relative(home, found);
  };

  const allowed: [path: string, folder: string][] = [
    ['.cache/tool/x', '.cache/tool'],
    ['.cache/tool/deep/a/b', '.cache/tool/deep'],
    ['data/file', 'data'],
    ['data', 'data'],
    ['other/build/x', 'other'],
  ]; // biome-ignore format: a table
  for (const [path, folder] of allowed)
    it(`~/${path}: ~/${folder}`, async () => assert.equal(await find(at(path)), folder));

  const refused = [
    'x', '.cache/x', '.cache', '.config/app/x', '.config/autostart/x', '.ssh/x', '.local/bin/x', '.local/share/x/y', '.hidden/x', 'work/x',
    'work/app/x', 'tools/x', 'tools/x/bin/y', 'other/.git/hooks/x', 'Secret/x', 'Secret/a/x', 'lib/node_modules/p/x', 'bin/x', 'store/x',
    '.bashrc', '.profile',
  ]; // biome-ignore format: a table
  for (const path of refused) it(`~/${path}: none`, async () => assert.equal(await find(at(path)), undefined));
  for (const path of [
    '/',
    '/etc/x',
    '/usr/lib/x',
    '/usr/local/bin/x',
    '/var/lib/x',
    '/proc/1/x',
    '/dev/x',
    '/tmp/x',
    '/nothing/x',
    'relative',
    '/root/../etc/x',
  ])
    it(`${path}: none`, async () => assert.equal(await findAllowableFolder(path, surroundings), undefined));

  it('through a link, the folder that it leads to is judged', async () => {
    symlinkSync('/etc', at('data/link'));
    symlinkSync(at('.config/app'), at('data/settings'));
    symlinkSync(at('data'), at('alias'));
    symlinkSync('/nothing', at('data/broken'));
    assert.deepEqual(
      [
        await find(at('data/link/x')),
        await find(at('data/settings/x')),
        await find(at('alias/x')),
        await find(at('data/broken')),
      ],
      [undefined, undefined, 'data', undefined],
    );
  });

  it('none that others own or may write, or of programs that a variable lists', async () => {
    assert.equal(await find(at('data/x'), { uid: 12_345 }), undefined);
    assert.equal(await find(at('data/x'), { environment: { PYTHONPATH: at('data/lib') } }), undefined);
    assert.equal(await find(at('data/x'), { environment: { XDG_CONFIG_HOME: at('data') } }), undefined);
    chmodSync(at('data'), 0o777);
    assert.equal(await find(at('data/x')), undefined);
  });

  it('the cache folder can be another one, in the home folder', async () => {
    mkdirSync(at('data/cache/tool'), { recursive: true });
    assert.equal(await find(at('.hidden/tool/x'), { environment: { XDG_CACHE_HOME: at('.hidden') } }), undefined); // `tool` is missing
    mkdirSync(at('.hidden/tool'));
    assert.equal(await find(at('.hidden/tool/x'), { environment: { XDG_CACHE_HOME: at('.hidden') } }), '.hidden/tool');
    mkdirSync(at('.ssh'));
    assert.equal(await find(at('.ssh/x'), { environment: { XDG_CACHE_HOME: home } }), undefined);
  });

  it('a rule ends to hold when its folder is gone, a link, or an open folder', async () => {
    const usable = (folder: string, more: Partial<FolderSurroundings> = {}) =>
      usableFolders([folder], { ...surroundings, ...more });
    assert.deepEqual(await usable(at('data')), [at('data')]);
    assert.deepEqual(await usable(at('data'), { folders: [at('data/app')] }), []);
    assert.deepEqual(await usable(at('data'), { hidden: [at('data/key')] }), []);
    renameSync(at('data'), at('moved'));
    assert.deepEqual(await usable(at('data')), []);
    symlinkSync(at('moved'), at('data'));
    assert.deepEqual(await usable(at('data')), []);
    assert.deepEqual(await usable('/etc'), []);
    assert.deepEqual(await usable(home), []);
  });

  it('of two, the inner one is part of the outer one', async () => {
    const both = [at('.cache/tool/deep'), at('.cache/tool')];
    assert.deepEqual(await usableFolders(both, surroundings), [at('.cache/tool')]);
  });
});
