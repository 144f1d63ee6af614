import assert from 'node:assert/strict';
import { proxyEnvironment } from '../../../../src/tools/commandSandbox/network/proxyEnvironment.ts';

describe('the variables of a command in a network namespace', () => {
  const url = 'http://127.0.0.1:3128';
  const java = '-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=3128 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=3128';

  it('have the password of a proxy that others can reach, and lead to it for this machine, too', () => {
    const { HTTPS_PROXY, NO_PROXY, PIP_PROXY } = proxyEnvironment(8123, {}, 'towpath:x');
    const withPassword = 'http://towpath:x@127.0.0.1:8123';
    assert.deepEqual([HTTPS_PROXY, NO_PROXY, PIP_PROXY], [withPassword, '', withPassword]);
  });

  it('lead each program to the proxy', () =>
    assert.deepEqual(proxyEnvironment(3128, {}), {
      HTTP_PROXY: url,
      HTTPS_PROXY: url,
      ALL_PROXY: url,
      NO_PROXY: 'localhost,127.0.0.1,::1',
      http_proxy: url,
      https_proxy: url,
      all_proxy: url,
      no_proxy: 'localhost,127.0.0.1,::1',
      NODE_USE_ENV_PROXY: '1',
      MAVEN_OPTS: `${java} -Daether.connector.http.useSystemProperties=true`,
      GRADLE_OPTS: java,
      npm_config_proxy: url,
      npm_config_https_proxy: url,
      PIP_PROXY: url,
      CARGO_HTTP_PROXY: url,
    }));

  it('keep the options of the user, and replace the user’s proxy', () => {
    const own = { MAVEN_OPTS: ' -Xmx1g ', GRADLE_OPTS: '', HTTPS_PROXY: 'http://company:8080' };
    const { MAVEN_OPTS, GRADLE_OPTS, HTTPS_PROXY } = proxyEnvironment(3128, own);
    assert.ok(MAVEN_OPTS!.startsWith(`-Xmx1g ${java}`));
    assert.deepEqual([GRADLE_OPTS, HTTPS_PROXY], [java, url]);
  });
});
