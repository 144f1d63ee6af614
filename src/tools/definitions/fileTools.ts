import * as z from 'zod';
import { changedShape, changeShape } from './shapes.ts';

export const applyPatchDefinition = {
  name: 'fs.apply_patch',
  description: 'Apply a unified diff to a file, or set keys of its frontmatter (in @state: add to them).',
  arguments: {
    path: z.string().optional().meta({ path: true, help: 'The file; without it the one that the patch names.' }),
    patch: z.string().optional().meta({ help: 'A unified diff of one file.' }),
    frontmatter: z.looseObject({}).optional().meta({ help: 'Or: keys of its YAML frontmatter and their new values.' }),
    ifMatchSha256: z.string().optional().meta({ help: 'Only if the file is the one that was read.' }),
  },
  gives: {
    ...changeShape,
    matched: z
      .enum(['exact', 'tolerant'])
      .optional()
      .describe('Of a patch: whether its lines were found to the letter.'),
    created: z.boolean().optional().describe('Of a patch: there was no such file.'),
    note: z.string().optional().describe('The hunks that change nothing.'),
  },
};

export const deleteDefinition = {
  name: 'fs.delete',
  description: 'Delete a file or folder.',
  arguments: {
    path: z.string().meta({ path: true, help: 'The file or folder; it goes to the trash where there is one.' }),
  },
  gives: {
    path: z.string().describe('What it was.'),
    deleted: z.literal(true).describe('Always.'),
    files: z.number().optional().describe('Of a folder: how many were in it.'),
    changed: changedShape,
  },
};

export const editDefinition = {
  name: 'fs.edit',
  description: 'Replace each oldText (whole lines, once in the file) by newText; all or none.',
  arguments: {
    path: z.string().meta({ path: true, help: 'The file.' }),
    cell: z.int().optional().meta({ help: 'Of a notebook: the number of the cell, from 1.' }),
    edits: z
      .array(z.strictObject({ oldText: z.string(), newText: z.string() }))
      .min(1)
      .max(100)
      .meta({ help: 'Each `oldText` stands once in the file as it is before all edits, and becomes `newText`.' }),
    ifMatchSha256: z.string().optional().meta({ help: 'Only if the file is the one that was read.' }),
  },
  gives: {
    ...changeShape,
    matched: z.enum(['exact', 'tolerant']).describe('Whether each `oldText` was found to the letter.'),
    note: z.string().optional().describe('The edits that change nothing.'),
  },
};

export const findDefinition = {
  name: 'fs.find',
  description: 'Find files by glob, e.g. src/**/*.ts, not ignored ones.',
  arguments: {
    pattern: z.string().min(1).meta({ help: 'A glob: `src/**/*.ts`.' }),
    path: z.string().optional().meta({ path: true, help: 'A folder to look in.' }),
  },
  gives: {
    files: z.array(z.string()).describe('Their paths, sorted.'),
    note: z.string().optional().describe('When there is none: what may have been meant.'),
  },
};

export const listDefinition = {
  name: 'fs.list',
  description: 'List a folder.',
  arguments: { path: z.string().optional().meta({ path: true, help: 'The folder; without it the workspace.' }) },
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
      .describe('Folders first; `size` in bytes, `ignored` where an ignore file names it.'),
  },
};

export const moveDefinition = {
  name: 'fs.move',
  description: 'Move a file or folder.',
  arguments: {
    from: z.string().meta({ path: true, help: 'The file or folder.' }),
    to: z.string().meta({ path: true, help: 'Its new path, where nothing is yet.' }),
  },
  gives: {
    path: z.string().describe('Where it is now.'),
    from: z.string().describe('Where it was.'),
    changed: changedShape,
  },
};

export const readDefinition = {
  name: 'fs.read',
  description: 'Read a text file (limit: 1000 lines) with its sha256, or an image.',
  arguments: {
    path: z.string().meta({ path: true, help: 'The file.' }),
    offset: z.int().min(1).max(1e9).optional().meta({ help: 'The first line, from 1.' }),
    limit: z.int().min(1).max(5000).optional().meta({ help: 'How many lines: 1000 without it.' }),
  },
  gives: {
    path: z.string().describe('The file.'),
    text: z.string().optional().describe('Its lines; of a picture there is none.'),
    startLine: z.number().optional().describe('The first line of `text`, from 1.'),
    endLine: z.number().optional().describe('The last line of `text`.'),
    totalLines: z.number().optional().describe('How many the file has. More than `endLine`: `text` is not all of it.'),
    sha256: z.string().optional().describe('Of the whole file, for `ifMatchSha256`.'),
    unsaved: z.literal(true).optional().describe('The editor holds changes that are not saved; `text` has them.'),
    note: z
      .string()
      .optional()
      .describe('When some bytes are no text, characters are invisible, or the file is a notebook.'),
    image: z.string().optional().describe('The type of a picture: `image/png`.'),
    bytes: z.number().optional().describe('The size of a picture.'),
    leftOut: z.array(z.string()).optional().describe('Why a picture is not shown.'),
  },
};

export const searchDefinition = {
  name: 'fs.search',
  description: 'Search files by regular expression or fixed text, not ignored or secret ones.',
  arguments: {
    pattern: z.string().min(1).max(1000).meta({ help: 'A regular expression.' }),
    path: z.string().optional().meta({ path: true, help: 'A file, or a folder to look in.' }),
    glob: z.string().optional().meta({ help: 'Of the files that are looked into: `*.ts`.' }),
    fixed: z.boolean().optional().meta({ help: '`pattern` is a text as it stands.' }),
    ignoreCase: z.boolean().optional().meta({ help: 'Upper and lower case are one.' }),
    context: z.int().min(0).max(20).optional().meta({ help: 'Lines before and after each match.' }),
  },
  gives: {
    matches: z.number().describe('How many.'),
    files: z
      .array(z.strictObject({ path: z.string(), lines: z.array(z.string()) }))
      .describe('A line is `12: its text` where it matches, `11- its text` where it is context.'),
    note: z.string().optional().describe('When there is none: what was left out, or how the pattern was read.'),
  },
};

export const writeDefinition = {
  name: 'fs.write',
  description: 'Create a file or replace all of it.',
  arguments: {
    path: z.string().meta({ path: true, help: 'The file; folders on the way to it are made.' }),
    content: z.string().meta({ help: 'All of its text.' }),
    ifMatchSha256: z.string().optional().meta({ help: 'Only if the file is the one that was read.' }),
  },
  gives: { ...changeShape, created: z.boolean().describe('There was no such file.') },
};
