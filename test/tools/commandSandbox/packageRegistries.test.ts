import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import { findPackageRegistries } from '../../../src/tools/commandSandbox/packageRegistries.ts';
import { publicRegistries } from '../../../src/tools/commandSandbox/publicRegistries.ts';

describe('package registries', () => {
  const open = '/nothing/open';
  let home: string;
  beforeEach(() => {
    home = realpathSync(mkdtempSync(paths.join(tmpdir(), 'home-')));
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const known = new Set(publicRegistries.flatMap(({ hosts }) => hosts.map((host) => `https://${host}`)));
  const own = async (environment: NodeJS.ProcessEnv = {}, folders = [open]) =>
    (await findPackageRegistries({ environment, home, folders })).filter((site) => !known.has(site));
  const put = (name: string, text: string) => {
    mkdirSync(paths.dirname(paths.join(home, name)), { recursive: true });
    writeFileSync(paths.join(home, name), text);
  };

  it('are public ones with a source, and no host with contents of anybody', async () => {
    const sites = await findPackageRegistries({ environment: {}, home, folders: [open] });
    assert.deepEqual(new Set(sites), known);
    for (const { hosts, source } of publicRegistries) {
      assert.match(source, /^https:\/\//);
      for (const host of hosts) assert.doesNotMatch(host, /github|googleapis|amazonaws|windows\.net|upload|^[^.]*$/);
    }
  });

  const variables: [name: string, value: string, sites: string[]][] = [
    ['npm_config_registry', 'https://npm.corp.example/', ['https://npm.corp.example']],
    ['NPM_CONFIG_REGISTRY', 'http://npm.corp.example:4873', ['https://npm.corp.example:4873']],
    ['npm_config_@corp:registry', 'https://corp.example/npm', ['https://corp.example']],
    ['PIP_INDEX_URL', 'http://user:secret@pip.corp.example/simple', ['http://pip.corp.example']],
    ['PIP_EXTRA_INDEX_URL', 'https://a.example/x https://b.example/y', ['https://a.example', 'https://b.example']],
    ['UV_INDEX', 'corp=https://uv.example/simple', ['https://uv.example']],
    ['GOPROXY', 'https://go.corp.example,https://other.example|direct', ['https://go.corp.example', 'https://other.example']],
    ['CARGO_REGISTRIES_CORP_INDEX', 'sparse+https://cargo.corp.example/index/', ['https://cargo.corp.example']],
    ['HEX_MIRROR', 'https://hex.corp.example', ['https://hex.corp.example']],
    ['GOPROXY', 'off', []],
    ['npm_config_registry', 'file:///srv/npm', []],
    ['npm_config_userconfig', 'https://no.example', []],
    ['HTTPS_PROXY', 'https://proxy.example', []],
  ]; // biome-ignore format: a table
  for (const [name, value, sites] of variables)
    it(`${name}=${value}: ${sites.join(', ') || 'none'}`, async () =>
      assert.deepEqual(await own({ [name]: value }), sites));

  it('are read from the settings of the user', async () => {
    put(
      '.npmrc',
      'registry=https://npm.corp.example/\n@corp:registry = https://scoped.example/\n//x/:_authToken=https://no.example\n',
    );
    put('.yarnrc.yml', 'npmRegistryServer: "https://yarn.corp.example"\n');
    put(
      '.config/pip/pip.conf',
      '[global]\nindex-url = https://pip.corp.example/simple\nextra-index-url =\n    https://one.example\n    https://two.example\n',
    );
    put('.cargo/config.toml', '[registries.corp]\nindex = "sparse+https://cargo.corp.example/"\n');
    assert.deepEqual((await own()).sort(), [
      'https://cargo.corp.example',
      'https://npm.corp.example',
      'https://one.example',
      'https://pip.corp.example',
      'https://scoped.example',
      'https://two.example',
      'https://yarn.corp.example',
    ]);
  });

  it('are not read from settings in an open folder, even through a link', async () => {
    put('project/npmrc', 'registry=https://evil.example/\n');
    symlinkSync(paths.join(home, 'project/npmrc'), paths.join(home, '.npmrc'));
    assert.deepEqual(await own({}, [paths.join(home, 'project')]), []);
    assert.deepEqual(await own({}, [home]), []);
    assert.deepEqual(await own(), ['https://evil.example']);
  });
});
