import assert from 'node:assert/strict';
import { cacheFolderNames, cacheVariables } from '../../../src/tools/commandSandbox/cacheVariables.ts';

describe('the variables of private caches', () => {
  it('let Go write to a private folder and read what the user has', () => {
    const goPath = (own: NodeJS.ProcessEnv) => cacheVariables('/caches', own).GOPATH;
    assert.equal(goPath({ HOME: '/home/ann' }), '/caches/go:/home/ann/go');
    assert.equal(goPath({ HOME: '/home/ann', GOPATH: '/go:/more' }), '/caches/go:/go:/more');
    assert.equal(goPath({}), '/caches/go');
  });

  it('add to the options of Maven', () =>
    assert.equal(
      cacheVariables('/caches', { MAVEN_OPTS: '-Xmx1g' }).MAVEN_OPTS,
      '-Xmx1g -Dmaven.repo.local=/caches/maven',
    ));

  it('name folders that exist', () => {
    const named = Object.values(cacheVariables('/caches', {})).filter((value) => value?.startsWith('/'));
    assert.deepEqual(
      named.filter((path) => !cacheFolderNames.includes(path!.replace('/caches/', ''))),
      [],
    );
  });
});
