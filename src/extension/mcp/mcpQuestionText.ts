import { escapeInvisible, escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import type { McpServerDefinition } from '../../tools/mcp/config/config.ts';
import type { ServerApprovalRequest } from '../../tools/mcp/servers.ts';
import { serverCommandOrAddress } from '../../tools/mcp/serverTool.ts';
import { isSecretLikeToken, isSecretVariableName, redactSingleTokenSecrets } from '../../tools/shell/environment.ts';
import { excerptForDialog, excerptLineForDialog } from '../dialogs/dialogExcerpt.ts';

/** Text of the dialog before a server starts; `whole`: nothing is omitted. */
interface ServerQuestionText {
  message: string;
  detail: string;
  whole: boolean;
  review: string;
}

/** @param shownFolder returns a folder as users know it, such as its path in the workspace */
export function serverApprovalText(
  { definition, changed, meanwhile }: ServerApprovalRequest,
  shownFolder = (folder: string) => folder,
): ServerQuestionText {
  const message =
    definition.type === 'stdio'
      ? t('Start MCP server “{0}”?', definition.name)
      : t('Connect to MCP server “{0}”?', definition.name);
  const folder = definition.type === 'stdio' ? escapeInvisibleInLine(shownFolder(definition.cwd)) : '';
  const location = excerptLineForDialog(folder, longestFolder);
  const lines = (folder: string) => [
    definition.type === 'stdio'
      ? t('In {0} · configured in {1}', folder, definition.source)
      : t('Configured in {0}.', definition.source),
    runsWith(definition),
    ...requestsOf(definition),
    ...(changed ? [t('It was configured differently when you allowed it.')] : []),
    ...(meanwhile ? [t('It or a file that its command names changed while the approval was open.')] : []),
  ];
  const bound = boundTo(definition).join('\n');
  const { text, whole } = excerptForDialog(bound);
  return {
    message: escapeInvisibleInLine(message),
    detail: [text, '', ...lines(location.text)].join('\n'),
    whole: whole && location.whole,
    review: [bound, '', ...lines(folder)].join('\n'),
  };
}

const longestFolder = 300;

function runsWith(definition: McpServerDefinition): string {
  if (definition.type !== 'stdio') return t('The arguments of its tools leave this machine.');
  return definition.sandboxEnabled ? t('It runs in the sandbox.') : t('It runs with your permissions.');
}

/** Returns what the configuration would allow in the sandbox, which is not applied. */
function requestsOf({ sandboxRequests: requests }: McpServerDefinition): string[] {
  if (!requests) return [];
  const list = (all: readonly string[]) =>
    excerptLineForDialog(escapeInvisibleInLine(all.join(', ')), longestFolder).text;
  return [
    ...(requests.hosts.length > 0
      ? [t('Not applied from its configuration: network access to {0}. Each host asks.', list(requests.hosts))]
      : []),
    ...(requests.paths.length > 0
      ? [t('Not applied from its configuration: writing to {0}.', list(requests.paths))]
      : []),
  ];
}

/**
 * Returns the details bound to an approval. A variable can make a harmless command run anything (`NODE_OPTIONS`, `PATH`), so values are
 * shown; of headers and probable secrets only name and source.
 */
function boundTo(definition: McpServerDefinition): string[] {
  const lines = [escapeInvisible(serverCommandOrAddress(definition))];
  if (definition.type === 'stdio') {
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
