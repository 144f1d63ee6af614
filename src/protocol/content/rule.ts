import * as z from 'zod';

/**
 * Effects of the commands of a kind. `looks` reads the project and runs none of its code. `checks` runs its tests, linters, type checks and
 * builds. `asks` queries a registry or GitHub and runs none of its code. `loads` reads or queries, and runs code of the project to do so.
 * The stored meaning of a kind never widens: a row that moves to another kind is removed from the rules of the old kind.
 */
export const commandRuleKinds = ['looks', 'checks', 'asks', 'loads'] as const;
export type CommandRuleKind = (typeof commandRuleKinds)[number];

export const commandRuleKindNames = {
  looks: 'Commands that look (git status, log, diff, npm ls, docker ps, …)',
  checks:
    'Tests, linters, type checks and builds, which run this project’s code (npm test, pytest, cargo test, tsc, eslint, make test, …)',
  asks: 'Commands that query registries and GitHub and change nothing (npm view, npm audit, gh pr view, …)',
  loads:
    'Commands that look or query registries and run this project’s code (pnpm list, yarn why, bundle outdated, terraform validate, …)',
} as const satisfies Record<CommandRuleKind, string>;

/**
 * Decision of the user for many calls. `tool` is a name or a prefix with `*` (`fs.*`). `path` is a glob of workspace-relative paths, all of
 * which must match. `site` is the origin of a page. `server` identifies the MCP server if the tool name does not: `starts` is its command
 * line or address for display, `identity` a hash of the configuration, `definition` a hash of the server's description of the tool.
 * `location` is a folder outside of the workspace, absolute and real, that sandboxed commands may write.
 * `registries` are the origins of the package registries that were known at the time of the answer: later ones are not covered.
 *
 * Commands: to ask or deny, `command` is the first words of a command in any folder. To allow, `command` is the complete argument vector in
 * `folder` (workspace-relative; absent: the workspace root). With `varies`, `command` is a row of the command table with other arguments
 * known to be harmless. With `kind` instead of `command`, the rule covers all rows of the kind. With `program`, the rule covers a program
 * that does not work in the sandbox, outside of it and in any folder, under the preset of the sandbox only.
 */
export const permissionRuleSchema = z.strictObject({
  effect: z.enum(['allow', 'ask', 'deny']),
  tool: z.string().min(1).max(200),
  path: z.string().min(1).max(500).optional(),
  command: z.string().min(1).max(2000).optional(),
  folder: z.string().min(1).max(500).optional(),
  varies: z.literal(true).optional(),
  kind: z.enum(commandRuleKinds).optional(),
  site: z.string().min(1).max(300).optional(),
  program: z.string().min(1).max(100).optional(),
  location: z.string().min(1).max(1000).optional(),
  registries: z.array(z.string().min(1).max(300)).min(1).max(200).optional(),
  server: z
    .strictObject({
      starts: z.string().max(300),
      identity: z.string().min(1).max(100),
      definition: z.string().min(1).max(100),
    })
    .optional(),
});
export type PermissionRule = z.infer<typeof permissionRuleSchema>;

export interface ScopedPermissionRule extends PermissionRule {
  scope: 'workspace' | 'user';
}
