import * as z from 'zod';
import { changedFlagSchema, fileChangeResultShape } from './shapes.ts';

const ifMatchSha256 = z.string().optional().meta({ help: 'Fail if the file changed since it was read.' });
// Absent from prompts where the old text itself is matched, so that an outdated edit fails without a checksum.
const unlistedSha256 = ifMatchSha256.meta({ ...ifMatchSha256.meta(), unlisted: true });

export const fsApplyPatchDefinition = {
  name: 'fs.apply_patch',
  description: 'Apply a unified diff to a file, or set keys of its frontmatter (in @state: add values).',
  arguments: {
    path: z.string().optional().meta({ path: true, help: 'The file. Default: the file that the patch names.' }),
    patch: z.string().optional().meta({ help: 'A unified diff of one file.' }),
    frontmatter: z
      .looseObject({})
      .optional()
      .meta({ help: 'Instead of a patch: keys of the YAML frontmatter with their new values.' }),
    ifMatchSha256: unlistedSha256,
  },
  gives: {
    ...fileChangeResultShape,
    matched: z.enum(['exact', 'tolerant']).optional().describe('Set for a patch: how its lines were found.'),
    created: z.boolean().optional().describe('Set for a patch: the file is new.'),
    note: z.string().optional().describe('Hunks that change nothing.'),
  },
};

export const fsDeleteDefinition = {
  name: 'fs.delete',
  description: 'Delete a file or folder.',
  arguments: {
    path: z.string().meta({ path: true, help: 'The file or folder. It is moved to the trash if there is one.' }),
  },
  gives: {
    path: z.string().describe('The deleted path.'),
    deleted: z.literal(true).describe('Always.'),
    files: z.number().optional().describe('Set for a folder: the number of its files.'),
    changed: changedFlagSchema,
  },
};

export const fsEditDefinition = {
  name: 'fs.edit',
  description: 'Replace oldText (whole lines that occur once); all or none.',
  arguments: {
    path: z.string().meta({ path: true, help: 'The file.' }),
    cell: z.int().optional().meta({ help: 'For a notebook: the number of the cell, from 1.' }),
    edits: z
      .array(z.strictObject({ oldText: z.string(), newText: z.string() }))
      .min(1)
      .max(100)
      .meta({ help: 'Each `oldText` must occur once in the file before the edits; it is replaced with `newText`.' }),
    ifMatchSha256: unlistedSha256,
  },
  gives: {
    ...fileChangeResultShape,
    matched: z.enum(['exact', 'tolerant']).describe('How each `oldText` was found.'),
    note: z.string().optional().describe('Edits that change nothing.'),
  },
};

export const fsFindDefinition = {
  name: 'fs.find',
  description: 'Find files by glob (src/**/*.ts).',
  arguments: {
    pattern: z.string().min(1).meta({ help: 'A glob: `src/**/*.ts`.' }),
    path: z.string().optional().meta({ path: true, help: 'A folder to search.' }),
  },
  gives: {
    files: z.array(z.string()).describe('Sorted paths.'),
    note: z.string().optional().describe('Set if nothing was found: similar paths.'),
  },
};

export const fsListDefinition = {
  name: 'fs.list',
  description: 'List a folder.',
  arguments: { path: z.string().optional().meta({ path: true, help: 'The folder. Default: the workspace.' }) },
  gives: {
    path: z.string().describe('The folder.'),
    entries: z
      .array(
        z.strictObject({
          name: z.string(),
          kind: z.enum(['file', 'folder', 'link', 'other']),
          size: z.number().optional(),
          ignored: z.literal(true).optional(),
        }),
      )
      .describe('Folders first; `size` in bytes, `ignored` if an ignore file lists the entry.'),
  },
};

export const fsMoveDefinition = {
  name: 'fs.move',
  description: 'Move a file or folder.',
  arguments: {
    from: z.string().meta({ path: true, help: 'The file or folder.' }),
    to: z.string().meta({ path: true, help: 'The new path, which must not exist.' }),
  },
  gives: {
    path: z.string().describe('The new path.'),
    from: z.string().describe('The former path.'),
    changed: changedFlagSchema,
  },
};

export const fsReadDefinition = {
  name: 'fs.read',
  description: 'Read text (limit: 1000 lines) or an image.',
  arguments: {
    path: z.string().meta({ path: true, help: 'The file.' }),
    offset: z.int().min(1).max(1e9).optional().meta({ help: 'The first line, from 1.' }),
    limit: z.int().min(1).optional().meta({ help: 'Number of lines. Default: 1000.' }),
  },
  gives: {
    path: z.string().describe('The file.'),
    text: z.string().optional().describe('The lines; not set for an image.'),
    startLine: z.number().optional().describe('The first line of `text`, from 1.'),
    endLine: z.number().optional().describe('The last line of `text`.'),
    totalLines: z
      .number()
      .optional()
      .describe('Number of lines of the file. If larger than `endLine`, `text` is only a part.'),
    sha256: z.string().optional().describe('Checksum of the whole file, for `ifMatchSha256`.'),
    unsaved: z.literal(true).optional().describe('The editor holds unsaved changes; `text` contains them.'),
    note: z
      .string()
      .optional()
      .describe('Set if bytes are not text, characters are invisible, or the file is a notebook.'),
    image: z.string().optional().describe('The type of an image: `image/png`.'),
    bytes: z.number().optional().describe('The size of an image.'),
    leftOut: z.array(z.string()).optional().describe('Why an image is not shown.'),
  },
};

export const fsSearchDefinition = {
  name: 'fs.search',
  description: 'Search files by regex or fixed text.',
  arguments: {
    pattern: z.string().min(1).max(1000).meta({ help: 'A regular expression.' }),
    path: z.string().optional().meta({ path: true, help: 'A file or folder to search.' }),
    glob: z.string().optional().meta({ help: 'Only files that match: `*.ts`.' }),
    fixed: z.boolean().optional().meta({ help: '`pattern` is plain text.' }),
    ignoreCase: z.boolean().optional().meta({ unlisted: true, help: 'Ignore upper and lower case.' }),
    context: z.int().min(0).max(20).optional().meta({ help: 'Lines before and after each match.' }),
  },
  gives: {
    matches: z.number().describe('Number of matches.'),
    files: z
      .array(z.strictObject({ path: z.string(), lines: z.array(z.string()) }))
      .describe('Lines such as `12: a match` and `11- context`.'),
    note: z.string().optional().describe('Set if nothing was found: what was skipped, or how the pattern was read.'),
  },
};

export const fsWriteDefinition = {
  name: 'fs.write',
  description: 'Create or replace a file.',
  arguments: {
    path: z.string().meta({ path: true, help: 'The file; missing folders are created.' }),
    content: z.string().meta({ help: 'The whole text.' }),
    ifMatchSha256: unlistedSha256,
  },
  gives: { ...fileChangeResultShape, created: z.boolean().describe('The file is new.') },
};
