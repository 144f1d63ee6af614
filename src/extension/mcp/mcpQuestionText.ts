import { t } from '../../protocol/l10n.ts';
import type { Definition } from '../../tools/mcp/config.ts';
import { placeOf } from '../../tools/mcp/serverTool.ts';
import { isSecretName, withoutSecrets } from '../../tools/shell/environment.ts';

/**
 * All that the approval of a server is bound to. A variable can make a harmless command run anything (`NODE_OPTIONS`,
 * `PATH`), so their values are shown; of headers, and of what is secret by its name, only the name and what it comes from.
 */
export function describeServer(definition: Definition): string {
  const lines = [placeOf(definition)];
  if (definition.type === 'stdio') {
    lines.push(t('in {0}', definition.cwd));
    const variables = Object.entries(definition.env).map(([name, value]) => variable(name, value));
    if (variables.length > 0) lines.push(t('with the variables {0}', variables.join(', ')));
  } else {
    const names = Object.entries(definition.headers).map(([name, value]) => `${name}${comesFrom(value)}`);
    if (names.length > 0) lines.push(t('with the headers {0}', names.join(', ')));
  }
  const can =
    definition.type === 'stdio'
      ? t('It runs as you, with your rights, and can do what you can do.')
      : t('What its tools are given leaves this machine.');
  return `${lines.join('\n')}\n\n${t('Configured in {0}.', definition.source)} ${can}`;
}

/** `GIT_ASKPASS` and its like name a program. */
function variable(name: string, value: string | null): string {
  if (value === null) return t('{0} (taken away)', name);
  if (isSecretName(name) && !/ASKPASS/i.test(name)) return `${name}${comesFrom(value)}`;
  const shown = withoutSecrets(value);
  return `${name}=${/[\s,"']/.test(shown) ? JSON.stringify(shown) : shown}`;
}

function comesFrom(value: string): string {
  const found = value.match(/\$\{(env|input):[^}]+\}/g) ?? [];
  return found.length > 0 ? ` (${found.join(', ')})` : '';
}
