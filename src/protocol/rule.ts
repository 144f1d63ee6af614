import * as z from 'zod';

/**
 * What commands of a kind do: look at the project; check it (its own tests, linters, type checks and builds run); or ask a registry
 * or GitHub about it.
 */
export const kinds = ['looks', 'checks', 'asks'] as const;
export type Kind = (typeof kinds)[number];

export const kindNames = {
  looks: 'Commands that look (git status, log, diff, npm ls, docker ps, …)',
  checks: 'Tests, linters, type checks and builds (npm test, pytest, cargo test, tsc, eslint, make test, …)',
  asks: 'Commands that ask registries and GitHub, and change nothing (npm view, npm audit, gh pr view, …)',
} as const satisfies Record<Kind, string>;

/**
 * What a person has decided once for many calls. `tool` is a name, or a beginning and `*` (`fs.*`); `path` a glob of
 * workspace-relative paths, all of which must match; `site` where a page is from; `server` whose tool it is and as what, where a
 * name says neither.
 *
 * Of commands: to ask or deny, `command` are the words that one begins with, wherever it runs. To allow, it is all of its words,
 * as they run in `folder` (workspace-relative; absent: the workspace's root); with `varies` it is a row of the table of commands
 * whose other arguments are known to be harmless, and with `kind` instead of `command` all rows of that kind.
 */
export const ruleSchema = z.strictObject({
  effect: z.enum(['allow', 'ask', 'deny']),
  tool: z.string().min(1).max(200),
  path: z.string().min(1).max(500).optional(),
  command: z.string().min(1).max(2000).optional(),
  folder: z.string().min(1).max(500).optional(),
  varies: z.literal(true).optional(),
  kind: z.enum(kinds).optional(),
  site: z.string().min(1).max(300).optional(),
  server: z
    .strictObject({
      /** What is started or reached, for people. */
      starts: z.string().max(300),
      /** The same with all that belongs to it, and what the tool says about itself, hashed. */
      identity: z.string().min(1).max(100),
      definition: z.string().min(1).max(100),
    })
    .optional(),
});
export type Rule = z.infer<typeof ruleSchema>;

/** A rule and whose it is, for the reason that is shown. */
export interface OwnedRule extends Rule {
  scope: 'workspace' | 'user';
}
