import { escapeInvisible, escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import type { McpServerDefinition } from '../../tools/mcp/config/config.ts';
import type { ServerApprovalRequest } from '../../tools/mcp/servers.ts';
import { serverCommandOrAddress } from '../../tools/mcp/serverTool.ts';
import { isSecretLikeToken, isSecretVariableName, redactSingleTokenSecrets } from '../../tools/shell/environment.ts';
import { excerptForDialog } from '../dialogs/dialogExcerpt.ts';

/** Text of the dialog before a server starts; `whole`: nothing is omitted. */
interface ServerQuestionText {
  message: string;
  detail: string;
  whole: boolean;
  review: string;
}

export function serverApprovalText({ definition, changed, meanwhile }: ServerApprovalRequest): ServerQuestionText {
  const message =
    definition.type === 'stdio'
      ? t('Start MCP server “{0}”?', definition.name)
      : t('Connect to the MCP server {0}?', definition.name);
  const lines = [
    meanwhile ? t('It or a file that its command names changed while the approval was open.') : '',
    changed ? t('It was configured differently when you allowed it.') : '',
    sourceOf(definition),
  ].filter(Boolean);
  const bound = boundTo(definition).join('\n');
  const { text, whole } = excerptForDialog(bound);
  const withLines = (text: string) => `${text}\n\n${lines.join('\n')}`;
  return { message: escapeInvisibleInLine(message), detail: withLines(text), whole, review: withLines(bound) };
}

/** Returns the details bound to an approval, and the location of the configuration. */
export const describeServer = (definition: McpServerDefinition): string =>
  `${boundTo(definition).join('\n')}\n\n${sourceOf(definition)}`;

/**
 * Returns the details bound to an approval. A variable can make a harmless command run anything (`NODE_OPTIONS`, `PATH`), so values are
 * shown; of headers and probable secrets only name and source.
 */
function boundTo(definition: McpServerDefinition): string[] {
  const lines = [escapeInvisible(serverCommandOrAddress(definition))];
  if (definition.type === 'stdio') {
    lines.push(t('in {0}', escapeInvisibleInLine(definition.cwd)));
    const variables = Object.entries(definition.env).map(([name, value]) => variable(name, value));
    if (variables.length > 0) lines.push(t('with the variables {0}', variables.join(', ')));
  } else {
    const user = userOf(definition.url);
    if (user !== '') lines.push(t('with the user name {0}', JSON.stringify(escapeInvisibleInLine(user))));
    const names = Object.entries(definition.headers).map(([name, value]) =>
      escapeInvisibleInLine(`${name}${comesFrom(value)}`),
    );
    if (names.length > 0) lines.push(t('with the headers {0}', names.join(', ')));
    if (definition.oauth) lines.push(t('with the client ID {0}', escapeInvisibleInLine(definition.oauth.clientId)));
  }
  return lines;
}

function sourceOf({ type, source }: McpServerDefinition): string {
  const can =
    type === 'stdio' ? t('It runs with your permissions.') : t('The arguments of its tools leave this machine.');
  return `${t('Configured in {0}.', source)} ${can}`;
}

/** Formats a variable; `GIT_ASKPASS` and similar variables name a program. */
function variable(name: string, value: string | null): string {
  if (value === null) return t('{0} (removed)', escapeInvisibleInLine(name));
  const given = value.replace(variables, '');
  if (isSecretVariableName(name) && !/ASKPASS/i.test(name) && isSecretLikeToken(given))
    return escapeInvisibleInLine(`${name}${comesFrom(value)}`);
  const shown = redactSingleTokenSecrets(value);
  return escapeInvisible(`${name}=${/[\s,"']/.test(shown) ? JSON.stringify(shown) : shown}`).replaceAll('\n', ' ⏎ ');
}

/** Returns the user name in a URL, which may imitate a host; empty if absent. */
function userOf(url: string): string {
  if (!URL.canParse(url)) return '';
  const { username } = new URL(url);
  try {
    return decodeURIComponent(username);
  } catch {
    return username;
  }
}

const variables = /\$\{(env|input):[^}]+\}/g;

function comesFrom(value: string): string {
  const found = value.match(variables) ?? [];
  return found.length > 0 ? ` (${found.join(', ')})` : '';
}
