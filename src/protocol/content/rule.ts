import * as z from 'zod';

/**
 * Effects of the commands of a kind: `looks` shows the project and runs none of its code; `checks` runs its tests, linters, type
 * checks and builds; `asks` asks a registry or GitHub about it and runs none of its code; `loads` looks or asks, and runs code of the
 * project to do so. The stored meaning of a kind never widens: a row that moves to another kind leaves the rules of its old one.
 */
export const kinds = ['looks', 'checks', 'asks', 'loads'] as const;
export type RuleKind = (typeof kinds)[number];

export const kindNames = {
  looks: 'Commands that look (git status, log, diff, npm ls, docker ps, …)',
  checks:
    'Tests, linters, type checks and builds, which run this project’s code (npm test, pytest, cargo test, tsc, eslint, make test, …)',
  asks: 'Commands that query registries and GitHub and change nothing (npm view, npm audit, gh pr view, …)',
  loads:
    'Commands that look or query registries and run this project’s code (pnpm list, yarn why, bundle outdated, terraform validate, …)',
} as const satisfies Record<RuleKind, string>;

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
