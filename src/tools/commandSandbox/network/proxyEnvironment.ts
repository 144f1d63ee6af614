/**
 * Environment variables that direct the programs of a command to an HTTP proxy on a port of the loopback address. Some programs have options
 * in a variable of their own; these are appended to the value in `own`, the environment of the user.
 * @param credentials user name and password of a proxy that others can reach. Loopback addresses are then reached through the proxy, too.
 */
export function proxyEnvironment(
  port: number,
  own: Readonly<Record<string, string | undefined>>,
  credentials?: string,
): Record<string, string> {
  const url = `http://${credentials === undefined ? '' : `${credentials}@`}127.0.0.1:${port}`;
  const direct = credentials === undefined ? loopbackNames.join(',') : '';
  // Java excludes loopback addresses by itself. Its list has a `|`, which start scripts of Gradle pass to a shell.
  const java = ['http', 'https'].flatMap((scheme) => [
    `-D${scheme}.proxyHost=127.0.0.1`,
    `-D${scheme}.proxyPort=${port}`,
  ]);
  const options = (name: string, added: readonly string[]) => [own[name]?.trim(), ...added].filter(Boolean).join(' ');
  const variables = { HTTP_PROXY: url, HTTPS_PROXY: url, ALL_PROXY: url, NO_PROXY: direct };
  return {
    ...variables,
    ...Object.fromEntries(Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value])),
    NODE_USE_ENV_PROXY: '1', // Node 22.21 and later
    MAVEN_OPTS: options('MAVEN_OPTS', [...java, '-Daether.connector.http.useSystemProperties=true']),
    GRADLE_OPTS: options('GRADLE_OPTS', java),
    // These take precedence over a proxy in the user's own configuration files, which the namespace cannot reach.
    npm_config_proxy: url,
    npm_config_https_proxy: url,
    PIP_PROXY: url,
    CARGO_HTTP_PROXY: url,
  };
}

const loopbackNames = ['localhost', '127.0.0.1', '::1'];
