// @invariant server-permissions-bind-definitions: A permission for an MCP tool is bound to the launch of its server and to the definition
// of the tool, never to names.

import type { PermissionRule } from '../../protocol/content/rule.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { textHead, textTail } from '../../protocol/text/shorten.ts';

/**
 * Identity of the server and the tool. The name is no identity: any server can use any name and change the descriptions. `starts` is the
 * displayed command or address; `identity` is the hash of the start, including variables or headers; `definition` is the hash of the tool's
 * own description. `own` marks a server in the user's settings, to which a user's rule with only a name applies.
 */
export interface ToolOrigin {
  starts: string;
  identity: string;
  definition: string;
  /** Hashes of former definitions after which the user agreed to continue; permissions for these apply to the current definition too. */
  earlier: readonly string[];
  own: boolean;
}

export function ruleAppliesToOrigin(
  { server, tool }: PermissionRule,
  origin: ToolOrigin | undefined,
  isNamed: boolean,
): boolean {
  if (!server) return isNamed && (!origin || origin.own);
  if (!origin || tool.endsWith('*')) return false;
  // The local name depends on the other configured servers, so only identities are compared.
  return server.identity === origin.identity && definitions(origin).includes(server.definition);
}

export function ruleMismatchReason({ server }: PermissionRule, { identity }: ToolOrigin): LocalizedMessage {
  if (!server) return message('a rule with a name alone applies to servers of your own settings');
  return server.identity === identity
    ? message('it was made when this tool had another definition')
    : message('it was made for another server, or another configuration of the server');
}

const longestStart = 32;

export function serverRuleLabel(tool: string, { starts }: NonNullable<PermissionRule['server']>): LocalizedMessage {
  const half = longestStart / 2;
  const shownCommand = starts.length > longestStart ? `${textHead(starts, half)}…${textTail(starts, half)}` : starts;
  return message('{0} of “{1}”', tool, shownCommand);
}

/**
 * Returns the grant of *Allow for this run*, followed by earlier grants with the same effect.
 * @param grant the grant of a tool without an origin
 */
export function toolGrantsForRun(grant: string, origin: ToolOrigin | undefined): string[] {
  return origin ? definitions(origin).map((definition) => `mcp ${origin.identity} ${definition}`) : [grant];
}

const definitions = ({ definition, earlier }: ToolOrigin) => [definition, ...earlier];
