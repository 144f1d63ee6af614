import * as z from 'zod';

const refChangeSchema = z.object({
  name: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  isNew: z.literal(true).optional(),
  isPushed: z.literal(true).optional(),
});

/**
 * Change of a ref. Values are object IDs, or `ref: <name>` for a symbolic ref; null: no ref. `isNew`: the commit of `after` was reachable
 * from no ref before; `isPushed`: the ref follows a push.
 */
export type RefChange = z.infer<typeof refChangeSchema>;

const repositoryFileChangeSchema = z.object({
  name: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  mode: z.number().int().optional(),
  afterMode: z.number().int().optional(),
  listing: z.object({ before: z.string(), after: z.string() }).optional(),
  isLink: z.literal(true).optional(),
});

/**
 * Change of a file of a repository. `name` is relative to the common folder of the repository; `before` and `after` are content ids; null:
 * no file. `listing`: hashes of the entries of an index without the times of files, which any command may refresh. `isLink`: the file
 * is the `.git` of a linked working tree or submodule, and its name the workspace-relative path.
 */
export type RepositoryFileChange = z.infer<typeof repositoryFileChangeSchema>;

/**
 * Change of a repository outside of its objects. `path` is the workspace-relative `.git` of the working tree; `head` the commits of HEAD;
 * `mixed`: something else may have changed it at the same time.
 */
export const repositoryChangeSchema = z.object({
  path: z.string(),
  head: z.object({ before: z.string().nullable(), after: z.string().nullable() }),
  refs: z.array(refChangeSchema),
  files: z.array(repositoryFileChangeSchema),
  mixed: z.literal(true).optional(),
});
export type RepositoryChange = z.infer<typeof repositoryChangeSchema>;
