import * as z from 'zod';
import { fileLines, shownShape } from './shapes.ts';

export const editorContextDefinition = {
  name: 'editor.context',
  description: "The person's open files and selection.",
  arguments: {},
  gives: {
    active: z
      .strictObject({
        ...shownShape,
        line: z.number().optional(),
        selection: z
          .strictObject({
            startLine: z.number(),
            endLine: z.number(),
            text: z.string(),
            cut: z.literal(true).optional(),
          })
          .optional(),
      })
      .optional()
      .describe('The editor that is in front; `line` of the cursor, where nothing is selected.'),
    open: z
      .array(z.strictObject({ ...shownShape, unsaved: z.literal(true).optional() }))
      .describe('All that are open.'),
  },
};

export const codeDiagnosticsDefinition = {
  name: 'code.diagnostics',
  description: 'Errors and warnings (below path).',
  arguments: { path: z.string().optional().meta({ path: true, help: 'A file or a folder; without it everything.' }) },
  gives: {
    errors: z.number().describe('How many.'),
    warnings: z.number().describe('How many.'),
    files: fileLines.describe('A line is `12: error: its words (who says so)`.'),
  },
};

export const codeSymbolsDefinition = {
  name: 'code.symbols',
  description: 'Symbols of a file (path) or by name (query).',
  arguments: {
    path: z.string().optional().meta({ path: true, help: 'A file, for what it defines.' }),
    query: z.string().min(1).max(200).optional().meta({ help: 'Or a name, for where it is defined.' }),
  },
  gives: { files: fileLines.describe('A line is `12: function greet (in Greeter)`.') },
};

const named = {
  path: z.string().meta({ path: true, help: 'The file that names it.' }),
  line: z.int().min(1).max(1e9).meta({ help: 'Where, from 1.' }),
  symbol: z.string().min(1).max(200).meta({ help: 'The name.' }),
};
const placesGiven = {
  places: z.number().describe('How many.'),
  files: fileLines.describe('A line is `12: its text`.'),
};

export const referencesDefinition = {
  name: 'code.references',
  description: 'Where a symbol is used.',
  arguments: named,
  gives: placesGiven,
};

export const definitionDefinition = {
  name: 'code.definition',
  description: 'Where a symbol is defined, or used (references).',
  arguments: {
    ...named,
    references: z.boolean().optional().meta({ help: 'Where it is used, as `code.references`.' }),
  },
  gives: placesGiven,
};
