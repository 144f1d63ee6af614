// @invariant server-permissions-bind-definitions: A permission for an MCP tool is bound to the launch of its server and to the definition

// of the tool, never to names.
import type { Rule } from '../../protocol/content/rule.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';

/** Whose tool it is, and as what. Its name says neither: any server can take any name, and describe its tools anew. */
export interface Origin {
  /** What is started or reached, for people. */
  starts: string;
  /** What is started or reached, with its variables or headers, hashed. */
  identity: string;
  /** What the tool says about itself, hashed. */
  definition: string;
  /** What it said before, each with the person's yes to going on: what was allowed for those is allowed for this one. */
  earlier: readonly string[];
  /** Configured in the person's own settings: a rule of theirs that says only its name means it. */
  own: boolean;
}

/** Whether a rule that allows means the tool of this origin. */
export function isMeant({ server, tool }: Rule, origin: Origin | undefined, isNamed: boolean): boolean {
  if (!server) return isNamed && (!origin || origin.own);
  if (!origin || tool.endsWith('*')) return false;
  // What it is called here depends on what else is configured.
  return server.identity === origin.identity && definitions(origin).includes(server.definition);
}

/** Of a rule that allows and has the tool's name: the rest of a sentence. */
export function whyNotMeant({ server }: Rule, { identity }: Origin): LocalizedMessage {
  if (!server) return message('a rule with a name alone applies to servers of your own settings');
  return server.identity === identity
    ? message('it was made when this tool had another definition')
    : message('it was made for another server, or another configuration of the server');
}

/** Characters of a command or an address in a line. */
const longestStart = 32;

/** The tool and the server that a rule is for, for a line: of what is long, both ends. */
export function isOfServer(tool: string, { starts }: NonNullable<Rule['server']>): LocalizedMessage {
  const half = longestStart / 2;
  const place = starts.length > longestStart ? `${starts.slice(0, half)}…${starts.slice(-half)}` : starts;
  return message('{0} of “{1}”', tool, place);
}

/**
 * What an *Allow for this run* covers, then the earlier ones that cover it, too.
 * @param grant what that is where a name says whose tool it is
 */
export function grantsFor(grant: string, origin: Origin | undefined): string[] {
  return origin ? definitions(origin).map((definition) => `mcp ${origin.identity} ${definition}`) : [grant];
}

const definitions = ({ definition, earlier }: Origin) => [definition, ...earlier];
